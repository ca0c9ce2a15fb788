//! Headline numbers as table columns and chart panels: name, unit and value, defined once.

use super::words::GROWS;
use super::{Case, Span};
use crate::calibration::{RankInput, UncertainFigure};
use crate::chart::{Axis, ChartUnit, Line, Panel, Tone};
use crate::config::Metric;
use crate::serving::report::Headline;
use crate::units::fixed;

#[derive(Debug, Clone, Copy)]
pub struct HeadlineMetric {
    pub name: &'static str,
    unit: ChartUnit,
    value: fn(&Headline) -> Option<f64>,
    /// The figure that determines its uncertainty.
    rests_on: fn(&RankInput) -> Option<UncertainFigure>,
    /// Falls as that figure rises.
    inverse: bool,
    pub less_is_better: bool,
    compared: Comparability,
    /// Contains the wait in the queue, which grows without bound in an overload.
    queues: bool,
    /// The metric of measured runs that it is, where the evidence has it, and its index there.
    pub reported: Option<(Metric, usize)>,
}

/// What two runs are ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparability {
    Value,
    /// A throughput. A run with a stated number of requests also drains, the longer the slower its last answers are, so it is that
    /// of the time while the load lasts.
    Sustained,
    /// A time. In an overload the queue grows throughout, and so may the batch: times then depend on the length of the run,
    /// and are not compared.
    UnlessOverloaded,
}

const fn time(
    name: &'static str,
    value: fn(&Headline) -> Option<f64>,
    rests_on: fn(&RankInput) -> Option<UncertainFigure>,
) -> HeadlineMetric {
    HeadlineMetric {
        name,
        unit: ChartUnit::Seconds,
        value,
        rests_on,
        inverse: false,
        less_is_better: true,
        compared: Comparability::UnlessOverloaded,
        queues: true,
        reported: None,
    }
}

/// All output rates have the same relative uncertainty.
const fn rate(name: &'static str, value: fn(&Headline) -> Option<f64>) -> HeadlineMetric {
    let rests_on = |of: &RankInput| of.output;
    HeadlineMetric {
        name,
        unit: ChartUnit::Count,
        value,
        rests_on,
        inverse: false,
        less_is_better: false,
        compared: Comparability::Sustained,
        queues: false,
        reported: None,
    }
}

pub const TTFT: HeadlineMetric = HeadlineMetric {
    reported: Some((Metric::Ttft, 0)),
    ..time("TTFT", |headline| Some(headline.ttft.0), |of| of.ttft)
};
pub const TPOT: HeadlineMetric = HeadlineMetric {
    queues: false,
    reported: Some((Metric::Tpot, 1)),
    ..time("TPOT", |headline| headline.tpot.map(|tpot| tpot.0), |of| of.tpot)
};
pub const E2E: HeadlineMetric = time("E2E", |headline| Some(headline.e2e.0), |of| of.e2e);
pub const OUTPUT: HeadlineMetric = rate("Output, tok/s in all", |headline| Some(headline.output_per_s));
pub const PER_GPU: HeadlineMetric =
    rate("Output per GPU, tok/s", |headline| Some(headline.output_per_s_per_gpu));
pub const PER_USER: HeadlineMetric = HeadlineMetric {
    rests_on: |of| of.tpot,
    inverse: true,
    compared: Comparability::UnlessOverloaded,
    ..rate("Output per user, tok/s", |headline| headline.output_per_s_per_user)
};
pub const REQUESTS: HeadlineMetric = rate("Requests/s in all", |headline| Some(headline.requests_per_s));
pub const COST: HeadlineMetric = HeadlineMetric {
    unit: ChartUnit::Dollars,
    inverse: true,
    less_is_better: true,
    compared: Comparability::Value,
    ..rate("Cost per M output tokens", |headline| headline.dollars_per_million.map(|dollars| dollars.0))
};

/// All metrics, in report order.
pub const ALL: [HeadlineMetric; 8] = [TTFT, TPOT, E2E, OUTPUT, PER_GPU, PER_USER, REQUESTS, COST];
/// Metrics in curves over a setting, one panel each.
pub const CURVES: [HeadlineMetric; 3] = [TTFT, TPOT, PER_GPU];

impl HeadlineMetric {
    /// `None` without an answer, if the answer lacks the number, or if that would depend on the length of an overloaded run.
    pub fn of(&self, case: &Case) -> Option<f64> {
        (self.value)(case.headline()?).filter(|_| !self.grows(case))
    }

    fn grows(&self, case: &Case) -> bool {
        self.queues
            && case.report().zip(case.setup()).is_some_and(|(report, setup)| report.queue_grows(setup))
    }

    /// A dash if there is none.
    pub fn print(&self, case: &Case) -> String {
        let none = || if self.grows(case) { GROWS } else { "–" }.into();
        self.of(case).map_or_else(none, |value| self.unit.print(value))
    }

    /// `23.1 ms (+12 %)`: with the change from `base`.
    pub fn print_change(&self, case: &Case, base: &Case) -> String {
        let comparable = self.ratio(case, base).is_some();
        let values = self.of(case).zip(self.of(base)).filter(|_| comparable);
        let change = values.and_then(|(value, was)| change(value, was));
        change.map_or_else(|| self.print(case), |change| format!("{} ({change})", self.print(case)))
    }

    /// Which is better: its value while the load lasts, relative to that of `base`; `None` if they cannot be compared.
    pub fn ratio(&self, case: &Case, base: &Case) -> Option<f64> {
        let overloaded = case.is_overloaded() || base.is_overloaded();
        let comparable = self.compared != Comparability::UnlessOverloaded || !overloaded;
        Some(self.sustained(case).filter(|_| comparable)? / self.sustained(base)?)
    }

    /// The metric's value while the load lasts.
    pub fn sustained(&self, case: &Case) -> Option<f64> {
        let value = self.of(case)?;
        let run = case.report()?.run.as_ref().filter(|_| self.compared == Comparability::Sustained);
        Some(run.map_or(value, |run| run.sustained(value)))
    }

    /// The metric's value while the load lasts, and its uncertainty; `None` if not calibrated.
    pub fn figure(&self, case: &Case) -> Option<UncertainFigure> {
        let of = (self.rests_on)(&case.report()?.calibrated.as_ref()?.rank_input)?;
        let response = if self.inverse { of.response.map(|by| -by) } else { of.response };
        Some(UncertainFigure { value: self.sustained(case)?, response, ..of })
    }

    /// A line through those of `cases` that have the number, each at its position on the axis.
    pub fn line<'a>(&self, name: &str, tone: Tone, cases: impl Iterator<Item = (f64, &'a Case)>) -> Line {
        Line::marked(name, tone, cases.filter_map(|(at, case)| Some((at, self.of(case)?))))
    }

    /// Times on a logarithmic axis, rates on a linear one. `None` if no line has points.
    pub fn panel(&self, lines: Vec<Line>) -> Option<Panel> {
        let lines: Vec<Line> = lines.into_iter().filter(|line| !line.x.is_empty()).collect();
        let y = Axis::new(self.name, self.unit, self.unit == ChartUnit::Seconds);
        (!lines.is_empty()).then(|| Panel { y, lines, ..Panel::default() })
    }
}

/// The head of a table with these columns after the first ones.
pub fn head<'a>(first: &[&'a str], columns: &[HeadlineMetric]) -> Vec<&'a str> {
    first.iter().copied().chain(columns.iter().map(|metric| metric.name)).collect()
}

/// The cells of `columns` in a row: each value with its change from `base`, or why there is no answer.
pub fn changes(columns: &[HeadlineMetric], case: &Case, base: &Case) -> Vec<Span> {
    let first = case.headline().is_none().then(|| case.reason().into());
    let rest = columns.iter().skip(usize::from(first.is_some()));
    first.into_iter().chain(rest.map(|metric| metric.print_change(case, base).into())).collect()
}

/// `+12 %`: the change from `was` to `value`, `0 %` if it rounds to zero; `None` if undefined.
pub fn change(value: f64, was: f64) -> Option<String> {
    let change = ((value / was - 1.0) * 100.0).round();
    let sign = match change {
        more if more > 0.0 => "+",
        less if less < 0.0 => "−",
        _ => "",
    };
    change.is_finite().then(|| format!("{sign}{}\u{a0}%", fixed(change.abs(), 0)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::link::decode;
    use crate::efficiency::Efficiencies;

    #[test]
    fn runs_are_ranked_by_the_time_while_the_load_lasts() {
        let of = |link: &str| {
            let mut case = Case::new("", decode(link).0.scenario);
            case.predict(&Arc::default(), |_| Ok(Efficiencies::Roofline), false).expect(link);
            case
        };
        // Both serve all that arrives; of a stated number of requests, the slower one drains for longer.
        for requests in ["", "&np=1000"] {
            let [slow, fast] = ["g=l40s&r=1", "r=1"].map(|link| of(&format!("{link}{requests}")));
            assert!((OUTPUT.ratio(&slow, &fast).expect("comparable") - 1.0).abs() < 1e-3);
            let drained = OUTPUT.of(&slow).expect("output") < 0.999 * OUTPUT.of(&fast).expect("output");
            assert_eq!(drained, !requests.is_empty());
        }
        let [less, more] = ["r=300", "r=900"].map(of);
        assert!(less.is_overloaded() && more.is_overloaded());
        for time in [TTFT, TPOT, E2E, PER_USER] {
            assert_eq!(time.print_change(&more, &less), time.print(&more));
        }
    }

    #[test]
    fn changes_have_a_sign() {
        assert_eq!(change(112.0, 100.0).as_deref(), Some("+12\u{a0}%"));
        assert_eq!(change(50.0, 100.0).as_deref(), Some("−50\u{a0}%"));
        assert_eq!(change(99.8, 100.0).as_deref(), Some("0\u{a0}%"));
        assert_eq!(change(1.0, 0.0), None);
    }
}
