//! A case: settings and operations, as a value, as text and as bytes.

mod decode;
mod moment;
mod op;
mod settings;
mod text;

pub use decode::decode;
pub use moment::MOMENTS;
pub(crate) use moment::ms;
pub use op::{FIELDS, Family, KINDS, Kind, Op};
pub use settings::{SETTINGS, Settings};
pub use text::TextError;

/// Everything that a run depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// What holds throughout.
    pub settings: Settings,
    /// What happens, in order.
    pub ops: Vec<Op>,
}
