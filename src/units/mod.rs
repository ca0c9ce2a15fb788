//! Physical quantities as types, and the one formatter that prints them.

mod format;
mod order;
mod quantity;

/// Bytes.
pub const MIB: f64 = 1024.0 * 1024.0;
pub const GIB: f64 = 1024.0 * MIB;

pub use format::{
    LIKELY, Printed, cents, chance, count, decimal, fixed, judged, odds, percent, ratio, significant, sure,
};
pub use order::Order;
pub use quantity::{Bytes, BytesPerSecond, Dollars, Flops, FlopsPerSecond, Joules, Seconds, Watts};
