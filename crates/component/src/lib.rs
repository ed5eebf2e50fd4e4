//! The bytes of the Leaseline component.
