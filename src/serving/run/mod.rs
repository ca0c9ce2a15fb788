//! Runs of many requests, simulated: what `vllm bench serve` would report of a setup, and how that changes with
//! the load.
//!
//! A table of step times is planned and answered once ([`RunPlan`]); any number of runs then follow from it
//! ([`Runner`]), and a [`Sweep`] says which of them a picture of the setup needs.

mod commands;
mod lengths;
mod report;
mod sweep;
mod trace;

pub use commands::Commands;
pub use lengths::log_normal;
pub use lengths::requests;
pub use report::{Point, Run};
pub use sweep::Sweep;
pub use trace::{Trace, histogram};

use super::fit::clients_per_replica;
use super::plan::physics;
use super::sim::{Arrivals, Limits, Policy, Request, SimError, simulate};
use super::table::{Extent, StepTable, TablePlan};
use super::{memory_of, replica};
use crate::config::{Field, Issue, Load, Setup};
use crate::efficiency::{Efficiencies, Rows};

/// Requests of each client of a closed loop, as in the measured runs of InferenceX.
const REQUESTS_PER_CLIENT: u32 = 10;
/// Requests at least, so that percentiles say something.
const LEAST_REQUESTS: u32 = 100;
/// Requests at most, unless there are more clients: a run stays a matter of a second.
const MOST_REQUESTS: u32 = 50_000;
/// Requests that arrive at a rate: the default of `vllm bench serve`.
const REQUESTS_AT_RATE: u32 = 1000;
/// Draws are always the same.
const SEED: u64 = 0;
/// Moments kept of the timeline, about.
const MOMENTS: usize = 120;
/// Steps of one run at most: seconds of computing.
const STEPS: u64 = 2_000_000;

/// A setup whose step times are counted; the models have not answered yet.
#[derive(Debug, Clone)]
pub struct RunPlan {
    setup: Setup,
    policy: Policy,
    table: TablePlan,
    trace: Option<Trace>,
}

/// A setup whose step times are known.
#[derive(Debug, Clone)]
pub struct Runner {
    setup: Setup,
    policy: Policy,
    table: StepTable,
    trace: Option<Trace>,
}

impl RunPlan {
    /// # Errors
    /// An issue that names the figure the catalogs lack, or says that nothing fits.
    pub fn new(setup: &Setup) -> Result<Self, Vec<Issue>> {
        Self::of(setup.clone(), None)
    }

    /// Replays `trace` instead of the setup's lengths: at the setup's rate, or else at its own pace.
    ///
    /// # Errors
    /// As [`RunPlan::new`], and where a trace has no pace.
    pub fn of_trace(setup: &Setup, trace: Trace) -> Result<Self, Vec<Issue>> {
        let none = "all requests of the trace arrive at once: use a batch instead";
        let own = trace.rate().ok_or_else(|| vec![Issue::error(Field::Trace, none)])?;
        let rate = if let Load::Rate(rate) = setup.load { rate } else { own };
        let (prompt, output) = trace.means();
        let whole = |tokens: f64| tokens.round().max(1.0) as u32;
        let load = Load::Rate(rate);
        let (prompts, osl) = (vec![whole(prompt)], whole(output));
        let of_trace = Setup { load, prompts, osl, burstiness: 1.0, ..setup.clone() };
        let setup = Setup { spread: 0.0, log_spread: 0.0, histogram: Vec::new(), ..of_trace };
        Self::of(setup, Some(trace))
    }

    fn of(setup: Setup, trace: Option<Trace>) -> Result<Self, Vec<Issue>> {
        let setup = &setup;
        let memory = memory_of(setup)?;
        let policy = replica::policy(setup, &memory);
        let missing = |text: String| vec![Issue::error(Field::Gpu, text)];
        let table = TablePlan::new(setup, &physics()?, &extent(setup, &policy, trace.as_ref()))
            .map_err(|figure| missing(figure.to_string()))?;
        Ok(Self { setup: setup.clone(), policy, table, trace })
    }

    /// The rows the models are asked for.
    pub fn rows(&self) -> &Rows {
        self.table.rows()
    }

    /// None if `efficiencies` does not answer every row.
    pub fn finish(self, efficiencies: &Efficiencies) -> Option<Runner> {
        let table = self.table.finish(efficiencies)?;
        Some(Runner { setup: self.setup, policy: self.policy, table, trace: self.trace })
    }
}

/// The largest steps that any load of the sweep asks of a rank.
fn extent(setup: &Setup, policy: &Policy, trace: Option<&Trace>) -> Extent {
    let clients = match setup.load {
        Load::Concurrency(clients) => sweep::most_clients(clients),
        Load::Rate(_) => policy.max_seqs.saturating_mul(policy.ranks),
        Load::Batch(size) => size,
    };
    let (prompt, output) = trace.map_or_else(|| setup.longest(), Trace::longest);
    replica::extent(setup, clients, prompt, output)
}

impl Runner {
    /// With a trace: the setup of its means.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// One run under `load`, whatever the setup's own load is.
    ///
    /// # Errors
    /// What to change so that it can be served.
    pub fn run(&self, load: Load) -> Result<Run, Issue> {
        let (requests, arrivals, replicas) = self.requests(load);
        let cost = self.table.under(&self.setup.engine.host);
        let limits = Limits { steps: STEPS, moments: MOMENTS };
        let outcome = simulate(&self.policy, &requests, &arrivals, &cost, limits)
            .map_err(|error| self.issue(load, &error))?;
        let kv_tokens = self.policy.kv_tokens * u64::from(self.policy.ranks);
        let mut run = Run::of(load, &outcome, replicas, kv_tokens, self.setup.slos)
            .ok_or_else(|| Issue::error(Field::Load, "no request was served"))?;
        if let Some(saturation) = &mut run.saturation {
            saturation.served_per_s = self.capacity().unwrap_or(saturation.served_per_s);
        }
        Ok(run)
    }

    /// Requests per second that all replicas serve when none ever idles: those of as many clients as they have slots.
    /// Where more arrive, TTFT grows without bound. None if nothing can be served.
    pub fn capacity(&self) -> Option<f64> {
        let prompt = self.setup.prompts.first().copied().unwrap_or(1);
        let tokens = u64::from(prompt) + u64::from(self.setup.osl);
        let of_rank = (self.policy.kv_tokens / tokens).clamp(1, u64::from(self.policy.max_seqs)) as u32;
        let slots = of_rank.saturating_mul(self.policy.ranks).saturating_mul(self.setup.replicas);
        let full = self.run(Load::Concurrency(slots.min(sweep::MOST_CLIENTS))).ok()?;
        Some(full.metrics.requests_per_s)
    }

    /// The requests of one replica, how they arrive, and how many replicas are so loaded.
    fn requests(&self, load: Load) -> (Vec<Request>, Arrivals, f64) {
        let replicas = f64::from(self.setup.replicas.max(1));
        if let (Some(trace), Load::Rate(rate)) = (&self.trace, load) {
            let (arrivals, requests) = trace.share(self.setup.replicas as usize);
            let slower = trace.rate().map_or(1.0, |own| own / rate);
            let arrivals = arrivals.into_iter().map(|arrival| arrival * slower).collect();
            return (requests, Arrivals::Times(arrivals), replicas);
        }
        let (arrivals, replicas) = match load {
            Load::Concurrency(clients) => {
                let (clients, busy) = clients_per_replica(&self.setup, clients);
                (Arrivals::Closed { clients: clients.ceil() as u32 }, busy)
            }
            Load::Rate(rate) => {
                let per_s = rate / replicas;
                (Arrivals::Rate { per_s, burstiness: self.setup.burstiness, seed: SEED }, replicas)
            }
            Load::Batch(_) => (Arrivals::AtOnce, replicas),
        };
        let count = requests_of(&self.setup, load);
        (requests(&self.setup, load, count as usize, SEED), arrivals, replicas)
    }

    fn issue(&self, load: Load, error: &SimError) -> Issue {
        let (field, advice) = match error {
            SimError::KvCapacity { .. } | SimError::ContextLimit { .. } if self.trace.is_some() => {
                (Field::Trace, "leave it out, or shorten it")
            }
            SimError::KvCapacity { .. } => (Field::Isl, "shorten it, or take more GPUs for each replica"),
            SimError::ContextLimit { .. } => (Field::Isl, "shorten the prompt or the output"),
            SimError::StepBudget { .. } => (Field::TokenBudget, "raise the token budget"),
            SimError::StepLimit { .. } => (Field::Osl, "shorten the output, or take fewer clients"),
            _ => (
                match load {
                    Load::Concurrency(_) => Field::Concurrency,
                    Load::Rate(_) => Field::Rate,
                    Load::Batch(_) => Field::Batch,
                },
                "take another load",
            ),
        };
        Issue::error(field, format!("{error}: {advice}"))
    }
}

/// Requests that a run of `load` sends to one replica.
fn requests_of(setup: &Setup, load: Load) -> u32 {
    match load {
        Load::Concurrency(clients) => {
            let (clients, _) = clients_per_replica(setup, clients);
            let clients = clients.ceil() as u32;
            let requests = clients.saturating_mul(REQUESTS_PER_CLIENT).max(LEAST_REQUESTS);
            requests.min(MOST_REQUESTS.max(clients))
        }
        Load::Rate(_) => REQUESTS_AT_RATE,
        Load::Batch(size) => size.div_ceil(setup.replicas.max(1)),
    }
}
