//! Errors on measured runs of prefill and decode pools.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{PoolRun, Side};
use crate::config::catalog::Catalog;
use crate::evidence::cases::{AskLearned, PoolCase, ServedCase};
use crate::evidence::compared::{ComparedCase, ErrorReport, ErrorsByMetric, PeerRow, grouped};
use crate::evidence::served::{TablesOfRuns, attempted, tables};
use crate::serving::table::StepTable;

#[derive(Debug, Clone, Serialize)]
pub struct PoolReport {
    #[serde(flatten)]
    pub all: ErrorReport,
    /// By octaves of clients, keyed by the largest number of each.
    pub by_clients: BTreeMap<u32, ErrorsByMetric>,
    /// By tokens of a prompt.
    pub by_prompt: BTreeMap<u32, ErrorsByMetric>,
    /// By whether tokens were drafted, and whether the recipe is recorded.
    pub by_drafting: BTreeMap<String, ErrorsByMetric>,
    pub by_recipe: BTreeMap<String, ErrorsByMetric>,
    /// By the number of decode GPUs per prefill GPU.
    pub by_ratio: BTreeMap<String, ErrorsByMetric>,
}

/// Replays every case.
pub fn pool_report(
    cases: &[&PoolCase],
    catalog: &Catalog,
    ask: &AskLearned<'_>,
    peers: &[PeerRow],
) -> Result<PoolReport, String> {
    let (ready, mut skipped) =
        attempted(cases, |case| &case.served.id, |&case| Ok((case, PoolRun::of(case, catalog)?)));
    let sides = ready.iter().flat_map(|(_, run)| [&run.prefill, &run.decode]);
    let tables = tables(sides.map(|side| (&side.setup, &side.extent)), ask)?;
    let (compared, more) =
        attempted(&ready, |(case, _)| &case.served.id, |(case, run)| compare(case, run, &tables));
    skipped.extend(more);
    let metrics = &ServedCase::METRICS;
    let of: BTreeMap<&str, &(&PoolCase, PoolRun)> =
        ready.iter().map(|one| (one.0.served.id.as_str(), one)).collect();
    let by = |name: &dyn Fn(&PoolCase, &PoolRun) -> String| {
        grouped(metrics, compared.iter(), |case| {
            of.get(case.id.as_str()).map_or_else(String::new, |(case, run)| name(case, run))
        })
    };
    Ok(PoolReport {
        by_clients: grouped(metrics, compared.iter(), |case| {
            case.concurrency.unwrap_or_default().next_power_of_two()
        }),
        by_prompt: grouped(metrics, compared.iter(), |case| {
            of.get(case.id.as_str()).map_or(0, |(case, _)| case.served.isl)
        }),
        by_drafting: by(&|_, run| match run.decode.setup.workload.drafts.drafted {
            0 => "no drafts".into(),
            drafted => format!("{drafted} drafted"),
        }),
        by_recipe: by(&|_, run| if run.recorded { "recipe on record" } else { "engine's defaults" }.into()),
        by_ratio: by(&|_, run| ratio(run)),
        all: ErrorReport::of(metrics, compared, skipped, peers),
    })
}

/// Decode GPUs per prefill GPU, in octaves.
fn ratio(run: &PoolRun) -> String {
    let gpus = |side: &Side| f64::from(side.setup.own_gpus());
    let octave = (gpus(&run.decode) / gpus(&run.prefill)).log2().floor();
    match octave {
        low if low < 0.0 => "fewer decode GPUs than prefill GPUs".into(),
        low => format!("{} to {} decode GPUs for each of prefill", low.exp2(), (low + 1.0).exp2()),
    }
}

fn compare(case: &PoolCase, run: &PoolRun, tables: &TablesOfRuns) -> Result<ComparedCase, String> {
    let of = |side: &Side| tables.of(&side.setup, &side.extent);
    let (prefill, decode) = (of(&run.prefill)?, of(&run.decode)?);
    let simulate = |first: &StepTable, then: &StepTable| {
        let host = |side: &Side| (side.setup.engine.host.clone(), side.policy.ahead);
        let ((host, ahead), (other, also)) = (host(&run.prefill), host(&run.decode));
        run.simulate(&first.under(&host, ahead), &then.under(&other, also))
    };
    Ok(ComparedCase {
        recorded: Some(run.recorded),
        predicted: simulate(&prefill.learned, &decode.learned)?,
        roofline: simulate(&prefill.roofline, &decode.roofline)?,
        link: run.link.clone(),
        ..case.served.compared()
    })
}
