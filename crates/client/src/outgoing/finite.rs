//! A look for numbers that JSON does not have. serde_json writes them as `null`, so a consumer
//! would get something else than was published.

use std::fmt::{self, Display};

use leaseline_core::{Error, ErrorKind};
use serde::ser::{
    self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// Refuses a value with a NaN or an infinity in it.
pub(super) fn check(value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
    value.serialize(Finite).map_err(|Refusal(reason)| {
        let message = format!("the value cannot be written as JSON: {reason}");
        Error::new(ErrorKind::InvalidArgument, message)
    })
}

/// Why not.
#[derive(Debug)]
struct Refusal(String);

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl ser::Error for Refusal {
    fn custom<T: Display>(message: T) -> Self {
        Self(format!("{message}; correct the value"))
    }
}

/// Writes nothing.
#[derive(Clone, Copy)]
struct Finite;

/// Methods for scalars that are always finite.
macro_rules! accept {
    ($($method:ident: $type:ty),+) => {$(
        fn $method(self, _: $type) -> Result<(), Refusal> {
            Ok(())
        }
    )+};
}

impl Serializer for Finite {
    type Ok = ();
    type Error = Refusal;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    accept! {
        serialize_bool: bool, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_u128: u128, serialize_unit_struct: &'static str
    }

    fn serialize_f32(self, number: f32) -> Result<(), Refusal> {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), Refusal> {
        if number.is_finite() {
            return Ok(());
        }
        Err(Refusal(format!(
            "JSON has no number {number}; leave it out, or publish it as a string"
        )))
    }

    fn serialize_none(self) -> Result<(), Refusal> {
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), Refusal> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Refusal> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Refusal> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Refusal> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Refusal> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Refusal> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Refusal> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Refusal> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Refusal> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Refusal> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Refusal> {
        Ok(self)
    }
}

/// What holds other values looks at each of them.
macro_rules! look_into {
    ($($container:ident: $method:ident($($name:ident: $type:ty)?)),+) => {$(
        impl $container for Finite {
            type Ok = ();
            type Error = Refusal;

            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($name: $type,)?
                value: &T,
            ) -> Result<(), Refusal> {
                value.serialize(*self)
            }

            fn end(self) -> Result<(), Refusal> {
                Ok(())
            }
        }
    )+};
}

look_into! {
    SerializeSeq: serialize_element(),
    SerializeTuple: serialize_element(),
    SerializeTupleStruct: serialize_field(),
    SerializeTupleVariant: serialize_field(),
    SerializeStruct: serialize_field(_key: &'static str),
    SerializeStructVariant: serialize_field(_key: &'static str)
}

impl SerializeMap for Finite {
    type Ok = ();
    type Error = Refusal;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Refusal> {
        key.serialize(*self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refusal> {
        value.serialize(*self)
    }

    fn end(self) -> Result<(), Refusal> {
        Ok(())
    }
}
