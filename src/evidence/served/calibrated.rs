//! Measured runs predicted by what other measured runs say of their steps.

use serde::Serialize;

use super::{Run, response::point};
use crate::calibration::{
    Calibration, FACTORS, Factors, Known, Label, Observed, Point, Posterior, Responses,
};
use crate::evidence::cases::{Kind, ServedCase};
use crate::evidence::compared::{Metric, Times};
use crate::evidence::coverage::Calibrated;
use crate::serving::table::Hosted;

/// Which measured runs are not asked about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Leave {
    /// Every run with the same model, GPU, format, engine version and layout, if the run is one of them that the
    /// calibration knows. Otherwise none: the run is new to it.
    Configuration,
    /// Every run of the same engine version.
    Version,
    /// Every run of the same model.
    Model,
    /// Every run on the same GPU type.
    Gpu,
}

impl Leave {
    pub const ALL: [Self; 4] = [Self::Configuration, Self::Version, Self::Model, Self::Gpu];

    pub fn name(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::Version => "without version",
            Self::Model => "without model",
            Self::Gpu => "without gpu",
        }
    }

    fn labels(self) -> &'static [Label] {
        use Label::{Drafts, Engine, Format, Gpu, Layout, Shape, Version};
        match self {
            Self::Configuration => &[Engine, Version, Shape, Gpu, Format, Drafts, Layout],
            Self::Version => &[Engine, Version],
            Self::Model => &[Shape],
            Self::Gpu => &[Gpu],
        }
    }
}

/// A run to be predicted: where it stands, and what the physics alone says of it.
pub struct Place<'a> {
    pub case: &'a ServedCase,
    pub run: &'a Run,
    pub hosted: Hosted<'a>,
    pub physics: Times,
    pub in_flight: f64,
}

/// The metrics of a run by what the calibration calls them.
const METRICS: [(Metric, Observed); 3] = [
    (Metric::Ttft, Observed::Ttft),
    (Metric::Tpot, Observed::Tpot),
    (Metric::Throughput, Observed::Throughput),
];

/// # Errors
/// Why the simulation has no answer.
pub fn predict(place: &Place<'_>, calibration: &Calibration, leave: Leave) -> Result<Calibrated, String> {
    let at = point(place.case, place.run, place.in_flight);
    let measured = place.case.measured.times();
    let known = leave != Leave::Configuration || knows(calibration, &at, &place.physics, &measured);
    let others = |one: &Known| !known || !leave.labels().iter().all(|&label| at.agrees(&one.point, label));
    let posterior = calibration.posterior(&at, &[], others);
    let simulate = |factors: Factors| {
        place.run.simulate(&place.hosted.times(factors), factors.wait).map(|(times, _)| times)
    };
    let responses = Responses::of(posterior.factors(), simulate)?;
    let deviation = |(metric, _): &(Metric, Observed)| {
        let real = metric.of(&measured).filter(|real| *real > 0.0)?;
        let figure = |times: &Times| metric.of(times).unwrap_or(f64::NAN);
        let shares = shares(place.case, *metric, &responses.at);
        let band = calibration.band(&posterior, &responses, &shares, figure)?;
        let half = (band.high / band.low).ln() / 2.0;
        Some((*metric, (real / figure(&responses.at)).ln() / half))
    };
    let deviations = METRICS.iter().filter_map(deviation).collect();
    Ok(Calibrated { predicted: responses.at, deviations, left: left(&posterior) })
}

/// Whether the calibration was fitted on this run.
fn knows(calibration: &Calibration, at: &Point, physics: &Times, measured: &Times) -> bool {
    METRICS.iter().any(|(metric, observed)| {
        let (Some(real), Some(own)) = (metric.of(measured), metric.of(physics)) else { return false };
        let ratio = (real / own).ln();
        calibration.known.iter().any(|known| known.is(at, *observed, ratio))
    })
}

/// Of which noises that of a metric is made: as in a prediction.
fn shares(case: &ServedCase, metric: Metric, times: &Times) -> Vec<(Observed, f64)> {
    match metric {
        Metric::Ttft => vec![(Observed::Ttft, 1.0)],
        Metric::Throughput if case.kind == Kind::ClosedLoop => {
            let (ttft, tpot) = (times.ttft_ms.unwrap_or(0.0), times.tpot_ms.unwrap_or(0.0));
            let waited = ttft / (ttft + tpot * (f64::from(case.osl) - 1.0));
            vec![(Observed::Ttft, waited), (Observed::Tpot, 1.0 - waited)]
        }
        Metric::Throughput => vec![(Observed::Throughput, 1.0)],
        _ => vec![(Observed::Tpot, 1.0)],
    }
}

/// Share of the prior variance of the factors that the runs leave, on average.
fn left(posterior: &Posterior) -> f64 {
    posterior.left.iter().sum::<f64>() / FACTORS as f64
}
