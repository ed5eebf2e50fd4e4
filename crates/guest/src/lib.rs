//! The Leaseline component: WIT exports over leaseline-core.
