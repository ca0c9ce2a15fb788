//! Physical quantities as types, the one formatter that prints them, and what all folders need of lists and random numbers.

mod chance;
mod format;
mod order;
mod quantity;
pub mod random;

/// Bytes of an element.
pub const BF16_BYTES: f64 = 2.0;
pub const F32_BYTES: f64 = 4.0;

/// Bytes.
pub const MIB: f64 = 1024.0 * 1024.0;
pub const GIB: f64 = 1024.0 * MIB;

pub use chance::{Doubt, chance, confidence, doubt, tenths};
pub use format::{Printed, cents, count, counted, decimal, escaped, fixed, percent, ratio, significant};
pub use order::{Order, larger, map_of, quantile, set_of, smaller};
pub use quantity::{
    Bytes, BytesPerSecond, Dollars, Flops, FlopsPerSecond, HOURS_PER_MONTH, Joules, Seconds, Watts,
};
