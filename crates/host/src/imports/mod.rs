//! The host functions behind the component's imports.

mod clock;
mod random;
mod redis;
