//! A contributed run and its prediction.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::read::{Contributed, Contribution};
use crate::calibration::{Band, ConfigPoint, Factors, KnownRun, Observed, shipped};
use crate::config::{Load, Measured, Metric, Version, link};
use crate::efficiency::Efficiencies;
use crate::evidence::cases::{AskLearned, texts};
use crate::evidence::compared::{ComparedCase, ErrorMetric, Times};
use crate::evidence::fitted::is_fitted;
use crate::evidence::served::calibrated::{LeaveOut, corrected};
use crate::serving::run::{Run, Runner};
use crate::serving::{answer, plan, runner};

/// A run that can be learned from.
#[derive(Debug, Clone)]
pub struct Predicted {
    /// The file, and the run's number in it.
    pub file: String,
    pub number: u32,
    pub contributor: String,
    pub version: Version,
    /// What the run says about the factors.
    pub known: KnownRun,
    /// Whether the shipped calibration contains it.
    pub is_known: bool,
    pub compared: ComparedCase,
    /// The intervals in which 80 % of measurements are expected, in the units of [`Times`].
    pub bands: BTreeMap<ErrorMetric, Band>,
}

/// Predicts a run. A run that the calibration holds is predicted without its configuration's runs, as in all
/// evidence. Fails if nothing can be learned from it: it does not fit, is faster than the hardware, or is far from
/// anything predicted.
pub fn predicted(of: &Contribution, run: &Contributed, ask: &AskLearned<'_>) -> Result<Predicted, String> {
    let Contributed { number, version, scenario, setup } = run;
    if setup.prefill.is_some() {
        return Err("a run with prefill workers cannot be used for calibration: leave it out".into());
    }
    let (plan, rows) = plan(setup).map_err(|issues| texts(&issues))?;
    let (report, ideal) =
        answer(&plan, &Efficiencies::Roofline).ok_or("the roofline returned no result for some kernels")?;
    let ideal = ideal.ok_or_else(|| texts(&report.issues))?;
    let learned = runner(&plan, &Efficiencies::Learned(ask(&rows)?));
    let learned = learned.ok_or("the models returned no result for some kernels")?;
    let calibration = shipped();
    let measured = &scenario.measured;
    let simulate = |runner: &Runner, factors| {
        runner.simulated(setup, setup.workload.load, factors).map_err(|issue| issue.sentence())
    };
    let roofline = simulate(&ideal, Factors::NONE)?;
    let mut known = learned.observed(setup.workload.load, measured, || ideal.at_peak(setup.workload.load))?;
    // The physics are those of the catalog's version; what is learned belongs to the version that ran.
    known.point.version = setup.engine.release(version);
    // However the path was typed.
    let name = Path::new(&of.file).file_name().unwrap_or_default().to_string_lossy();
    let id = format!("{name}#{number}");
    let is_known = is_fitted(&id)?;
    let may_inform = |other: &ConfigPoint| !is_known || !LeaveOut::Configuration.is_of(&known.point, other);
    let closed = matches!(setup.workload.load, Load::Concurrency(_)).then(|| f64::from(setup.workload.osl));
    let real = of_metrics(|metric| measured.of(metric).value());
    let (calibrated, bands) = corrected(
        calibration,
        (&known.point, may_inform),
        |factors| Ok(times(measured, &simulate(&learned, factors)?)),
        (closed, &real),
    )?;
    let physics = times(measured, &simulate(&learned, Factors::NONE)?);
    let compared = ComparedCase {
        id,
        model: setup.model.id.clone(),
        engine: setup.engine.id.clone(),
        gpu: setup.gpu.id.clone(),
        source: of.contributor.clone(),
        outside: true,
        concurrency: match setup.workload.load {
            Load::Concurrency(clients) => Some(clients),
            _ => None,
        },
        predicted: calibrated.predicted,
        physics: Some(physics),
        calibrated: BTreeMap::from([(LeaveOut::Configuration, calibrated)]),
        roofline: times(measured, &roofline),
        measured: real,
        recorded: Some(true),
        link: link::encode(scenario),
    };
    let (file, contributor, version) = (of.file.clone(), of.contributor.clone(), version.clone());
    Ok(Predicted { file, number: *number, contributor, version, known, is_known, compared, bands })
}

/// The means of a run; the medians of times where only these were measured.
fn times(measured: &Measured, run: &Run) -> Times {
    of_metrics(|metric| {
        let figure = measured.of(metric);
        run.metric(metric, figure.mean.is_none() && figure.median.is_some())
            .map(|value| if metric.is_time() { value * 1e3 } else { value })
    })
}

fn of_metrics(of: impl Fn(Metric) -> Option<f64>) -> Times {
    let [ttft_ms, tpot_ms, output_per_s] = Observed::ALL.map(|observed| of(observed.metric()));
    Times { ttft_ms, tpot_ms, output_per_s, ..Times::default() }
}

impl Predicted {
    /// Measurements with their predictions, by metric: predicted, low and high end of its band, measured.
    pub fn figures(&self) -> impl Iterator<Item = (ErrorMetric, [f64; 4])> {
        Observed::ALL.into_iter().map(ErrorMetric::from).filter_map(|metric| {
            let (ComparedCase { predicted, measured, .. }, band) = (&self.compared, self.bands.get(&metric)?);
            Some((metric, [metric.of(predicted)?, band.low, band.high, metric.of(measured)?]))
        })
    }

    /// In the form that `training/calibration/fit.py` reads: for each metric the logarithm of measured over predicted,
    /// and its response to the factors on prefill and decode.
    pub fn response(&self) -> Value {
        let observed: Map<String, Value> = self
            .known
            .observed
            .iter()
            .filter_map(|one| {
                let name = serde_json::to_value(one.metric).ok()?.as_str()?.to_owned();
                let [prefill, decode, _] = one.response;
                Some((name, json!([one.log_ratio, prefill, decode])))
            })
            .collect();
        let (id, contributor) = (&self.compared.id, &self.contributor);
        json!({ "id": id, "contributor": contributor, "point": self.known.point, "observed": observed })
    }
}
