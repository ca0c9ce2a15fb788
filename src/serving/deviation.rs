//! Compares measurements with the prediction.

use serde::Serialize;

use super::report::Report;
use crate::config::{Measured, Metric};
use crate::units::{Printed, Seconds, count, fixed};

/// A predicted number, without the visitor's own runs, and its measurement. Times in seconds, rates per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Deviation {
    /// `ttft`, `tpot`, `e2e`, `throughput` (output tokens), `requests` or `total` (prompt and output tokens).
    pub name: &'static str,
    pub predicted: f64,
    /// The measured mean, or the median if only that is known.
    pub measured: f64,
    pub median: Option<f64>,
    /// (predicted - measured) / measured.
    pub difference: f64,
}

impl Deviation {
    /// `None` if this was not measured.
    pub fn of(measured: &Measured, metric: Metric, predicted: f64) -> Option<Self> {
        let figure = measured.of(metric);
        let scale = if metric.is_time() { 1e-3 } else { 1.0 };
        let value = figure.value()? * scale;
        Some(Self {
            name: metric.id(),
            predicted,
            measured: value,
            median: figure.median.map(|median| median * scale),
            difference: predicted / value - 1.0,
        })
    }

    /// `-4.2 %`, always with a sign.
    pub fn difference(&self) -> String {
        let sign = if self.difference < 0.0 { "−" } else { "+" };
        format!("{sign}{}\u{a0}%", fixed(self.difference.abs() * 100.0, 1))
    }
}

/// A number of `metric`, in seconds or per second.
pub fn print(metric: Metric, value: f64) -> Printed {
    let unit = match metric {
        Metric::Ttft | Metric::Tpot | Metric::E2e => return Seconds(value).print(),
        Metric::Output | Metric::Total => "tok/s",
        Metric::Requests => "/s",
    };
    Printed { number: count(value), unit }
}

/// The prediction of `metric` that measurements are compared with; `None` if there is none.
fn predicted(report: &Report, metric: Metric) -> Option<f64> {
    if let Some(run) = report.without_own() {
        return run.metric(metric, false);
    }
    let headline = report.headline.as_ref()?;
    match metric {
        Metric::Ttft => Some(headline.ttft.0),
        Metric::Tpot => headline.tpot.map(|time| time.0),
        Metric::E2e => Some(headline.e2e.0),
        Metric::Output => Some(headline.output_per_s),
        Metric::Requests => Some(headline.requests_per_s),
        Metric::Total => Some(headline.total_per_s),
    }
}

/// Everything both measured and predicted, without the visitor's own runs.
pub fn deviations(measured: &Measured, report: &Report) -> Vec<(Metric, Deviation)> {
    let one = |&metric: &Metric| Some((metric, Deviation::of(measured, metric, predicted(report, metric)?)?));
    Metric::ALL.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_of_the_prediction_from_what_was_measured() {
        let mut measured = Measured::default();
        assert_eq!(measured.set(Metric::Ttft, true, 200.0), Ok(()));
        let deviation = |measured: &Measured, predicted| {
            Deviation::of(measured, Metric::Ttft, predicted).expect("measured")
        };
        let median = deviation(&measured, 0.1);
        assert_eq!((median.measured, median.difference, median.median), (0.2, -0.5, Some(0.2)));
        assert_eq!(measured.set(Metric::Ttft, false, 80.0), Ok(()));
        assert_eq!(deviation(&measured, 0.1).difference(), "+25.0\u{a0}%");
        assert_eq!(deviation(&measured, 0.076).difference(), "−5.0\u{a0}%");
        assert_eq!(Deviation::of(&measured, Metric::Tpot, 0.1), None);
        assert_eq!(print(Metric::Requests, 2.5).to_string(), "2.50\u{a0}/s");
    }
}
