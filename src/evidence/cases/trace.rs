//! Servers replaying recorded arrivals.

use serde::Deserialize;

use super::{AskLearned, Ran, texts};
use crate::config::catalog::Catalog;
use crate::config::catalog::numbers::recorded_servers::constants;
use crate::config::{Lengths, Load, Overrides, Parallelism, Scenario, Workload, check, link};
use crate::efficiency::{Efficiencies, UNANSWERED};
use crate::evidence::compared::{ComparedCase, ErrorMetric, Times};
use crate::serving::run::{longest, means};
use crate::serving::sim::{Arrivals, Limits, Request, metrics, simulate};
use crate::serving::table::{StepTable, TablePlan};
use crate::serving::{memory_of, replica};
use crate::units::significant;

/// A server serving recorded requests.
#[derive(Debug, Clone, Deserialize)]
pub struct TraceCase {
    #[serde(flatten)]
    pub ran: Ran,
    /// Attention data parallel ranks with separate requests.
    #[serde(default = "one")]
    pub dp_attention: u32,
    /// GPUs the experts are distributed over.
    #[serde(default = "one")]
    pub ep: u32,
    pub requests: Vec<TracedRequest>,
}

fn one() -> u32 {
    1
}

/// One request of a trace: arrival, lengths in tokens, and duration.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct TracedRequest {
    pub arrival_s: f64,
    pub prompt: u32,
    pub output: u32,
    pub ttft_ms: f64,
    pub e2e_ms: f64,
}

impl TraceCase {
    pub const METRICS: [ErrorMetric; 3] = [ErrorMetric::Ttft, ErrorMetric::Tpot, ErrorMetric::Throughput];

    /// Replays the trace.
    pub fn compare(&self, catalog: &Catalog, ask: &AskLearned<'_>) -> Result<ComparedCase, String> {
        let scenario = self.scenario()?;
        let (setup, issues) = check(&scenario, catalog);
        let setup = setup.ok_or_else(|| texts(&issues))?;
        let memory = memory_of(&setup).map_err(|issues| texts(&issues))?;
        let requests = self.sent();
        let (prompt, output) = longest(&requests);
        let extent = replica::extent(&setup, self.requests.len() as u32, prompt, output);
        let plan = TablePlan::new(&setup, &extent)?;
        let arrivals = Arrivals::Times(self.requests.iter().map(|request| request.arrival_s).collect());
        let policy = replica::policy(&setup, &memory);
        let times = |table: Option<StepTable>| {
            let table = table.ok_or(UNANSWERED)?;
            let cost = table.under(&setup.engine.host, policy.ahead);
            let outcome = simulate(&policy, &requests, &arrivals, &cost, Limits::default())
                .map_err(|error| error.to_string())?;
            Times::of(&metrics(&outcome).ok_or("no request was served")?)
        };
        Ok(ComparedCase {
            outside: true,
            predicted: times(plan.finish(&Efficiencies::Learned(ask(plan.rows())?)))?,
            roofline: times(plan.finish(&Efficiencies::Roofline))?,
            measured: self.measured(),
            link: link::encode(&self.on_average(scenario)),
            ..self.ran.compared()
        })
    }

    /// Measured means; the run ends with its last token.
    fn measured(&self) -> Times {
        let count = self.requests.len().max(1) as f64;
        let tpot = |request: &TracedRequest| {
            let others = request.output.checked_sub(1).filter(|&others| others > 0)?;
            Some((request.e2e_ms - request.ttft_ms) / f64::from(others))
        };
        let tpots: Vec<f64> = self.requests.iter().filter_map(tpot).collect();
        let begin = self.requests.iter().map(|request| request.arrival_s).fold(f64::INFINITY, f64::min);
        let ends = self.requests.iter().map(|request| request.arrival_s + request.e2e_ms * 1e-3);
        let tokens: f64 = self.requests.iter().map(|request| f64::from(request.output)).sum();
        Times {
            ttft_ms: Some(self.requests.iter().map(|request| request.ttft_ms).sum::<f64>() / count),
            tpot_ms: Some(tpots.iter().sum::<f64>() / tpots.len().max(1) as f64),
            output_per_s: Some(tokens / (ends.fold(0.0, f64::max) - begin)),
            ..Times::default()
        }
    }

    fn sent(&self) -> Vec<Request> {
        self.requests.iter().map(|request| Request::new(request.prompt, request.output)).collect()
    }

    /// A scenario with the trace's mean lengths and rate, which fit in a link.
    fn on_average(&self, scenario: Scenario) -> Scenario {
        let count = self.requests.len().max(1) as f64;
        let (prompt, output) = means(&self.sent());
        let starts = self.requests.iter().map(|request| request.arrival_s);
        let (first, last) = (starts.clone().fold(f64::INFINITY, f64::min), starts.fold(0.0, f64::max));
        let workload = Workload {
            isl: Lengths::Fixed(prompt),
            osl: output,
            load: Load::Rate(significant((count - 1.0) / (last - first), 3)),
            ..scenario.workload
        };
        Scenario { workload, ..scenario }
    }

    fn scenario(&self) -> Result<Scenario, String> {
        let (prompt, output) = longest(&self.sent());
        let ran = self.ran.scenario()?;
        Ok(Scenario {
            parallel: Parallelism { dp: self.dp_attention, ep: self.ep, ..ran.parallel },
            workload: Workload {
                isl: Lengths::Fixed(prompt),
                osl: output,
                load: Load::Concurrency(self.requests.len() as u32),
                ..Workload::default()
            },
            overrides: Overrides {
                token_budget: Some(constants().token_budget as u32),
                max_seqs: Some(constants().max_seqs as u32),
                ..Overrides::default()
            },
            ..ran
        })
    }
}
