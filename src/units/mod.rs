//! Physical quantities as types, and the one formatter that prints them.

mod format;
mod quantity;

pub use format::{Printed, count, decimal, fixed, percent, ratio, significant};
pub use quantity::{Bytes, BytesPerSecond, Dollars, Flops, FlopsPerSecond, Quantity, Seconds, Watts};
