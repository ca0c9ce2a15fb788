//! An answer's numbers by name: columns of tables, and targets of limits.

use super::DeploymentPlan;
use crate::calibration::Band;
use crate::config::LatencyMetric;
use crate::serving::Report;
use crate::serving::report::Headline;
use crate::serving::run::{Bands, Power};
use crate::serving::sim::Stats;
use crate::units::{Dollars, Joules, Seconds, Watts, count, decimal, significant};

/// One number, in SI units.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub name: String,
    pub unit: FigureUnit,
    /// `None` if unknown: percentiles of a static batch, cost without a price.
    pub value: Option<f64>,
    /// The interval that 80 % of measurements are expected in.
    pub band: Option<[f64; 2]>,
    /// Whether it contains the wait in a queue.
    pub queues: bool,
    /// Whether it can have a band.
    is_banded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureUnit {
    Seconds,
    PerSecond,
    Dollars,
    Watts,
    Joules,
    Count,
}

/// Digits in machine-readable tables.
const DIGITS: i32 = 6;

/// The figures of a report; without a report, all names without values.
pub fn figures(report: Option<&Report>) -> Vec<Figure> {
    let headline = report.and_then(|report| report.headline.as_ref());
    let run = report.and_then(|report| report.run.as_ref());
    let bands = report.and_then(|report| report.calibrated.as_ref()).map(|calibrated| &calibrated.bands);
    let metrics = run.map(|run| &run.metrics);
    let latency = |metric| {
        let mean = headline.and_then(|of| of.latency(metric)).map(|mean| mean.0);
        time(metric, metrics.and_then(|of| of.latency(metric)), mean, bands)
    };
    let mut all: Vec<Figure> = LatencyMetric::ALL.into_iter().flat_map(latency).collect();
    let one = |name, unit, value| Figure::of(name, unit, value);
    let of = |get: fn(&Headline) -> f64| headline.map(get);
    let output = of(|of| of.output_per_s);
    let served = |name, value| served(name, value, output, bands);
    let tpot = bands.and_then(|of| of.tpot.as_ref());
    all.extend([
        served("requests_per_s", of(|of| of.requests_per_s)),
        one("goodput_per_s", FigureUnit::PerSecond, run.and_then(|run| run.goodput_per_s)),
        served("output_per_s", output),
        served("total_per_s", of(|of| of.total_per_s)),
        served("output_per_s_per_gpu", of(|of| of.output_per_s_per_gpu)),
        one("output_per_s_per_user", FigureUnit::PerSecond, headline.and_then(|of| of.output_per_s_per_user))
            .within(tpot.map(|tpot| ends(tpot.mean.under(1.0)))),
        one("running", FigureUnit::Count, of(|of| of.running)),
        one("waiting", FigureUnit::Count, of(|of| of.waiting)),
        one(
            "dollars_per_million",
            FigureUnit::Dollars,
            headline.and_then(|of| of.dollars_per_million).map(|dollars| dollars.0),
        ),
    ]);
    all.extend(power(headline.and_then(|of| of.power.as_ref())));
    all
}

/// The figures of a plan; without a plan, all names without values.
fn plan_figures(plan: Option<&DeploymentPlan>) -> Vec<Figure> {
    let bands = plan.and_then(|plan| plan.bands.as_ref());
    let stats = [plan.map(|of| of.ttft), plan.and_then(|of| of.tpot), plan.map(|of| of.e2e)];
    let latency = |(metric, stats)| time(metric, stats, None, bands);
    let mut all: Vec<Figure> = LatencyMetric::ALL.into_iter().zip(stats).flat_map(latency).collect();
    let one = |name, unit, value: Option<Option<f64>>| Figure::of(name, unit, value.flatten());
    let output = plan.map(|of| of.output_per_s);
    let served = |name, value| served(name, value, output, bands);
    all.extend([
        served("requests_per_s", plan.map(|of| of.requests_per_s)),
        served("output_per_s", output),
        served("total_per_s", plan.map(|of| of.total_per_s)),
        one("goodput_share", FigureUnit::Count, plan.map(|of| of.goodput_share)),
        one("chance_within_limits", FigureUnit::Count, plan.map(|of| of.chance_within_limits)),
        one("headroom", FigureUnit::Count, plan.map(|of| of.headroom)),
        one("job", FigureUnit::Seconds, plan.map(|of| of.job_seconds)),
        one("job_dollars", FigureUnit::Dollars, plan.map(|of| of.job_dollars)),
        one("dollars_per_hour", FigureUnit::Dollars, plan.map(|of| of.dollars_per_hour)),
        one(
            "dollars_per_hour_with_spare",
            FigureUnit::Dollars,
            plan.map(|of| of.dollars_per_hour_with_spare),
        ),
        one("dollars_per_million_input", FigureUnit::Dollars, plan.map(|of| of.dollars_per_million_input)),
        one("dollars_per_million_output", FigureUnit::Dollars, plan.map(|of| of.dollars_per_million_output)),
        one("dollars_per_million_total", FigureUnit::Dollars, plan.map(|of| of.dollars_per_million_total)),
    ]);
    all.extend(power(plan.and_then(|of| of.power.as_ref())));
    all
}

/// The columns of a plan in a machine-readable table; without a plan, their names with empty values.
pub fn plan_columns(plan: Option<&DeploymentPlan>) -> (Vec<String>, Vec<String>) {
    let text = |get: fn(&DeploymentPlan) -> String| plan.map(get).unwrap_or_default();
    let named = [
        ("name", text(|of| of.name.clone())),
        ("gpu", text(|of| of.gpu.clone())),
        ("gpus", text(|of| of.gpus.to_string())),
        ("replicas", text(|of| of.replicas.to_string())),
        ("link", text(|of| of.link.clone())),
    ];
    let (names, values) = columns(&plan_figures(plan));
    let (first, texts): (Vec<String>, Vec<String>) =
        named.into_iter().map(|(name, text)| (name.to_owned(), text)).unzip();
    ([first, names].concat(), [texts, values].concat())
}

/// Column names of a machine-readable table, and the values of an answer.
pub fn columns(figures: &[Figure]) -> (Vec<String>, Vec<String>) {
    figures.iter().flat_map(Figure::columns).unzip()
}

fn time(of: LatencyMetric, stats: Option<Stats>, mean: Option<f64>, bands: Option<&Bands>) -> [Figure; 4] {
    let (name, spread) = (of.id(), bands.and_then(|bands| bands.latency(of)));
    let one = |which: &str, value: Option<f64>, band: Option<Band>| {
        let figure = Figure::of(&format!("{name}_{which}"), FigureUnit::Seconds, value);
        Figure { queues: of.queues(), ..figure.within(band.map(ends)) }
    };
    [
        one("mean", mean.or(stats.map(|of| of.mean)), spread.map(|of| of.mean)),
        one("p50", stats.map(|of| of.p50), spread.and_then(|of| of.p50)),
        one("p90", stats.map(|of| of.p90), spread.and_then(|of| of.p90)),
        one("p99", stats.map(|of| of.p99), spread.and_then(|of| of.p99)),
    ]
}

/// A rate as uncertain as the output.
fn served(name: &str, value: Option<f64>, output: Option<f64>, bands: Option<&Bands>) -> Figure {
    let factor = value.zip(output).map(|(value, output)| value / output);
    let band = bands.and_then(|of| of.output_per_s).zip(factor);
    Figure::of(name, FigureUnit::PerSecond, value).within(band.map(|(band, factor)| ends(band.times(factor))))
}

fn power(power: Option<&Power>) -> [Figure; 4] {
    let all = |of: &Power| of.band.map(|end| end * (of.watts / of.watts_per_gpu));
    [
        Figure::of("watts_per_gpu", FigureUnit::Watts, power.map(|of| of.watts_per_gpu))
            .within(power.map(|of| of.band)),
        Figure::of("watts", FigureUnit::Watts, power.map(|of| of.watts)).within(power.map(all)),
        Figure::of("joules_per_output_token", FigureUnit::Joules, power.map(|of| of.joules_per_output_token))
            .within(power.map(|of| of.joules_band)),
        Figure::of(
            "million_output_tokens_per_mwh",
            FigureUnit::Count,
            power.map(|of| of.output_tokens_per_mwh / 1e6),
        ),
    ]
}

fn ends(band: Band) -> [f64; 2] {
    [band.low, band.high]
}

impl Figure {
    fn of(name: &str, unit: FigureUnit, value: Option<f64>) -> Self {
        Self { name: name.into(), unit, value, band: None, queues: false, is_banded: false }
    }

    fn within(self, band: Option<[f64; 2]>) -> Self {
        Self { band, is_banded: true, ..self }
    }

    /// Whether higher is better.
    pub fn is_rate(&self) -> bool {
        self.unit == FigureUnit::PerSecond
    }

    /// SI units per unit in tables and limits: milliseconds for times.
    pub fn scale(&self) -> f64 {
        if self.unit == FigureUnit::Seconds { 1e-3 } else { 1.0 }
    }

    /// `value` in the unit of this figure, for people.
    pub fn print(&self, value: f64) -> String {
        match self.unit {
            FigureUnit::Seconds => Seconds(value).print().to_string(),
            FigureUnit::PerSecond => format!("{}/s", count(value)),
            FigureUnit::Dollars => Dollars(value).print().to_string(),
            FigureUnit::Watts => Watts(value).print().to_string(),
            FigureUnit::Joules => Joules(value).print().to_string(),
            FigureUnit::Count => count(value),
        }
    }

    /// Machine-readable columns with values: the figure, and the ends of its band if it can have one.
    fn columns(&self) -> Vec<(String, String)> {
        let unit = if self.unit == FigureUnit::Seconds { "_ms" } else { "" };
        let number = |value: Option<f64>| {
            value.map_or(String::new(), |of| decimal(significant(of / self.scale(), DIGITS)))
        };
        let mut columns = vec![(format!("{}{unit}", self.name), number(self.value))];
        if self.is_banded {
            let end = |which: usize| number(self.band.map(|band| band[which]));
            columns.push((format!("{}_low{unit}", self.name), end(0)));
            columns.push((format!("{}_high{unit}", self.name), end(1)));
        }
        columns
    }
}
