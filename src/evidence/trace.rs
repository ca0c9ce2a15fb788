//! Measured traces, run again in the simulator.

use serde::Serialize;

use super::cases::{TraceCase, TracedRequest, dtype, model};
use super::errors::Errors;
use super::serving::{Ask, Skipped, texts};
use crate::config::catalog::{Catalog, Physics};
use crate::config::{Dtype, Lengths, Load, ModelChoice, Overrides, Scenario, Workload, check, link};
use crate::efficiency::Efficiencies;
use crate::serving::sim::{Arrivals, Limits, Metrics, Request, metrics, simulate};
use crate::serving::table::TablePlan;
use crate::serving::{memory_of, replica};
use crate::units::significant;

/// Limits of one rank in LLMServingSim's record of its runs (`bench/examples`, `vllm/meta.json`). The RTX 4090,
/// started with twice as many sequences, has memory for fifty.
const MAX_SEQS: u32 = 128;
const TOKEN_BUDGET: u32 = 2048;

/// Means over a trace's requests in milliseconds, and its output tokens per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Times {
    pub ttft_ms: f64,
    pub tpot_ms: f64,
    pub output_per_s: f64,
}

/// One trace beside its measurement.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    pub id: String,
    pub predicted: Times,
    pub measured: Times,
    /// Its mean load, as a link.
    pub link: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct TraceReport {
    pub cases: usize,
    pub skipped: Vec<Skipped>,
    pub throughput: Option<Errors>,
    pub ttft: Option<Errors>,
    pub tpot: Option<Errors>,
}

/// Runs every trace again.
pub fn trace_report(
    cases: &[&TraceCase],
    core: (&Catalog, &Physics),
    ask: &Ask<'_>,
) -> (TraceReport, Vec<Compared>) {
    let (mut compared, mut skipped) = (Vec::new(), Vec::new());
    for case in cases {
        match compare(case, core, ask) {
            Ok(pair) => compared.push(pair),
            Err(reason) => skipped.push(Skipped { id: case.id.clone(), reason }),
        }
    }
    let errors = |pick: fn(&Times) -> f64| {
        let pairs: Vec<_> =
            compared.iter().map(|case| (pick(&case.predicted), pick(&case.measured))).collect();
        Errors::of(&pairs)
    };
    let report = TraceReport {
        cases: compared.len(),
        throughput: errors(|times| times.output_per_s),
        ttft: errors(|times| times.ttft_ms),
        tpot: errors(|times| times.tpot_ms),
        skipped,
    };
    (report, compared)
}

fn compare(
    case: &TraceCase,
    (catalog, physics): (&Catalog, &Physics),
    ask: &Ask<'_>,
) -> Result<Compared, String> {
    let scenario = scenario(case, catalog)?;
    let (setup, issues) = check(&scenario, catalog);
    let setup = setup.ok_or_else(|| texts(&issues))?;
    let memory = memory_of(&setup).map_err(|issues| texts(&issues))?;
    let most = |of: fn(&TracedRequest) -> u32| case.requests.iter().map(of).max().unwrap_or(1);
    let (prompt, output) = (most(|request| request.prompt), most(|request| request.output));
    let extent = replica::extent(&setup, case.requests.len() as u32, prompt, output);
    let plan = TablePlan::new(&setup, physics, &extent).map_err(|missing| missing.to_string())?;
    let learned = Efficiencies::Learned(ask(plan.rows())?);
    let table = plan.finish(&learned).ok_or("the models did not answer every row")?;
    let requests: Vec<Request> = case
        .requests
        .iter()
        .map(|request| Request { prompt: request.prompt, output: request.output })
        .collect();
    let arrivals = Arrivals::Times(case.requests.iter().map(|request| request.arrival_s).collect());
    let policy = replica::policy(&setup, &memory);
    let outcome =
        simulate(&policy, &requests, &arrivals, &table.under(&setup.engine.host), Limits::default())
            .map_err(|error| error.to_string())?;
    let found = metrics(&outcome).ok_or("no request was served")?;
    let link = link::encode(&on_average(case, scenario));
    Ok(Compared { id: case.id.clone(), predicted: predicted(&found)?, measured: measured(case), link })
}

fn predicted(found: &Metrics) -> Result<Times, String> {
    let tpot = found.tpot.ok_or("no output has a second token")?;
    Ok(Times { ttft_ms: found.ttft.mean * 1e3, tpot_ms: tpot.mean * 1e3, output_per_s: found.output_per_s })
}

/// The same means of what was measured; the run ends with its last token.
fn measured(case: &TraceCase) -> Times {
    let count = case.requests.len().max(1) as f64;
    let tpot = |request: &TracedRequest| {
        let others = request.output.checked_sub(1).filter(|&others| others > 0)?;
        Some((request.e2e_ms - request.ttft_ms) / f64::from(others))
    };
    let tpots: Vec<f64> = case.requests.iter().filter_map(tpot).collect();
    let begin = case.requests.iter().map(|request| request.arrival_s).fold(f64::INFINITY, f64::min);
    let ends = case.requests.iter().map(|request| request.arrival_s + request.e2e_ms * 1e-3);
    let tokens: f64 = case.requests.iter().map(|request| f64::from(request.output)).sum();
    Times {
        ttft_ms: case.requests.iter().map(|request| request.ttft_ms).sum::<f64>() / count,
        tpot_ms: tpots.iter().sum::<f64>() / tpots.len().max(1) as f64,
        output_per_s: tokens / (ends.fold(0.0, f64::max) - begin),
    }
}

/// The same with the trace's means: what a link can hold of it.
fn on_average(case: &TraceCase, scenario: Scenario) -> Scenario {
    let count = case.requests.len().max(1) as f64;
    let mean = |of: fn(&TracedRequest) -> u32| {
        let sum: f64 = case.requests.iter().map(|request| f64::from(of(request))).sum();
        (sum / count).round().max(1.0) as u32
    };
    let ends = case.requests.iter().map(|request| request.arrival_s);
    let (first, last) = (ends.clone().fold(f64::INFINITY, f64::min), ends.fold(0.0, f64::max));
    let rate = significant((count - 1.0) / (last - first), 3);
    let workload = Workload {
        isl: Lengths::Fixed(mean(|request| request.prompt)),
        osl: mean(|request| request.output),
        load: Load::Rate(rate),
        ..scenario.workload
    };
    Scenario { workload, ..scenario }
}

fn scenario(case: &TraceCase, catalog: &Catalog) -> Result<Scenario, String> {
    let most = |of: fn(&TracedRequest) -> u32| case.requests.iter().map(of).max().unwrap_or(1);
    Ok(Scenario {
        model: ModelChoice::Catalog(model(catalog, &case.model)?.id.clone()),
        gpu: case.gpu.clone(),
        engine: case.engine.clone(),
        tp: case.tp,
        pp: case.pp,
        dp: case.dp_attention,
        ep: case.ep,
        replicas: 1,
        weights: Some(dtype(&case.precision)?),
        kv: Dtype::Bf16,
        workload: Workload {
            isl: Lengths::Fixed(most(|request| request.prompt)),
            osl: most(|request| request.output),
            load: Load::Concurrency(case.requests.len() as u32),
            ..Workload::default()
        },
        overrides: Overrides {
            token_budget: Some(TOKEN_BUDGET),
            max_seqs: Some(MAX_SEQS),
            ..Overrides::default()
        },
        measured: crate::config::Measured::default(),
    })
}
