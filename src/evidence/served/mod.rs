//! Measured server runs, replayed in the simulator.

pub mod calibrated;
mod drafting;
mod earlier;
mod numpy;
pub mod pools;
pub mod ranks;
pub mod report;
pub mod response;
mod scenario;
mod sent;
mod tables;

use std::cell::Cell;

use self::sent::SentRequests;
pub use self::tables::{TablesOfRuns, attempted, on_all_cores, tables};
use super::cases::{LoadKind, ServedCase, texts};
use super::compared::Times;
use super::launch::{ColdStart, LaunchSettings, launch};
use super::older;
use crate::config::catalog::Catalog;
use crate::config::{Batching, Figure, FusedNorms, Scenario, Setup, check, link};
use crate::serving::run::{Power, longest, means};
use crate::serving::sim::{
    Limits, Metrics, Outcome, Policy, Preempt, RankStep, Spent, StepCost, metrics, simulate,
};
use crate::serving::table::{Extent, StepTable};
use crate::serving::{memory_of, replica};

/// A case ready to be simulated.
#[derive(Debug, Clone)]
pub struct ServedRun {
    pub setup: Setup,
    pub launch: LaunchSettings,
    pub policy: Policy,
    pub sent: SentRequests,
    pub extent: Extent,
    /// Seconds that a separate draft model adds to each decode step.
    drafting: f64,
    /// Whether TPOT is that of [`ServedCase::tpot_of_means`].
    tpot_of_means: bool,
    /// The link closest to it.
    pub link: String,
}

impl ServedRun {
    pub fn of(case: &ServedCase, catalog: &Catalog) -> Result<Self, String> {
        let launch = launch(case)?;
        if let Some(excluded) = &launch.excluded {
            return Err(excluded.clone());
        }
        let mut sent = SentRequests::of(case, &launch)?;
        let scenario = scenario::of(case, &launch, &sent)?;
        let setup = checked(&scenario, catalog, &launch, longest(&sent.requests).0)?;
        let mut setup = with_kernels(setup, &launch, case)?;
        if case.kind == LoadKind::Offline && !launch.async_scheduling {
            setup.engine.host.sequence_us = sequence_us(&case.engine, catalog);
        }
        let drafting = drafting::seconds(&setup, launch.draft_passes)?;
        let memory = memory_of(&setup).map_err(|issues| texts(&issues))?;
        // More than the whole GPU, not only the engine's share: no estimate is that far off.
        if memory.weights > memory.total {
            return Err(format!(
                "labelled wrongly: {} of weights per GPU, which has only {}",
                memory.weights.print(),
                memory.total.print()
            ));
        }
        let stretched = |tokens: u32| (f64::from(tokens) * launch.prompt_stretch) as u32;
        sent.requests.iter_mut().for_each(|request| request.prompt = stretched(request.prompt));
        let (prompt, output) = longest(&sent.requests);
        let extent = match case.published {
            // The nominal lengths are the maximum, or slightly more.
            None => replica::extent(&setup, case.concurrency, stretched(case.isl), case.osl),
            Some(_) => replica::extent(&setup, sent.at_once, prompt, output),
        };
        let policy = started(replica::policy(&setup, &memory), &launch, case, &sent);
        if let Some(range) = case.length_range {
            earlier::mark(&mut sent.requests, &launch.series, range, &setup.model, &policy);
        }
        let link = link::encode(&scenario::as_sent(scenario, case, &launch, &sent));
        let tpot_of_means = case.tpot_of_means;
        Ok(Self { setup, launch, policy, sent, extent, drafting, tpot_of_means, link })
    }

    /// The run's means at these step times (for a saturated server, only while all its slots were filled), and the mean number of
    /// requests in flight per replica.
    pub fn simulate(&self, cost: &dyn StepCost, wait: f64) -> Result<(Times, f64), String> {
        let sampling = self.sent.sampling_ns * 1e-9 * f64::from(self.setup.model.vocab);
        let (start, drafting) = (self.launch.cold_start, self.drafting);
        let cost = &AsServed { cost, start, due: Cell::new(true), sampling, drafting };
        let SentRequests { requests, arrivals, .. } = &self.sent;
        let mut outcome = simulate(&self.policy, requests, arrivals, cost, Limits::default())
            .map_err(|error| error.to_string())?;
        outcome.wait(wait, arrivals.pause());
        let found = metrics(&outcome).ok_or("no request was served")?;
        if let Some(full) = self.sent.full {
            let itl = found.itl.ok_or("no output has a second token")?;
            let output_per_s = sent::rate_while_full(&outcome.requests, full as usize);
            let (begin, end) = sent::while_full(&outcome.requests, full as usize);
            let dynamic = (joules_at(&outcome, end) - joules_at(&outcome, begin)) / (end - begin);
            let requests_per_s = output_per_s / f64::from(means(requests).1);
            let power = Power::of(&self.setup, dynamic, output_per_s, requests_per_s);
            let times = Times {
                tpot_ms: Some(itl.p50 * 1e3),
                output_per_s: Some(output_per_s),
                joules_per_output_token: power.map(|power| power.joules_per_output_token),
                power_w_per_gpu: power.map(|power| power.watts_per_gpu),
                idle_w: power.map(|power| power.idle_watts),
                ..Times::default()
            };
            return Ok((times, f64::from(full)));
        }
        Ok((self.times(&found)?, found.in_flight))
    }

    fn times(&self, found: &Metrics) -> Result<Times, String> {
        let times = Times::of(found)?;
        if !self.tpot_of_means {
            return Ok(times);
        }
        let tokens = f64::from(means(&self.sent.requests).1) - 1.0;
        Ok(Times { tpot_ms: Some((found.e2e.mean - found.ttft.mean) * 1e3 / tokens), ..times })
    }
}

impl ServedRun {
    /// The run's means if every kernel reached the roofline, on a host that takes no time: no server was faster.
    pub fn at_peak(&self, roofline: &StepTable) -> Result<Times, String> {
        let (policy, host) = (self.policy.without_frontend(), self.setup.engine.host.without_steps());
        let SentRequests { requests, arrivals, .. } = &self.sent;
        let cost = roofline.under(&host, policy.ahead);
        let outcome = simulate(&policy, requests, arrivals, &cost, Limits::default());
        let found = metrics(&outcome.map_err(|error| error.to_string())?);
        self.times(&found.ok_or("no request was served")?)
    }
}

/// The setup of a run. TensorRT-LLM does not chunk prompts unless told to: a server that was told to is checked with room
/// for the longest prompt.
fn checked(
    scenario: &Scenario,
    catalog: &Catalog,
    launch: &LaunchSettings,
    prompt: u32,
) -> Result<Setup, String> {
    let whole = catalog
        .engine(&scenario.engine)
        .is_some_and(|engine| engine.scheduler.batching == Batching::InFlight);
    let own = scenario.overrides.token_budget.filter(|&budget| whole && launch.chunked && budget < prompt);
    let mut roomy = scenario.clone();
    if own.is_some() {
        roomy.overrides.token_budget = Some(prompt);
    }
    let (setup, issues) = check(&roomy, catalog);
    let setup = setup.ok_or_else(|| texts(&issues))?;
    Ok(Setup { token_budget: own.unwrap_or(setup.token_budget), ..setup })
}

/// Joules that the steps of a run had used by `time`, beyond idle power.
fn joules_at(outcome: &Outcome, time: f64) -> f64 {
    let moments = &outcome.timeline;
    let after = moments.partition_point(|moment| moment.time <= time);
    match (after.checked_sub(1).and_then(|before| moments.get(before)), moments.get(after)) {
        (Some(from), Some(to)) => {
            from.joules + (to.joules - from.joules) * (time - from.time) / (to.time - from.time)
        }
        (Some(_), None) => outcome.joules,
        (None, _) => 0.0,
    }
}

/// Step times of a server that is not warm, or whose sampling does more than take the largest logit.
struct AsServed<'a> {
    cost: &'a dyn StepCost,
    start: Option<ColdStart>,
    /// Whether the step that compiles has not run yet.
    due: Cell<bool>,
    /// Seconds per decoding sequence.
    sampling: f64,
    /// Seconds per step that decodes.
    drafting: f64,
}

impl StepCost for AsServed<'_> {
    fn seconds(&self, ranks: &[RankStep<'_>]) -> f64 {
        self.spent(ranks).seconds
    }

    fn spent(&self, ranks: &[RankStep<'_>]) -> Spent {
        let mut spent = self.cost.spent(ranks);
        let decoding = ranks.iter().map(|rank| rank.decoding).max().unwrap_or(0);
        let drafting = if decoding > 0 { self.drafting } else { 0.0 };
        let sampling = self.sampling * f64::from(decoding) + drafting;
        // Sampling is assumed to draw the same power as the rest of the step.
        spent.joules *= if spent.seconds > 0.0 { 1.0 + sampling / spent.seconds } else { 1.0 };
        spent.seconds += sampling;
        let prompts = |rank: &RankStep| rank.chunks.iter().map(|chunk| chunk.new).sum::<u32>();
        let tokens = ranks.iter().map(prompts).max().unwrap_or(0);
        match self.start.filter(|start| self.due.get() && tokens >= start.tokens) {
            Some(start) => {
                self.due.set(false);
                Spent { seconds: spent.seconds + start.seconds, ..spent }
            }
            None => spent,
        }
    }
}

/// The host time per sequence of a step, in µs, for an engine that is called in its own process and schedules nothing
/// ahead. vLLM's scheduler, sampler and detokeniser are Python there too; no such time was seen for the other engines.
pub fn sequence_us(engine: &str, catalog: &Catalog) -> Figure {
    let known = catalog.engine(engine).filter(|engine| engine.id == "vllm");
    known.map_or(Figure(Some(0.0), String::new()), |engine| engine.host.sequence_us.clone())
}

/// The setup with the kernels that the run's script named, where they were measured, or else those of its version.
fn with_kernels(mut setup: Setup, launch: &LaunchSettings, case: &ServedCase) -> Result<Setup, String> {
    if let Some(version) = launch.built_like.as_ref().or(case.engine_version.as_ref()) {
        if version.is_numbered() {
            // What it reserves at start-up, and how it pads experts.
            setup.engine.version = version.clone();
        }
        older::compute_as(&mut setup.engine, version)?;
        if launch.moe.is_none() {
            older::launch_experts_of(&mut setup.engine, version)?;
        }
    }
    setup.engine.graph_tokens = launch.graph_tokens(case);
    setup.state_bytes = launch.state_bytes.unwrap_or(setup.state_bytes);
    let eager = &mut setup.engine.host.eager_launch_us;
    eager.0 = eager.0.map(|us| us * launch.launch_times.unwrap_or(1.0));
    if let Some(fused) = launch.all_reduce_fusion {
        setup.engine.norm_in_all_reduce = if fused { FusedNorms::All } else { FusedNorms::None };
    }
    name_attention(&mut setup, launch);
    let measured = match (setup.engine.id.as_str(), launch.moe.as_deref()) {
        ("trtllm", Some("cutlass")) => "moe_torch_flow_cutlass",
        ("trtllm", Some("deepgemm")) => "deepgemm",
        _ => return Ok(setup),
    };
    let (arch, weights) = (setup.gpu.arch, setup.formats.weights);
    let choices = setup.engine.kernels.iter_mut().filter(|choice| choice.arch == arch);
    for kernel in choices.flat_map(|choice| &mut choice.moe).filter(|kernel| kernel.weights == weights) {
        kernel.kernel = measured.into();
    }
    Ok(setup)
}

/// Uses SGLang's Triton attention kernels if the launch names them: the only separately measured kernels that are not
/// the default of any GPU.
fn name_attention(setup: &mut Setup, launch: &LaunchSettings) {
    let triton = launch.attention.as_deref() == Some("triton");
    if setup.engine.id != "sglang" || !triton {
        return;
    }
    let arch = setup.gpu.arch;
    for choice in setup.engine.kernels.iter_mut().filter(|choice| choice.arch == arch) {
        choice.attention_prefill = "triton".into();
        choice.attention_decode = "triton".into();
    }
    for choice in setup.engine.variants.iter_mut().filter(|choice| choice.arch == arch) {
        choice.latent_prefill = "triton".into();
        choice.latent_decode = "triton".into();
    }
}

/// The scheduler as the run started it.
///
/// The recorded budgets leave room for one token per client, and for its drafts if drafts are verified.
fn started(policy: Policy, launch: &LaunchSettings, case: &ServedCase, sent: &SentRequests) -> Policy {
    // A budget given as it was set includes the drafts.
    let drafted =
        if case.published.is_some() { 0 } else { launch.drafts.drafted.saturating_mul(sent.at_once) };
    let ranks = policy.ranks;
    let (cached_share, wider) = match (&sent.prefixes, sent.full) {
        (Some(prefixes), Some(places)) if launch.prefix_cache => prefixes.of_full(&policy, sent, places),
        _ => (cached_share(&policy, launch, case), 1.0),
    };
    Policy {
        token_budget: policy.token_budget.saturating_add(drafted),
        max_prefill_tokens: launch.max_prefill_tokens,
        mixed_chunk: launch.mixed_chunk,
        ahead: policy.ahead && launch.async_scheduling,
        chunked: launch.chunked,
        receive_interval: launch.receive_interval,
        batch_wait: launch.batch_wait(),
        balance_wait: launch.balance_wait.filter(|_| ranks > 1),
        cached_share,
        kv_tokens: (policy.kv_tokens as f64 * wider) as u64,
        admission_delay: policy.admission_delay + launch.template_s,
        // The API server's time per request was read off bursts, so it already includes the template.
        admission_interval: policy.admission_interval.max(launch.template_s),
        admission_together: launch.template_s > 0.0,
        stream_interval: policy.stream_interval / f64::from(launch.stream_interval.max(1)),
        // A preempted sequence keeps its blocks until others take them.
        history_cached: if launch.prefix_cache { 1.0 } else { 0.0 },
        kv_block: launch.kv_block_tokens.unwrap_or(policy.kv_block),
        preempt: match launch.conservativeness {
            Some(conservativeness) => Preempt::Retract { conservativeness },
            None => policy.preempt,
        },
        ..policy
    }
}

/// Share of the prompts' tokens that the prefix cache holds if few distinct prompts are sent repeatedly.
///
/// A prompt misses the first time it is sent, unless the warm-up sent it. Whatever running sequences leave of the KV
/// cache holds as many prompts as fit; they are sent in random order, so which ones does not matter.
fn cached_share(policy: &Policy, launch: &LaunchSettings, case: &ServedCase) -> f64 {
    let Some(distinct) = launch.distinct_prompts.filter(|_| launch.prefix_cache) else {
        return 0.0;
    };
    let distinct = f64::from(distinct);
    let clients = f64::from(case.concurrency);
    let running = clients * f64::from(case.osl);
    let room = policy.kv_tokens as f64 * f64::from(policy.ranks) - running;
    let held = (room / (distinct * f64::from(case.isl))).clamp(0.0, 1.0);
    let first = (distinct - sent::constants().warmup_rounds * clients).max(0.0);
    held * (1.0 - first / f64::from(launch.requests(case.concurrency))).max(0.0)
}
