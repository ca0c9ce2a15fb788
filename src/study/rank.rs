//! How likely a configuration beats the form's. Shared errors cancel.

use super::Case;
use super::metric::{COST, E2E, HeadlineMetric, PER_GPU, TPOT, TTFT};
use crate::calibration::KnownRun;
use crate::serving::run::versus;

/// Metrics in which configurations are compared.
pub const COMPARED: [HeadlineMetric; 5] = [TTFT, TPOT, E2E, PER_GPU, COST];
/// Costs within this are equal, given the noise of a few hundred requests.
pub const SAME: f64 = 0.01;
/// Below this it is too close to call.
pub const CONFIDENT: f64 = 0.8;

/// How likely one configuration beats another in a metric.
#[derive(Debug, Clone)]
pub struct WinProbability {
    pub metric: HeadlineMetric,
    /// The probability that measurements agree.
    pub with: f64,
    /// The share (0..1) of the uncertainty of their ratio that measuring the form's configuration would remove, and
    /// measuring this one.
    pub narrowed: [f64; 2],
}

/// The probability that measurements of `case` are better in a metric than those of `other`.
pub fn confidence(other: &Case, case: &Case, metric: HeadlineMetric, own: &[KnownRun]) -> Option<f64> {
    beats(other, case, own)?
        .into_iter()
        .find(|beats| beats.metric.name == metric.name)
        .map(|beats| beats.with)
}

/// Sets how likely `case` beats `form`, given measured runs and the visitor's `own`.
pub fn compare(form: &Case, case: &mut Case, own: &[KnownRun]) {
    let beats = beats(form, case, own).unwrap_or_default();
    if let Some(outcome) = &mut case.outcome {
        outcome.beats = beats;
    }
}

fn beats(form: &Case, case: &Case, own: &[KnownRun]) -> Option<Vec<WinProbability>> {
    let [a, b] = [form, case].map(|case| case.report()?.calibrated.as_ref());
    let versus = versus(a?, b?, own)?;
    // At a rate that both serve, cost follows from price and arrivals alone: neither is cheaper.
    let cost = |case| COST.of(case);
    let is_same = cost(form).zip(cost(case)).is_some_and(|(one, other)| (other / one - 1.0).abs() <= SAME);
    let beats = |metric: HeadlineMetric| {
        metric.ratio(case, form)?;
        let figures = [metric.figure(form)?, metric.figure(case)?];
        let form_is_lower = versus.lower(figures);
        let with = if metric.less_is_better { 1.0 - form_is_lower } else { form_is_lower };
        Some(WinProbability { metric, with, narrowed: versus.narrowed(figures) })
    };
    let compared = COMPARED.into_iter().filter(|metric| !(is_same && metric.name == COST.name));
    Some(compared.filter_map(beats).collect())
}
