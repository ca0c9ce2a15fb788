//! What a measured run's means become when its steps take longer: what calibration is fitted on.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ServedRun, TablesOfRuns, attempted, tables};
use crate::calibration::{ConfigPoint, Factors, Responses};
use crate::config::catalog::Catalog;
use crate::evidence::cases::{AskLearned, ServedCase};
use crate::evidence::compared::{SkippedCase, Times};
use crate::serving::run::means;

/// A run with its measurement, and its response to longer steps.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    pub id: String,
    pub kind: &'static str,
    pub source: String,
    pub point: ConfigPoint,
    pub factors: Factors,
    pub measured: Times,
    /// By the physics alone.
    pub physics: Times,
    /// With the factors, and with either of them larger, as in [`Responses`].
    pub predicted: Times,
    pub longer_prefill: Times,
    pub longer_decode: Times,
}

/// The responses of all cases at the factors of each, by id; the physics alone where it has none.
pub fn responses(
    cases: &[&ServedCase],
    catalog: &Catalog,
    ask: &AskLearned<'_>,
    factors: &BTreeMap<String, Factors>,
) -> Result<(Vec<Response>, Vec<SkippedCase>), String> {
    let (ready, mut skipped) =
        attempted(cases, |case| &case.id, |&case| Ok((case, ServedRun::of(case, catalog)?)));
    let tables = tables(ready.iter().map(|(_, run)| (&run.setup, &run.extent)), ask)?;
    let of = |(case, run): &(&ServedCase, ServedRun)| {
        response(case, run, &tables, factors.get(&case.id).copied().unwrap_or_default())
    };
    let (found, more) = attempted(&ready, |(case, _)| &case.id, of);
    skipped.extend(more);
    Ok((found, skipped))
}

fn response(
    case: &ServedCase,
    run: &ServedRun,
    tables: &TablesOfRuns,
    factors: Factors,
) -> Result<Response, String> {
    let table = &tables.of(&run.setup, &run.extent)?.learned;
    let hosted = table.under(&run.setup.engine.host, run.policy.ahead);
    let simulate = |factors: Factors| run.simulate(&hosted.times(factors), factors.wait);
    let (physics, in_flight) = simulate(Factors::NONE)?;
    let Responses { at, longer_prefill, longer_decode } =
        Responses::of(factors, |factors, _| simulate(factors).map(|(times, _)| times))?;
    Ok(Response {
        id: case.id.clone(),
        kind: case.kind.id(),
        source: case.source.clone(),
        point: point(case, run, in_flight),
        factors,
        measured: case.measured,
        physics,
        predicted: at,
        longer_prefill,
        longer_decode,
    })
}

/// The calibration point of a measured run: its version is that of the engine that ran, not the catalog's, and its
/// lengths are those that were sent.
pub fn point(case: &ServedCase, run: &ServedRun, in_flight: f64) -> ConfigPoint {
    let (prompt, output) = means(&run.sent.requests);
    let release = |version| run.setup.engine.release(version);
    ConfigPoint {
        version: case.engine_version.as_ref().map(release).unwrap_or_default(),
        prompt: f64::from(prompt),
        output: f64::from(output),
        ..ConfigPoint::of(&run.setup, in_flight)
    }
}
