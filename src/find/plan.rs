//! One plan: a layout and its replicas, with its simulated results.

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::Value;

use super::ranking_cost::{RankedBy, RankingCost};
use crate::config::link::{Link, encode};
use crate::config::{Dtype, Field, Issue, Scenario, Setup};
use crate::serving::run::{Bands, Power, Run};
use crate::serving::sim::{LimitResult, Stats};
use crate::units::{Dollars, tenths};

/// The limit missed by most, or a load that is not kept up with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BrokenLimit {
    /// `slo_ttft`, `slo_tpot`, `slo_e2e` or `slo_share`; the load's field if more arrives than is served.
    pub field: Field,
    /// The result, in seconds; a share of requests for `slo_share`, requests served per second for a load.
    pub at: f64,
    /// The limit, in the same unit.
    pub limit: f64,
    pub text: String,
}

/// A configuration that serves the load; all figures are from its simulated run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Plan"))]
pub struct DeploymentPlan {
    /// The fragment of a link to the plan.
    pub link: String,
    /// The plan as a JSON scenario.
    #[cfg_attr(test, ts(type = "Config"))]
    pub config: Value,
    /// Short name: `3 × B200, NVFP4, vLLM, TP 1`.
    pub name: String,
    pub gpu: String,
    pub gpus: u32,
    /// Only the decode replicas, if there are prefill workers.
    pub replicas: u32,
    /// For all GPUs. All figures in dollars are absent if no price is known.
    pub dollars_per_hour: Option<f64>,
    /// Basis of the price: on demand or reserved with the catalog's source, given, or own hardware.
    pub price_from: Option<String>,
    /// With a spare replica, so that the limits hold while one is down (N+1).
    pub dollars_per_hour_with_spare: Option<f64>,
    /// What the fleet or the budget lacks for that spare replica; `None` if it has all of it.
    pub spare_lacks: Option<String>,
    /// The whole cost over prompt tokens alone.
    pub dollars_per_million_input: Option<f64>,
    /// The whole cost over output tokens alone.
    pub dollars_per_million_output: Option<f64>,
    /// The cost over prompt and output tokens together.
    pub dollars_per_million_total: Option<f64>,
    /// Seconds from the start of a job to its last answer, if the load is one; and dollars for all GPUs meanwhile.
    pub job_seconds: Option<f64>,
    pub job_dollars: Option<f64>,
    /// Seconds.
    pub ttft: Stats,
    /// `None` with one output token.
    pub tpot: Option<Stats>,
    pub e2e: Stats,
    /// All replicas together.
    pub requests_per_s: f64,
    pub output_per_s: f64,
    pub total_per_s: f64,
    /// Output tokens per second while the load lasts, which cost is for; with a stated number of requests the rates above are of
    /// the whole run, up to its last answer.
    pub sustained_output_per_s: f64,
    /// Watts and joules; `None` if the GPU's power is unknown.
    pub power: Option<Power>,
    /// 80 % bands; `None` without calibration or while not yet known.
    pub bands: Option<Bands>,
    /// The probability that measurements meet every limit; `None` without limits, or while `bands` is not yet
    /// known.
    pub chance_within_limits: Option<f64>,
    /// Every limit with the result at the required percentile.
    pub limits: Vec<LimitResult>,
    /// Share of requests that meet all limits; `None` without limits.
    pub goodput_share: Option<f64>,
    /// Multiple of the load that these replicas serve before a limit breaks; `None` while not yet known, and for a job
    /// without limits.
    pub headroom: Option<f64>,
    /// Whether `headroom` is a lower bound: more was not tried.
    pub headroom_is_least: bool,
    /// What breaks with one replica fewer; `None` if not simulated, or there is only one.
    pub one_less: Option<BrokenLimit>,
    /// Why the plan ranks behind the first; `None` for the first.
    pub drawback: Option<String>,
    /// Caveats: estimates, and what was not measured.
    pub issues: Vec<Issue>,
}

impl DeploymentPlan {
    /// Whether prompts are prefilled by separate workers.
    pub fn is_disaggregated(&self) -> bool {
        self.config.get(Field::PrefillWorkers.id()).is_some()
    }
}

/// A layout with its replicas, as kept by the search.
#[derive(Debug, Clone)]
pub struct Found {
    pub scenario: Scenario,
    pub setup: Setup,
    pub issues: Vec<Issue>,
    pub replicas: u32,
    pub run: Run,
    pub one_less: Option<BrokenLimit>,
    /// What breaks with one prefill worker fewer.
    pub worker_less: Option<BrokenLimit>,
    /// Load multiple, and whether it is a lower bound.
    pub headroom: Option<(f64, bool)>,
    pub bands: Option<Bands>,
}

impl Found {
    pub fn ranking_cost(&self) -> RankingCost {
        RankingCost::of(&self.setup, self.replicas)
    }

    pub fn ranked_by(&self) -> RankedBy {
        RankedBy::of(&self.setup.workload)
    }

    /// What the plan is ranked by: its price, or that of the job.
    pub fn rank(&self) -> RankingCost {
        self.ranked(self.ranking_cost())
    }

    /// What the plan is ranked by if GPUs count rather than dollars.
    pub fn rank_by_gpus(&self) -> RankingCost {
        self.ranked(RankingCost::Gpus(f64::from(self.gpus())))
    }

    fn ranked(&self, ranking_cost: RankingCost) -> RankingCost {
        self.ranked_by().rank(ranking_cost, self.run.sustained(self.run.metrics.output_per_s))
    }

    /// Seconds that a job takes and what it costs, if known.
    pub fn job(&self) -> Option<(f64, Option<f64>)> {
        let seconds = self.run.metrics.duration;
        let dollars = self.ranking_cost().dollars().map(|hourly| hourly / 3600.0 * seconds);
        self.ranked_by().is_of_job().then_some((seconds, dollars))
    }

    /// Total number of GPUs.
    pub fn gpus(&self) -> u32 {
        let first = self.setup.prefill.as_ref().map_or(0, |pool| pool.setup.gpus());
        self.setup.parallel.gpus() * self.replicas + first
    }

    /// Whether prompts are prefilled by separate workers.
    pub fn is_disaggregated(&self) -> bool {
        self.setup.prefill.is_some()
    }

    /// Share of requests that meet all limits.
    pub fn share(&self) -> Option<f64> {
        self.run.share_within_limits()
    }

    /// Better plans first: by cost, then GPUs, then the share of requests that meet the limits, then speed. Among
    /// speeds within a hundredth of each other, the plan that needs less host memory is better.
    pub fn order(&self, other: &Self) -> Ordering {
        self.order_by_cost(other)
            .then(other.share().unwrap_or(1.0).total_cmp(&self.share().unwrap_or(1.0)))
            .then(self.hundredths().total_cmp(&other.hundredths()))
            .then(self.setup.prefill_setup().host_gib().total_cmp(&other.setup.prefill_setup().host_gib()))
            .then(self.run.metrics.e2e.mean.total_cmp(&other.run.metrics.e2e.mean))
            .then_with(|| encode(&self.scenario).cmp(&encode(&other.scenario)))
    }

    /// The cheaper one, or the one of fewer GPUs.
    pub fn order_by_cost(&self, other: &Self) -> Ordering {
        self.rank().order(other.rank()).then(self.gpus().cmp(&other.gpus()))
    }

    /// The probability that measurements meet every limit; `None` without limits, or while it is not yet known.
    pub fn chance_within_limits(&self) -> Option<f64> {
        self.bands.as_ref().and_then(|bands| bands.keep(&self.run))
    }

    /// The probability that measurements meet every limit, in tenths, for comparisons.
    pub fn tenths(&self) -> Option<u32> {
        self.chance_within_limits().map(tenths)
    }

    /// E2E on a logarithmic scale, rounded to a hundredth.
    fn hundredths(&self) -> f64 {
        (self.run.metrics.e2e.mean.ln() * 100.0).round()
    }

    /// The plan with the start its load was simulated with, so that its link gives the same run.
    pub(super) fn begun(mut self) -> Self {
        self.setup.workload.start = self.run.start;
        self.scenario.workload.start = self.run.start;
        self
    }

    pub fn scenario(&self) -> Scenario {
        Scenario { replicas: self.replicas, ..self.scenario.clone() }
    }

    /// With one replica more and, if there are prefill workers, one of these more.
    pub fn with_spare(&self) -> Setup {
        let mut setup = Setup { replicas: self.replicas + 1, ..self.setup.clone() };
        setup.prefill.iter_mut().for_each(|pool| pool.setup.replicas += 1);
        setup
    }

    /// The plan as shown, with `drawback` saying why it is not the first.
    pub fn plan(&self, name: String, drawback: Option<String>) -> DeploymentPlan {
        let link = Link::new(self.scenario());
        let metrics = &self.run.metrics;
        let hourly = self.ranking_cost().dollars();
        let per_million =
            |tokens_per_s: f64| Some(Dollars(hourly?).per_million(self.run.sustained(tokens_per_s))?.0);
        DeploymentPlan {
            link: link.encode(),
            config: link.to_json(),
            name,
            gpu: self.setup.gpu.id.clone(),
            gpus: self.gpus(),
            replicas: self.replicas,
            dollars_per_hour: hourly,
            price_from: None,
            dollars_per_hour_with_spare: self.with_spare().dollars_per_hour(),
            spare_lacks: None,
            dollars_per_million_input: per_million(metrics.total_per_s - metrics.output_per_s),
            dollars_per_million_output: per_million(metrics.output_per_s),
            dollars_per_million_total: per_million(metrics.total_per_s),
            job_seconds: self.job().map(|(seconds, _)| seconds),
            job_dollars: self.job().and_then(|(_, dollars)| dollars),
            ttft: metrics.ttft,
            tpot: metrics.tpot,
            e2e: metrics.e2e,
            requests_per_s: metrics.requests_per_s,
            output_per_s: metrics.output_per_s,
            total_per_s: metrics.total_per_s,
            sustained_output_per_s: self.run.sustained(metrics.output_per_s),
            power: self.run.power,
            bands: self.bands.clone(),
            chance_within_limits: self.chance_within_limits(),
            limits: self.run.limits.clone(),
            goodput_share: self.share(),
            headroom: self.headroom.map(|(times, _)| times),
            headroom_is_least: self.headroom.is_some_and(|(_, least)| least),
            one_less: self.one_less.clone(),
            drawback,
            issues: self.issues.clone(),
        }
    }
}

/// Chart data of a simulated plan, ranked or not.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedPlan {
    pub gpu: String,
    pub engine: String,
    pub weights: Dtype,
    /// Output tokens per second of the whole run, as in [`DeploymentPlan`].
    pub per_gpu: f64,
    /// `None` with one output token.
    pub per_user: Option<f64>,
    /// If a price is known.
    pub dollars_per_million_output: Option<f64>,
    /// Mean, in seconds.
    pub e2e: f64,
}

impl SimulatedPlan {
    pub fn of(found: &Found) -> Self {
        let Found { setup, run, .. } = found;
        let output = run.metrics.output_per_s;
        let sustained = run.sustained(output);
        Self {
            gpu: setup.gpu.name.clone(),
            engine: setup.engine.name.clone()
                + if found.is_disaggregated() { ", separate prefill" } else { "" },
            weights: setup.weights,
            per_gpu: output / f64::from(found.gpus()),
            per_user: run.metrics.tpot.map(|tpot| 1.0 / tpot.mean),
            dollars_per_million_output: found
                .ranking_cost()
                .dollars()
                .and_then(|hourly| Some(Dollars(hourly).per_million(sustained)?.0)),
            e2e: run.metrics.e2e.mean,
        }
    }
}

/// Whether a run meets its limits or, without limits, keeps up with its load.
pub fn meets_limits(run: &Run) -> bool {
    run.meets_limits().unwrap_or(run.saturation.is_none())
}
