//! Predictions of measured runs, calibrated on other measured runs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ServedRun, response::point};
use crate::calibration::{
    Band, Calibration, ConfigPoint, FACTORS, Factors, Label, Observed, Posterior, RankInput, Responses,
};
use crate::evidence::cases::{LoadKind, ServedCase};
use crate::evidence::compared::{ErrorMetric, Times};
use crate::evidence::coverage::Calibrated;
use crate::evidence::fitted::is_fitted;
use crate::serving::table::Hosted;
use crate::study::accuracy::Grouping;

/// Which measured runs are left out when predicting a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, clap::ValueEnum)]
pub enum LeaveOut {
    /// Every run with the same model, GPU, format, engine version and layout, if the calibration contains the run.
    /// Otherwise nothing is left out, since the calibration has not seen the run. This is the prediction.
    #[serde(rename = "configuration")]
    Configuration,
    /// Every run of the same engine version.
    #[serde(rename = "without version")]
    Version,
    /// Every run of the same model.
    #[serde(rename = "without model")]
    Model,
    /// Every run on the same GPU type.
    #[serde(rename = "without gpu")]
    Gpu,
}

impl LeaveOut {
    pub const ALL: [Self; 4] = [Self::Configuration, Self::Version, Self::Model, Self::Gpu];

    pub fn grouping(self) -> Grouping {
        match self {
            Self::Configuration => Grouping::All,
            Self::Version => Grouping::WithoutVersion,
            Self::Model => Grouping::WithoutModel,
            Self::Gpu => Grouping::WithoutGpu,
        }
    }

    /// Whether a known run is left out when predicting a run at `at`.
    pub fn is_of(self, at: &ConfigPoint, known: &ConfigPoint) -> bool {
        self.labels().iter().all(|&label| at.agrees(known, label))
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

/// A run to predict, and its calibration point.
pub struct RunPoint<'a> {
    pub case: &'a ServedCase,
    pub run: &'a ServedRun,
    pub hosted: Hosted<'a>,
    pub in_flight: f64,
}

pub fn predict(
    place: &RunPoint<'_>,
    calibration: &Calibration,
    leave: LeaveOut,
) -> Result<Calibrated, String> {
    let at = point(place.case, place.run, place.in_flight);
    let measured = place.case.measured;
    let known = leave != LeaveOut::Configuration || is_fitted(&place.case.id)?;
    let others = |one: &ConfigPoint| !known || !leave.is_of(&at, one);
    let simulate = |factors: Factors| {
        place.run.simulate(&place.hosted.times(factors), factors.wait).map(|(times, _)| times)
    };
    let closed = (place.case.kind == LoadKind::ClosedLoop).then(|| f64::from(place.case.osl));
    Ok(corrected(calibration, (&at, others), simulate, (closed, &measured))?.0)
}

/// A run's prediction calibrated on the known runs that are used, with its measurement and bands. `closed` is the
/// output length of a closed loop.
pub fn corrected(
    calibration: &Calibration,
    (at, may_inform): (&ConfigPoint, impl Fn(&ConfigPoint) -> bool + Copy),
    simulate: impl Fn(Factors) -> Result<Times, String>,
    (closed, measured): (Option<f64>, &Times),
) -> Result<(Calibrated, BTreeMap<ErrorMetric, Band>), String> {
    let (posterior, widths) =
        (calibration.posterior(at, &[], may_inform), calibration.widths(at, may_inform));
    let responses = Responses::of(posterior.factors(), |factors, _| simulate(factors))?;
    let figure = |metric: Observed| {
        let of = |times: &Times| ErrorMetric::from(metric).of(times).unwrap_or(f64::NAN);
        calibration.figure(&responses, (widths, &shares(closed, metric, &responses.at)), of)
    };
    let band = |metric: Observed| Some((metric.into(), figure(metric)?.band(&posterior)));
    let bands: BTreeMap<ErrorMetric, Band> = Observed::ALL.into_iter().filter_map(band).collect();
    let deviation = |(&metric, band): (&ErrorMetric, &Band)| {
        let real = metric.of(measured).filter(|real| *real > 0.0)?;
        let half = (band.high / band.low).ln() / 2.0;
        Some((metric, (real / metric.of(&responses.at)?).ln() / half))
    };
    let deviations = bands.iter().filter_map(deviation).collect();
    let [ttft, tpot, output] = Observed::ALL.map(figure);
    let rank_input = RankInput { point: at.clone(), at: posterior.mean, ttft, tpot, e2e: None, output };
    Ok((Calibrated { predicted: responses.at, deviations, left: left(&posterior), rank_input }, bands))
}

/// The noise sources of a metric, as in a prediction.
fn shares(closed: Option<f64>, metric: Observed, times: &Times) -> Vec<(Observed, f64)> {
    match (metric, closed) {
        (Observed::Throughput, Some(output)) => {
            let (ttft, tpot) = (times.ttft_ms.unwrap_or(0.0), times.tpot_ms.unwrap_or(0.0));
            let waited = ttft / (ttft + tpot * (output - 1.0));
            vec![(Observed::Ttft, waited), (Observed::Tpot, 1.0 - waited)]
        }
        _ => vec![(metric, 1.0)],
    }
}

/// Mean remaining share of the factors' prior variance.
fn left(posterior: &Posterior) -> f64 {
    posterior.left.iter().sum::<f64>() / FACTORS as f64
}
