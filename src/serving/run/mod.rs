//! Simulated runs of many requests: what `vllm bench serve` would report for a setup, and how that changes with
//! load.
//!
//! A table of step times is planned and answered once, together with the plan; any number of runs then follow from
//! it ([`Runner`]), and a [`Sweep`] picks the ones for a curve.

mod alone;
mod calibrated;
mod capacity;
mod commands;
mod count;
mod floor;
mod lengths;
mod options;
mod own;
pub mod pools;
pub mod power;
mod report;
mod settle;
mod sweep;
mod trace;
mod trial;

pub use alone::Alone;
pub use calibrated::{Bands, Calibrated, Spread, factors, versus};
pub use commands::{Commands, checkpoint_name, model_notes};
pub use lengths::{from_table, log_normal, longest, means, requests};
pub use own::{OwnRuns, weigh};
pub use power::Power;
pub use report::{Lasting, Point, PointBands, Run};
pub use sweep::Sweep;
pub use trace::{Trace, histogram};
pub use trial::ramp_of;

use std::sync::{Arc, OnceLock};

use self::calibrated::calibration_of;
use super::fit::clients_per_copy;
use super::replica;
use super::report::Memory;
use super::sim::{
    Arrivals, Limits, Metrics, Outcome, Policy, Pool, Request, Saturation, SimError, simulate,
    simulate_disaggregated,
};
use super::table::{Extent, Hosted, Phases, PlannedTable, StepTable, TablePlan, Tables};
use crate::calibration::{Calibration, Factors, KnownRun};
pub(crate) use crate::config::catalog::numbers::requests::constants;
use crate::config::{Field, Issue, Load, MissingFigure, Setup, Turns};
use crate::efficiency::{Efficiencies, Rows};
use options::RunOptions;
use pools::{PrefillPlan, PrefillRunner};

/// Maximum number of requests, unless there are more clients: keeps a run to about a second.
const MOST_REQUESTS: u32 = 50_000;
/// Fixed seed.
const SEED: u64 = 0;
/// Approximate number of points in the timeline.
const MOMENTS: usize = 120;
/// Maximum steps per run: seconds of computing.
const STEPS: u64 = 2_000_000;

/// A setup with counted steps, before the models answer.
#[derive(Debug, Clone)]
pub struct RunPlan {
    setup: Setup,
    policy: Policy,
    table: PlannedTable,
    prefill: Option<PrefillPlan>,
    trace: Option<Trace>,
    own: Arc<[KnownRun]>,
}

/// The simulated part of a load: one of `replicas` identical ones, with its KV cache tokens.
struct ReplicaOutcome {
    outcome: Outcome,
    kv_tokens: u64,
    replicas: f64,
}

/// A setup with known step times.
#[derive(Debug, Clone)]
pub struct Runner {
    setup: Setup,
    policy: Policy,
    table: Arc<StepTable>,
    prefill: Option<PrefillRunner>,
    trace: Option<Trace>,
    calibration: Option<&'static Calibration>,
    /// The visitor's measurements.
    own: Arc<[KnownRun]>,
    /// Requests per second; computed when a run may exceed it.
    capacity: OnceLock<Option<Saturation>>,
}

impl RunPlan {
    /// Plans a run, and returns the rows for the models. A trace is replayed instead of the setup's lengths, which are
    /// its means.
    ///
    /// # Errors
    /// If a catalog record lacks a figure.
    pub(super) fn new(
        setup: &Setup,
        memory: &Memory,
        of_prefill: Option<&Memory>,
        trace: Option<Trace>,
        tables: Option<&mut Tables>,
    ) -> Result<(Self, Rows), MissingFigure> {
        let pool = setup.prefill.as_deref().zip(of_prefill);
        let policy = match pool {
            Some(_) => pools::decode_policy(setup, memory),
            None => replica::policy(setup, memory),
        };
        let largest = extent(setup, &policy, trace.as_ref());
        let phases = if pool.is_some() { pools::decode_phases(&policy) } else { Phases::Both };
        let covered = Extent { phases, ..largest };
        let mut table = match tables {
            Some(tables) => tables.plan(setup, &covered)?,
            None => TablePlan::new(setup, &covered)?.into(),
        };
        let mut rows = table.take_rows();
        let prefill = match pool {
            Some((pool, own)) => {
                let largest = extent(&pool.setup, &replica::policy(&pool.setup, own), trace.as_ref());
                let largest = Extent { phases: Phases::Prefill, ..largest };
                let mut plan = PrefillPlan::new((setup, memory), (pool, own), largest, rows)?;
                rows = plan.take_rows();
                Some(plan)
            }
            None => None,
        };
        let own = Arc::default();
        Ok((Self { setup: setup.clone(), policy, table, prefill, trace, own }, rows))
    }

    /// Calibrates on the visitor's measurements in addition to the shipped ones.
    pub(super) fn calibrate_on(&mut self, own: Arc<[KnownRun]>) {
        self.own = own;
    }

    /// `None` if `efficiencies` does not answer every row.
    pub(super) fn finish(&self, efficiencies: &Efficiencies) -> Option<Runner> {
        let table = self.table.finish(efficiencies)?;
        let prefill = match &self.prefill {
            Some(plan) => Some(plan.finish(efficiencies)?),
            None => None,
        };
        let (setup, policy) = (self.setup.clone(), self.policy.clone());
        let (trace, own) = (self.trace.clone(), self.own.clone());
        // The calibration has no runs with pools.
        let calibration = calibration_of(efficiencies).filter(|_| prefill.is_none());
        let capacity = OnceLock::new();
        Some(Runner { setup, policy, table, prefill, trace, calibration, own, capacity })
    }
}

/// The largest steps that any load of the sweep needs from a rank. The load alone does not change points below the
/// largest, so a table made for another load gives the same times.
fn extent(setup: &Setup, policy: &Policy, trace: Option<&Trace>) -> Extent {
    let clients = match setup.workload.load {
        Load::Concurrency(clients) | Load::Sessions(clients) => sweep::most_clients(clients),
        Load::Rate(_) | Load::ConstantRate(_) | Load::SessionRate(_) => {
            policy.max_seqs.saturating_mul(policy.ranks)
        }
        Load::Burst(size) | Load::Offline(size) | Load::Batch(size) => size,
    };
    let (prompt, output) = trace.map_or_else(|| setup.longest(), |trace| longest(&trace.requests));
    replica::extent(setup, clients, prompt, output).on_points()
}

impl Runner {
    /// The setup; for a trace, with its mean lengths.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// One run under `load`, whatever the setup's own load.
    ///
    /// # Errors
    /// What to change so that it can be served.
    pub fn run(&self, load: Load) -> Result<Run, Issue> {
        let run = self.corrected(&self.setup, load, false)?;
        Ok(self.shown(run, load, self.setup.replicas).while_it_lasts())
    }

    /// [`Self::run`] without what only a run that is shown needs.
    fn in_brief_under(&self, load: Load) -> Result<Run, Issue> {
        let run = self.corrected(&self.setup, load, true)?;
        Ok(self.within_capacity(run, load, self.setup.replicas).while_it_lasts())
    }

    /// One run at step times multiplied by `factors`.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn simulated(&self, setup: &Setup, load: Load, factors: Factors) -> Result<Run, Issue> {
        self.simulated_with(setup, load, RunOptions::new(factors, false, &self.steps()))
    }

    fn steps(&self) -> Hosted<'_> {
        self.table.under(&self.setup.engine.host, self.policy.ahead)
    }

    fn simulated_with(&self, setup: &Setup, load: Load, options: RunOptions<'_>) -> Result<Run, Issue> {
        let served = self.filled(setup, load, options).map_err(|error| self.issue(load, &error))?;
        let ReplicaOutcome { outcome, kv_tokens, replicas } = served;
        let run = Run::of(load, &outcome, replicas, kv_tokens, self.setup.workload.slos)
            .ok_or_else(|| Issue::error(Field::Load, "no request was served"))?;
        let arriving = load.is_rate().then(|| setup.requests_at(load.amount()));
        let served = run.saturation.map(|saturation| saturation.served_per_s);
        let of_all = count::while_all_are_there(setup, load, &outcome).map(|per_s| per_s * replicas);
        let sustained = served.into_iter().chain(arriving).reduce(f64::min).or(of_all);
        let is_endless = self.trace.is_none() && count::stated(setup, load).is_none();
        let Metrics { requests_per_s, output_per_s, duration, .. } = run.metrics;
        let watts = outcome.joules / duration * replicas;
        let power = Power::of(setup, watts, output_per_s, requests_per_s);
        let lasting = sustained.filter(|_| is_endless).map(|per_s| {
            let watts = count::lasting_joules(&outcome).map_or(watts, |joules| joules * per_s);
            let output_per_s = output_per_s * per_s / requests_per_s;
            Lasting { per_s, power: Power::of(setup, watts, output_per_s, per_s) }
        });
        let sustained_per_s = sustained.unwrap_or(requests_per_s);
        let fills = load.is_rate() && count::still_fills(&outcome, setup, load, self.held());
        let history_found = count::history_found(setup, &outcome);
        let ends_in_ramp = of_all.is_none() && count::ramp(setup, load).is_some();
        let start = setup.workload.start;
        Ok(Run { power, lasting, sustained_per_s, start, fills, ends_in_ramp, history_found, ..run })
    }

    /// The outcome of `requests` on one replica or both pools, and the tokens that their KV caches hold.
    fn outcome(
        &self,
        requests: &[Request],
        arrivals: &Arrivals,
        RunOptions { factors, in_brief, steps, .. }: RunOptions<'_>,
    ) -> Result<(Outcome, u64), SimError> {
        let cost = steps.times(factors);
        let limits = Limits { steps: STEPS, moments: if in_brief { 0 } else { MOMENTS } };
        let of_replica = self.policy.kv_tokens * u64::from(self.policy.ranks);
        let (outcome, kv_tokens) = match &self.prefill {
            None => (simulate(&self.policy, requests, arrivals, &cost, limits), of_replica),
            Some(prefill) => {
                let of_worker = prefill.policy.kv_tokens * u64::from(prefill.policy.ranks);
                let (workers, replicas) = (prefill.setup.replicas, self.setup.replicas);
                let own = prefill.table.under(&prefill.setup.engine.host, prefill.policy.ahead);
                let first = Pool { policy: &prefill.policy, cost: &own, replicas: workers };
                let then = Pool { policy: &self.policy, cost: &cost, replicas };
                let all = of_worker * u64::from(workers) + of_replica * u64::from(replicas);
                (simulate_disaggregated(first, then, prefill.transfer, requests, arrivals, limits), all)
            }
        };
        let mut outcome = outcome?;
        outcome.wait(factors.wait, arrivals.pause());
        Ok((outcome, kv_tokens))
    }

    /// One replica's requests, their arrivals, and the number of replicas loaded this way.
    fn requests(
        &self,
        setup: &Setup,
        (load, binds): (Load, bool),
        count: usize,
    ) -> (Vec<Request>, Arrivals, f64) {
        let workload = &setup.workload;
        let replicas = count::busy_copies(setup, load, binds);
        let limited = |due| count::limited(setup, due);
        if let (Some(trace), Load::Rate(rate)) = (&self.trace, load) {
            let replicas = replicas.floor();
            let (arrivals, requests) = trace.share(replicas as usize);
            let slower = trace.rate().map_or(1.0, |own| own / rate);
            let arrivals = arrivals.into_iter().map(|arrival| arrival * slower).collect();
            return (requests, limited(Arrivals::Times(arrivals)), replicas);
        }
        let drawn = |rate: f64| Arrivals::Rate {
            per_s: rate / replicas,
            burstiness: workload.burstiness,
            seed: SEED,
        };
        // Replicas with a full share: if the load does not divide by their number, some get less than the one simulated.
        let shares = load.amount() / f64::from(count::requests_of(setup, load));
        let (arrivals, replicas) = match load {
            Load::Concurrency(clients) => clients_of(setup, clients),
            Load::Rate(rate) => (limited(drawn(rate)), replicas),
            Load::ConstantRate(rate) => {
                let times = (0..count).map(|request| request as f64 * replicas / rate);
                (limited(Arrivals::Times(times.collect())), replicas)
            }
            Load::Burst(_) => match workload.max_in_flight {
                Some(most) => {
                    let (of_replica, replicas) = count::clients_of_one(setup, most);
                    (Arrivals::Closed { clients: of_replica }, replicas)
                }
                None => (Arrivals::AtOnce, shares),
            },
            Load::Offline(_) | Load::Batch(_) => (Arrivals::AtOnce, shares),
            Load::Sessions(users) => {
                let (begin, busy) = clients_of(setup, users);
                (in_turns(workload.turns, begin), busy)
            }
            Load::SessionRate(rate) => (in_turns(workload.turns, drawn(rate)), replicas),
        };
        (requests(setup, load, count, SEED), arrivals, replicas)
    }

    fn issue(&self, load: Load, error: &SimError) -> Issue {
        let (field, advice) = match error {
            SimError::KvCapacity { .. } | SimError::ContextLimit { .. } if self.trace.is_some() => {
                (Field::Trace, "leave it out, or shorten it")
            }
            SimError::KvCapacity { .. } | SimError::ContextLimit { .. } if load.is_sessions() => {
                (Field::Turns, "use fewer turns, or shorter messages and answers")
            }
            SimError::NoRoom => (Field::Tp, "use more GPUs per replica"),
            SimError::KvCapacity { .. } => (Field::Isl, "shorten it, or use more GPUs per replica"),
            SimError::ContextLimit { .. } => (Field::Isl, "shorten the prompt or the output"),
            SimError::StepBudget { .. } => (Field::TokenBudget, "raise the token budget"),
            SimError::StepLimit { .. } if self.trace.is_some() => (Field::Trace, "shorten it"),
            SimError::StepLimit { .. } if matches!(load, Load::Burst(_)) => {
                (Field::Burst, "use fewer prompts")
            }
            SimError::StepLimit { .. } if count::stated(&self.setup, load).is_some() => {
                (Field::Requests, "use fewer requests")
            }
            SimError::StepLimit { .. } => (Field::Osl, "shorten the output, or lower the load"),
            _ => (load.size(), "choose another load"),
        };
        Issue::error(field, format!("{error}: {advice}"))
    }
}

/// The arrivals of the replica with most clients, and how many such replicas all clients make.
fn clients_of(setup: &Setup, clients: u32) -> (Arrivals, f64) {
    let (of_replica, replicas) = count::clients_of_one(setup, clients);
    let arrivals = match setup.workload.start.seconds(clients) {
        None => Arrivals::Closed { clients: of_replica },
        Some(seconds) => Arrivals::Ramp { clients: of_replica, seconds },
    };
    (arrivals, replicas)
}

fn in_turns(Turns { count, think_s, .. }: Turns, begin: Arrivals) -> Arrivals {
    Arrivals::Sessions { turns: count, think_s, begin: Box::new(begin) }
}
