//! Measured runs of prefill and decode pools, replayed in the simulator.

mod recipe;
pub mod report;

use self::recipe::{Recipe, Started, recipe};
use super::scenario::drawn;
use super::{drafting, sent};
use crate::config::catalog::Catalog;
use crate::config::{
    Batching, Drafts, Dtype, Lengths, Load, ModelChoice, Overrides, Prefill, Scenario, Setup, Workload,
    check, link,
};
use crate::evidence::cases::{PoolCase, Workers, model, texts};
use crate::evidence::compared::Times;
use crate::evidence::launch::accepted;
use crate::serving::run::{constants, longest, pools};
use crate::serving::sim::{
    Arrivals, Limits, Policy, Pool, Request, StepCost, Transfer, metrics, simulate_disaggregated,
};
use crate::serving::table::{Extent, Phases};
use crate::serving::{memory_of, replica};
use crate::units::significant;

/// A case ready to be simulated.
#[derive(Debug, Clone)]
pub struct PoolRun {
    pub prefill: Side,
    pub decode: Side,
    transfer: Transfer,
    requests: Vec<Request>,
    clients: u32,
    /// Whether the recipe that started it is recorded.
    pub recorded: bool,
    /// The link closest to it.
    pub link: String,
}

/// The workers of one pool.
#[derive(Debug, Clone)]
pub struct Side {
    pub setup: Setup,
    pub policy: Policy,
    pub extent: Extent,
}

impl PoolRun {
    pub fn of(case: &PoolCase, catalog: &Catalog) -> Result<Self, String> {
        if case.ambiguous {
            return Err(
                "the recipes leave open which workers and layouts ran (layout_confidence ambiguous)".into()
            );
        }
        let found = recipe(case)?;
        let [of_prefill, of_decode] = match found {
            Some(Recipe { prefill, decode, .. }) => [prefill.clone(), decode.clone()],
            None => [labelled(case, &case.prefill, false)?, labelled(case, &case.decode, true)?],
        };
        let (of_prefill, of_decode) = (&of_prefill, &of_decode);
        let scenario = scenario_of(case, of_prefill, of_decode)?;
        let (setup, issues) = check(&scenario, catalog);
        let mut setup = setup.ok_or_else(|| texts(&issues))?;
        let mut pool = setup.prefill.take().ok_or("no prefill workers")?;
        apply(&mut setup, of_decode);
        apply(&mut pool.setup, of_prefill);
        let run = &case.served;
        let count = case.prompts.unwrap_or(run.concurrency.saturating_mul(constants().per_client as u32));
        let requests = sent::requests(count, (run.isl, run.osl), run.length_range, 0);
        let memory = |setup: &Setup| match memory_of(setup) {
            Ok(memory) if memory.kv_tokens >= 1.0 => Ok(memory),
            Ok(_) => Err("the weights do not fit into the workers".to_owned()),
            Err(issues) => Err(texts(&issues)),
        };
        let (of_prompts, of_tokens) = (memory(&pool.setup)?, memory(&setup)?);
        // The link between the pools, with all GPUs of both counted.
        setup.prefill = Some(pool.clone());
        let transfer = pools::transfer(&setup, &pool, of_prompts.kv_per_token.max(of_tokens.kv_per_token))?;
        setup.prefill = None;
        let first = started(replica::policy(&pool.setup, &of_prompts), of_prefill);
        let then = started(pools::decode_policy(&setup, &of_tokens), of_decode);
        let (prompt, output) = longest(&requests);
        let largest = |setup: &Setup, phases| Extent {
            phases,
            ..replica::extent(setup, run.concurrency, prompt, output)
        };
        let link = link::encode(&match run.length_range {
            Some(range) => drawn(scenario, range),
            None => scenario,
        });
        Ok(Self {
            prefill: Side { extent: largest(&pool.setup, Phases::Prefill), setup: pool.setup, policy: first },
            decode: Side { extent: largest(&setup, pools::decode_phases(&then)), setup, policy: then },
            transfer,
            requests,
            clients: run.concurrency,
            recorded: found.is_some(),
            link,
        })
    }

    /// The run's means at these step times.
    pub fn simulate(&self, prefill: &dyn StepCost, decode: &dyn StepCost) -> Result<Times, String> {
        let pool = |side: &'_ Side| side.setup.replicas;
        let first = Pool { policy: &self.prefill.policy, cost: prefill, replicas: pool(&self.prefill) };
        let then = Pool { policy: &self.decode.policy, cost: decode, replicas: pool(&self.decode) };
        let arrivals = Arrivals::Closed { clients: self.clients };
        let outcome =
            simulate_disaggregated(first, then, self.transfer, &self.requests, &arrivals, Limits::default());
        let outcome = outcome.map_err(|error| error.to_string())?;
        Times::of(&metrics(&outcome).ok_or("no request was served")?)
    }
}

/// What the labels of a pool say of its workers.
fn labelled(case: &PoolCase, workers: &Workers, decodes: bool) -> Result<Started, String> {
    let count = workers.count.ok_or("the number of workers is not known")?;
    let gpus = workers.gpus.ok_or("the GPUs of a worker are not known")?;
    let (ep, parallel) = match workers.recipe_layout {
        // One GPU for each of both is a placeholder.
        Some((ep, parallel)) => (if ep == 1 && workers.tp == 1 { gpus } else { ep }, parallel),
        None => (workers.ep, workers.attention_dp > 1),
    };
    Ok(Started {
        workers: count,
        gpus: gpus / workers.pp.max(1),
        ranks: if parallel { gpus } else { 1 },
        ep: ep.min(gpus),
        max_seqs: workers.max_batch.filter(|_| decodes),
        // The checkpoints made for TensorRT-LLM carry scales for an FP8 cache.
        kv_fp8: case.served.engine == "trtllm",
        overlap: decodes || case.served.engine != "trtllm",
        drafted: if case.drafting == Some(true) { drafting::constants().recipe_drafts as u32 } else { 0 },
        ..Started::default()
    })
}

fn scenario_of(case: &PoolCase, prefill: &Started, decode: &Started) -> Result<Scenario, String> {
    let run = &case.served;
    let resolved = model(&run.model)?;
    let drafted = decode.drafted;
    Ok(Scenario {
        model: ModelChoice::Catalog(resolved.model.id.clone()),
        gpu: run.gpu.clone(),
        engine: run.engine.clone(),
        parallel: decode.parallel(case.decode.pp),
        replicas: decode.workers,
        prefill: Prefill {
            workers: prefill.workers,
            parallel: prefill.parallel(case.prefill.pp),
            token_budget: prefill.token_budget,
            // SGLang's own router sends a request to both workers at once: nothing is handed over.
            send_us: case.runtime.is_none().then_some(0.0),
            ..Prefill::default()
        },
        weights: Some(run.weights(&resolved)?),
        kv: if decode.kv_fp8 { Dtype::Fp8 } else { Dtype::Bf16 },
        workload: Workload {
            isl: Lengths::Fixed(run.isl),
            osl: run.osl,
            load: Load::Concurrency(run.concurrency),
            requests: case.prompts,
            drafts: Drafts { drafted, accepted: significant(accepted(drafted)?, 3) },
            ..Workload::default()
        },
        overrides: Overrides {
            max_seqs: decode.max_seqs,
            memory_share: decode.memory_share,
            ..Overrides::default()
        },
        ..Scenario::default()
    })
}

/// Applies what differs between the pools but occurs only once in a scenario.
fn apply(setup: &mut Setup, started: &Started) {
    setup.token_budget = started.token_budget.unwrap_or(setup.token_budget);
    setup.memory_share = started.memory_share.unwrap_or(setup.memory_share);
    // A budget that prompts share with sequences also limits the number of sequences.
    let most = match setup.engine.scheduler.batching {
        Batching::PrefillFirst => u32::MAX,
        Batching::MixedChunks | Batching::InFlight => setup.token_budget / setup.tokens_verified().max(1),
    };
    setup.max_seqs = started.max_seqs.unwrap_or(setup.max_seqs).min(most).max(1);
}

/// The scheduler as the recipe started it.
fn started(policy: Policy, started: &Started) -> Policy {
    Policy {
        max_prefill_tokens: started.prefill_tokens,
        ahead: policy.ahead && started.overlap,
        receive_interval: started.receive_interval.unwrap_or(1),
        ..policy
    }
}
