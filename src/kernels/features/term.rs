//! Named features: each name is on the same line as its formula, so they cannot drift apart.

use super::DeviceSpec;
use crate::config::catalog::numbers::features::constants;

/// One feature of `T`.
pub type Term<T> = (&'static str, fn(&T) -> f64);

/// The quantities a family's columns are computed from: one launch, in elements, bytes and µs.
pub trait Inputs {
    /// The time that other times are divided by.
    fn reference(&self) -> f64;

    /// ln of `time` over the reference.
    fn share(&self, time: f64) -> f64 {
        ln_share(time, self.reference())
    }

    /// The first column of every family, which training adds to the output unchanged (training/train.py).
    /// Efficiency is relative to `ideal`: peak rates, compulsory bytes, the launch floor.
    fn over(&self, ideal: f64) -> f64 {
        (self.reference() / ideal).ln()
    }
}

/// Column names of `tables`, in order.
pub fn names<T>(tables: &[&[Term<T>]]) -> Vec<&'static str> {
    tables.iter().copied().flatten().map(|(name, _)| *name).collect()
}

/// The columns of `tables`, then the device's identity columns.
pub fn vector<T>(tables: &[&[Term<T>]], of: &T, device: &DeviceSpec) -> Vec<f32> {
    let own = tables.iter().copied().flatten().map(|(_, value)| value(of) as f32);
    own.chain(device.identity()).collect()
}

/// ln of `part` over `whole`, floored at a thousandth.
fn ln_share(part: f64, whole: f64) -> f64 {
    (part / whole + constants().negligible).ln()
}

/// Slowdown of `tasks` equal tasks on `slots` slots compared with an even split, as a logarithm.
pub fn ln_rounding(tasks: f64, slots: f64) -> f64 {
    ((tasks / slots).ceil() * slots / tasks).ln()
}

/// 1 where the condition holds.
pub fn flag(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_up_to_full_waves() {
        assert_eq!(ln_rounding(132.0, 132.0), 0.0);
        assert!((ln_rounding(133.0, 132.0) - (264.0f64 / 133.0).ln()).abs() < 1e-12);
    }

    #[test]
    fn negligible_shares_get_the_same_feature() {
        assert!((ln_share(1e-9, 1.0) - ln_share(1e-7, 1.0)).abs() < 1e-3);
        assert!((ln_share(1.0, 1.0)).abs() < 1e-2);
    }
}
