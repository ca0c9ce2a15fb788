//! A logarithmic axis.

/// Maps `low..high` (both positive) onto `from..to` pixels, equal ratios to equal lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogScale {
    pub low: f64,
    pub high: f64,
    from: f64,
    to: f64,
}

impl LogScale {
    pub fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        Self { low, high, from, to }
    }

    pub fn map(&self, value: f64) -> f64 {
        let share = (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10());
        self.from + share * (self.to - self.from)
    }

    /// The powers of ten inside the range.
    pub fn decades(&self) -> impl Iterator<Item = f64> {
        let (first, last) = (self.low.log10().ceil() as i32, self.high.log10().floor() as i32);
        (first..=last).map(|exponent| 10f64.powi(exponent))
    }
}

/// The smallest range of 1-2-5 steps that holds all `values`; `fallback` where there are none.
pub fn nice_range(values: impl Iterator<Item = f64>, fallback: (f64, f64)) -> (f64, f64) {
    let usable = values.filter(|value| value.is_finite() && *value > 0.0);
    let (low, high) =
        usable.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if low > high { fallback } else { (nice_floor(low), 1.0 / nice_floor(1.0 / high)) }
}

/// The largest of 1, 2, 5 times a power of ten that does not exceed `value`.
fn nice_floor(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    let step = [5.0, 2.0, 1.0].into_iter().find(|step| step * decade <= value * (1.0 + 1e-9));
    step.unwrap_or(1.0) * decade
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ratios_take_equal_lengths() {
        let scale = LogScale::new((1.0, 100.0), (0.0, 200.0));
        assert!((scale.map(10.0) - 100.0).abs() < 1e-9);
        assert_eq!(scale.decades().collect::<Vec<_>>(), [1.0, 10.0, 100.0]);
    }

    #[test]
    fn ranges_are_round_and_hold_the_values() {
        let (low, high) = nice_range([3.4, 870.0].into_iter(), (1.0, 10.0));
        assert!((low - 2.0).abs() < 1e-9 && (high - 1000.0).abs() < 1e-6);
        assert_eq!(nice_range([f64::NAN, 0.0].into_iter(), (1.0, 10.0)), (1.0, 10.0));
    }
}
