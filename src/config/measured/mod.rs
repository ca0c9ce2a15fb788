//! A configuration's measurements: the headline numbers of a benchmark report.

mod comparable;
pub mod given;
pub mod paste;

pub use comparable::{comparable, conditions};

use strum::{EnumString, IntoStaticStr, VariantArray};

use super::ids::ids;
use super::inputs::Range;
use crate::units::decimal;

/// A number that benchmarks report and Rooflight predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Metric {
    /// Milliseconds.
    Ttft,
    /// Milliseconds.
    Tpot,
    /// Milliseconds.
    E2e,
    /// Output tokens per second of the whole system.
    #[strum(serialize = "throughput")]
    Output,
    /// Requests per second.
    Requests,
    /// Prompt and output tokens per second.
    Total,
}

// Used in links and for the page's numbers.
ids!(Metric);

impl Metric {
    pub fn is_time(self) -> bool {
        matches!(self, Self::Ttft | Self::Tpot | Self::E2e)
    }

    /// The name of its mean or median in `vllm bench serve --save-result`.
    pub fn key(self, median: bool) -> &'static str {
        match (self, median) {
            (Self::Ttft, false) => "mean_ttft_ms",
            (Self::Ttft, true) => "median_ttft_ms",
            (Self::Tpot, false) => "mean_tpot_ms",
            (Self::Tpot, true) => "median_tpot_ms",
            (Self::E2e, false) => "mean_e2el_ms",
            (Self::E2e, true) => "median_e2el_ms",
            (Self::Output, _) => "output_throughput",
            (Self::Requests, _) => "request_throughput",
            (Self::Total, _) => "total_token_throughput",
        }
    }
}

/// One number over all requests, in its metric's unit. Rates have no median.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MeasuredFigure {
    pub mean: Option<f64>,
    pub median: Option<f64>,
}

impl MeasuredFigure {
    /// The mean, which is predicted; else the median.
    pub fn value(self) -> Option<f64> {
        self.mean.or(self.median)
    }
}

/// The known metrics; empty if nothing was measured. Every number is within its range.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measured {
    /// Mean and median of each; 0 if unknown.
    numbers: [[f64; 2]; Metric::ALL.len()],
}

/// Milliseconds.
const TIME: (&str, Range) = ("a measured time", Range::new(0.001, 10_000_000.0));
/// Per second.
const RATE: (&str, Range) = ("a measured rate", Range::new(0.000_001, 1e9));

impl Measured {
    pub fn of(&self, metric: Metric) -> MeasuredFigure {
        let known = |number: f64| Some(number).filter(|number| *number > 0.0);
        let [mean, median] = self.numbers[metric as usize];
        MeasuredFigure { mean: known(mean), median: known(median) }
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.as_flattened().iter().all(|number| *number == 0.0)
    }

    /// Changes every number.
    fn map(&mut self, change: impl Fn(f64) -> f64) {
        self.numbers.as_flattened_mut().iter_mut().for_each(|number| *number = change(*number));
    }

    /// Sets a mean or a median.
    pub fn set(&mut self, metric: Metric, median: bool, value: f64) -> Result<(), String> {
        if median && !metric.is_time() {
            return Err("a rate has no median".into());
        }
        let (name, range) = if metric.is_time() { TIME } else { RATE };
        if !range.contains(value) {
            return Err(range.wanted(name, "a number", &decimal(value)));
        }
        self.numbers[metric as usize][usize::from(median)] = value;
        Ok(())
    }
}
