//! The leaseline command.
fn main() {}
