//! Newtypes over `f64` in SI base units. Operations that keep the unit are defined on the types; those that change
//! it are explicit (bytes over bytes per second gives seconds).

use serde::{Deserialize, Serialize};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl $name {
            pub const ZERO: Self = Self(0.0);

            /// The larger of the two; a NaN on either side loses.
            pub fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0))
            }

            /// The smaller of the two; a NaN on either side loses.
            pub fn min(self, other: Self) -> Self {
                Self(self.0.min(other.0))
            }
        }

        impl std::ops::Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl std::ops::Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl std::ops::Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl std::ops::Div<f64> for $name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self(self.0 / divisor)
            }
        }

        /// The ratio of two equal quantities has no unit.
        impl std::ops::Div for $name {
            type Output = f64;
            fn div(self, other: Self) -> f64 {
                self.0 / other.0
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                Self(items.map(|item| item.0).sum())
            }
        }
    };
}

quantity!(
    /// Time, in seconds.
    Seconds
);
quantity!(
    /// Data, in bytes.
    Bytes
);
quantity!(
    /// Work, in floating-point operations (a multiply-add is two).
    Flops
);
quantity!(
    /// Bandwidth, in bytes per second (decimal: 1 GB/s is 1e9).
    BytesPerSecond
);
quantity!(
    /// Rate of work, in floating-point operations per second.
    FlopsPerSecond
);
quantity!(
    /// Power, in watts.
    Watts
);
quantity!(
    /// Energy, in joules.
    Joules
);
quantity!(
    /// Money, in US dollars.
    Dollars
);

/// A twelfth of 365 days.
pub const HOURS_PER_MONTH: f64 = 730.0;

impl Dollars {
    /// The cost per million tokens at this rate, if this is the cost per hour. `None` if it is free: nothing can be
    /// cheaper, and every ratio to it would be undefined.
    pub fn per_million(self, tokens_per_s: f64) -> Option<Self> {
        (self.0 > 0.0).then(|| Self(self.0 / 3600.0 / tokens_per_s * 1e6))
    }

    /// The cost of a month, if this is the cost per hour.
    pub fn monthly(self) -> Self {
        Self(self.0 * HOURS_PER_MONTH)
    }
}

impl Seconds {
    pub const fn from_micros(micros: f64) -> Self {
        Self(micros * 1e-6)
    }

    pub fn micros(self) -> f64 {
        self.0 * 1e6
    }

    pub fn from_millis(millis: f64) -> Self {
        Self(millis * 1e-3)
    }

    pub fn millis(self) -> f64 {
        self.0 * 1e3
    }
}

impl std::ops::Div<BytesPerSecond> for Bytes {
    type Output = Seconds;
    fn div(self, rate: BytesPerSecond) -> Seconds {
        Seconds(self.0 / rate.0)
    }
}

impl std::ops::Div<FlopsPerSecond> for Flops {
    type Output = Seconds;
    fn div(self, rate: FlopsPerSecond) -> Seconds {
        Seconds(self.0 / rate.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_over_rate_is_time() {
        assert_eq!(Bytes(3.35e12) / BytesPerSecond(3.35e12), Seconds(1.0));
        assert_eq!(Flops(989e12) / FlopsPerSecond(989e12), Seconds(1.0));
    }

    #[test]
    fn what_costs_nothing_has_no_cost_per_token() {
        assert_eq!(Dollars(3.6).per_million(1000.0), Some(Dollars(1.0)));
        assert_eq!(Dollars(0.0).per_million(1000.0), None);
    }

    #[test]
    fn small_times_round_trip() {
        assert!((Seconds::from_micros(3.0).micros() - 3.0).abs() < 1e-12);
        assert!((Seconds::from_millis(20.0).millis() - 20.0).abs() < 1e-12);
    }
}
