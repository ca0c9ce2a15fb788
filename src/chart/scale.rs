//! Axes: where values lie, and which of them are marked.

use super::range::{nice_floor, nice_range};

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

/// An axis of either kind, over a range in its own unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    Log(LogScale),
    Linear { low: f64, high: f64, from: f64, to: f64 },
}

impl Scale {
    /// Over all `values`, rounded to where a mark would be; a linear axis begins at 0.
    pub fn over(values: impl Iterator<Item = f64> + Clone, log: bool, (from, to): (f64, f64)) -> Self {
        if log {
            return Self::Log(LogScale::new(nice_range(values, (1.0, 10.0)), (from, to)));
        }
        let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        let step = linear_step(most);
        let high = if most > 0.0 { (most / step).ceil() * step } else { 1.0 };
        Self::Linear { low: 0.0, high, from, to }
    }

    pub fn map(&self, value: f64) -> f64 {
        match self {
            Self::Log(scale) => scale.map(value),
            Self::Linear { low, high, from, to } => from + (value - low) / (high - low) * (to - from),
        }
    }

    /// Values to mark: equal steps, or powers of ten with 2 and 5 times them where those are few.
    pub fn ticks(&self) -> Vec<f64> {
        match self {
            Self::Linear { high, .. } => {
                let step = linear_step(*high);
                (0..=(high / step).round() as u32).map(|index| f64::from(index) * step).collect()
            }
            Self::Log(scale) => {
                let decades: Vec<f64> = scale.decades().collect();
                if decades.len() > 3 {
                    return decades;
                }
                let first = scale.low.log10().floor() as i32;
                let last = scale.high.log10().floor() as i32;
                let all = (first..=last)
                    .flat_map(|exponent| [1.0, 2.0, 5.0].map(|part| part * 10f64.powi(exponent)));
                let slack = 1e-9;
                all.filter(|value| {
                    *value >= scale.low * (1.0 - slack) && *value <= scale.high * (1.0 + slack)
                })
                .collect()
            }
        }
    }
}

/// A step of 1, 2 or 5 times a power of ten: about four of them make `most`.
fn linear_step(most: f64) -> f64 {
    const STEPS: f64 = 4.0;
    if most > 0.0 && most.is_finite() { nice_floor(most / STEPS) } else { 1.0 }
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
    fn a_linear_axis_begins_at_zero_and_is_marked_in_round_steps() {
        let scale = Scale::over([3.0, 870.0].into_iter(), false, (0.0, 100.0));
        assert_eq!(scale.ticks(), [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]);
        assert!((scale.map(500.0) - 50.0).abs() < 1e-9);
        let empty = Scale::over(std::iter::empty(), false, (0.0, 100.0));
        assert_eq!((empty.map(0.0), empty.map(1.0)), (0.0, 100.0));
    }

    #[test]
    fn a_short_logarithmic_axis_is_marked_between_its_powers() {
        let scale = Scale::over([1.0, 64.0].into_iter(), true, (0.0, 100.0));
        let ticks: Vec<i64> = scale.ticks().into_iter().map(|tick| tick.round() as i64).collect();
        assert_eq!(ticks, [1, 2, 5, 10, 20, 50, 100]);
        assert_eq!(Scale::over([1.0, 1e5].into_iter(), true, (0.0, 1.0)).ticks().len(), 6);
    }
}
