//! Launches that a source publishes: its command and, for what that leaves out, the documented defaults of the engine's
//! version.

use serde_json::Value;

use super::bench::{constants, engine_settings};
use super::plan::LaunchPlan;
use super::{Graphs, KvCache, LaunchLayout, LaunchSettings, Origin};
use crate::config::catalog::numbers;
use crate::config::command::{Flag, Setting, flags, setting};
use crate::config::{Drafts, Engine, Scheduler, Usage, Version, VersionDefaults, catalog};
use crate::evidence::cases::{LoadKind, Published, ServedCase};

pub(super) fn launch(
    plan: &LaunchPlan,
    case: &ServedCase,
    published: &Published,
) -> Result<LaunchSettings, String> {
    let engine = catalog().engine(&case.engine).ok_or_else(|| format!("no engine {}", case.engine))?;
    let gpu = catalog()
        .gpu(&case.gpu)
        .ok_or_else(|| format!("{} is not among the GPUs of the catalog", case.gpu))?;
    let (defaults, doubts) = match case.engine_version.as_ref().filter(|version| version.is_numbered()) {
        Some(version) => (engine.version_defaults(version, gpu.arch), Vec::new()),
        None => (engine.versions.last(), vec!["the engine's version is not recorded".to_owned()]),
    };
    let version = case.engine_version.as_ref().map_or("", Version::text);
    let defaults =
        defaults.ok_or_else(|| format!("the defaults of {} {version} are not recorded", engine.name))?;
    let (budget, seqs) =
        engine.scheduler.limits_on(gpu, Usage { offline: case.kind == LoadKind::Offline, ..Usage::plain(1) });
    let (Some(budget), Some(seqs)) = (budget.0, seqs.0) else {
        return Err(format!("no default limits of {} on {}", engine.name, gpu.name));
    };
    let mut launch = with_defaults(case, defaults, (budget as u32, seqs as u32));
    launch.doubts = doubts;
    launch.layout = layout(case)?;
    launch.attention_dp = Some(launch.layout.attention_dp > 1);
    if published.launch.starts_with("trtllm-bench") {
        launch.memory_share = Some(constants().bench_share);
    }
    let given = flags(&published.launch);
    given.iter().for_each(|flag| set(&mut launch, case, flag));
    if case.engine == "vllm"
        && given
            .iter()
            .any(|flag| flag.name == "performance_mode" && flag.value.as_deref() == Some("throughput"))
    {
        // Doubles what is not given.
        let gives = |name: &str| given.iter().any(|flag| flag.name == name);
        launch.token_budget *= if gives("max_num_batched_tokens") { 1 } else { 2 };
        launch.max_seqs = launch.max_seqs.map(|seqs| if gives("max_num_seqs") { seqs } else { 2 * seqs });
    }
    launch.max_seqs = published.max_num_seqs.or(launch.max_seqs);
    if case.engine == "vllm" {
        launch.max_seqs = launch.max_seqs.map(|seqs| seqs.min(launch.token_budget));
    }
    if published.kv_dtype.as_deref().is_some_and(|kv| kv.starts_with("fp8"))
        || published.note.contains("KV cache fp8;")
    {
        launch.kv_cache = KvCache::Fp8;
    }
    if published.launch.starts_with("trtllm-bench") {
        engine_settings(&mut launch, case, gpu)?;
    }
    let default_seqs = seqs as u32;
    drafts(&mut launch, &engine.scheduler, plan, published, &given);
    let of_rank = |all: u32| engine.scheduler.of_rank(all, launch.layout.attention_dp);
    launch.token_budget = of_rank(launch.token_budget);
    // The default is each rank's.
    launch.max_seqs = launch.max_seqs.map(|seqs| if seqs == default_seqs { seqs } else { of_rank(seqs) });
    if launch.prefix_cache {
        launch.series = plan.series(case, published.prompts.unwrap_or(0)).to_vec();
    }
    launch.template_s = template_s(engine, case, published);
    Ok(launch)
}

/// Prompts of gpt-oss are rendered without a template.
fn template_s(engine: &Engine, case: &ServedCase, published: &Published) -> f64 {
    let chat = published.client.contains("chat") && !case.model.contains("gpt-oss");
    let version = case.engine_version.as_ref().filter(|_| chat);
    let template = version.and_then(|version| engine.chat_template(version));
    template.and_then(|template| template.request_us.0).unwrap_or(0.0) * 1e-6
}

fn with_defaults(
    case: &ServedCase,
    defaults: &VersionDefaults,
    (token_budget, max_seqs): (u32, u32),
) -> LaunchSettings {
    let vllm = case.engine == "vllm";
    let sglang = case.engine == "sglang";
    LaunchSettings {
        origin: Origin::Published,
        requests_per_client: 10,
        length_range: case.length_range,
        prompt_stretch: 1.0,
        token_budget,
        max_prefill_tokens: sglang.then(|| numbers::sglang::constants().max_prefill_tokens as u32),
        max_seqs: Some(max_seqs),
        chunked: defaults.chunked,
        receive_interval: 1,
        prefix_cache: defaults.prefix_cache,
        conservativeness: (sglang && defaults.prefix_cache).then_some(1.0),
        async_scheduling: defaults.async_scheduling,
        stream_interval: 1,
        memory_share: defaults.memory_share.as_ref().and_then(|share| share.0),
        graphs: if vllm { Graphs::FullAndPiecewise } else { Graphs::DecodeOnly },
        kv_cache: if case.engine == "trtllm" { KvCache::Checkpoint } else { KvCache::Auto },
        ..LaunchSettings::default()
    }
}

/// vLLM spreads experts over all GPUs that also split attention; the tables then name EP only.
fn layout(case: &ServedCase) -> Result<LaunchLayout, String> {
    let stage = case.gpus / case.pp.max(1);
    let ranks = case.dp_attention.max(1);
    if stage == 0 || !stage.is_multiple_of(ranks) {
        return Err(format!("{} GPUs do not divide into {} stages of {ranks} ranks", case.gpus, case.pp));
    }
    Ok(LaunchLayout { gpus: stage, tp: stage / ranks, ep: case.ep.max(1), attention_dp: ranks })
}

fn set(launch: &mut LaunchSettings, case: &ServedCase, flag: &Flag) {
    let whole = flag.number().map(|number| number as u32);
    match (setting(&flag.name), flag.name.as_str(), whole) {
        (Some(Setting::TokenBudget | Setting::PrefillChunk), _, Some(tokens)) if tokens > 0 => {
            launch.token_budget = tokens;
        }
        (Some(Setting::PrefillChunk), ..) => launch.chunked = false,
        (Some(Setting::MaxSeqs), _, Some(seqs)) => launch.max_seqs = Some(seqs),
        (Some(Setting::LargestGraph), _, Some(most)) => launch.graph_batch = Some(most),
        (Some(Setting::Eager), ..) if flag.on() => launch.graph_batch = Some(0),
        (Some(Setting::MemoryShare), ..) => launch.memory_share = flag.number().or(launch.memory_share),
        (Some(Setting::KvFormat), ..) => {
            if flag.value.as_deref().is_some_and(|value| value.starts_with("fp8")) {
                launch.kv_cache = KvCache::Fp8;
            }
        }
        (_, "enable_prefix_caching", _) => launch.prefix_cache = flag.on(),
        (Some(Setting::NoPrefixCache), ..) => {
            launch.prefix_cache = false;
            launch.conservativeness = None;
        }
        (_, "enable_chunked_prefill" | "enable_chunked_context", _) => launch.chunked = flag.on(),
        (_, "max_prefill_tokens", Some(tokens)) => launch.max_prefill_tokens = Some(tokens),
        (_, "enable_mixed_chunk", _) => launch.mixed_chunk = flag.on(),
        (_, "block_size" | "page_size", Some(tokens)) => launch.kv_block_tokens = Some(tokens),
        (_, "async_scheduling", _) => launch.async_scheduling = flag.on(),
        (_, "no_async_scheduling" | "disable_overlap_schedule" | "disable_overlap_scheduler", _) => {
            launch.async_scheduling = false;
        }
        (_, "schedule_conservativeness", _) => launch.conservativeness = flag.number(),
        (_, "scheduler_recv_interval", Some(steps)) => launch.receive_interval = steps,
        (_, "stream_interval", Some(tokens)) => launch.stream_interval = tokens,
        (_, "attention_backend", _) => launch.attention.clone_from(&flag.value),
        (_, "moe_backend" | "moe_runner_backend", _) => launch.moe.clone_from(&flag.value),
        // The first is read with the limits, and the second changes little.
        (_, "performance_mode" | "language_model_only", _) => {}
        (
            Some(
                Setting::TokenBudget
                | Setting::MaxSeqs
                | Setting::PrefixCache
                | Setting::ChunkedPrefill
                | Setting::Uncounted,
            )
            | None,
            name,
            _,
        ) => launch.doubts.push(format!("--{} of {} is not read", name.replace('_', "-"), case.engine)),
        // The tables hold these in fields of their own, or they have little effect.
        (Some(_), ..) => {}
    }
}

/// Tokens drafted and accepted in each step: as the run reported or, failing that, as in similar runs.
fn drafts(
    launch: &mut LaunchSettings,
    scheduler: &Scheduler,
    plan: &LaunchPlan,
    published: &Published,
    given: &[Flag],
) {
    let number = |name: &str| given.iter().find(|flag| flag.name == name).and_then(Flag::number);
    let of_vllm = given.iter().find(|flag| flag.name == "speculative_config").and_then(|flag| {
        let config: Value = serde_json::from_str(flag.value.as_deref()?).ok()?;
        config["num_speculative_tokens"].as_f64()
    });
    let Some(drafted) = of_vllm.or(number("speculative_num_draft_tokens").map(|tokens| tokens - 1.0)) else {
        return;
    };
    let deepest = number("speculative_num_steps").unwrap_or(drafted);
    let accepted = published.accept_length.map(|tokens| tokens - 1.0).unwrap_or_else(|| {
        launch.inferred.push(format!(
            "accepted drafts are not printed: {:.0} % of the deepest are assumed, as in the runs with multi-token prediction",
            100.0 * plan.drafts.accepted / f64::from(plan.drafts.drafted)
        ));
        deepest * plan.drafts.accepted / f64::from(plan.drafts.drafted)
    });
    let drafting = scheduler.drafting_seqs.as_ref().and_then(|seqs| seqs.0);
    if !given.iter().any(|flag| setting(&flag.name) == Some(Setting::MaxSeqs)) {
        launch.max_seqs = drafting.map(|seqs| seqs as u32).or(launch.max_seqs);
    }
    if given.iter().any(|flag| flag.name == "speculative_draft_model_path") {
        launch.draft_passes = deepest as u32;
    }
    launch.drafts = Drafts { drafted: drafted as u32, accepted: accepted.clamp(0.0, drafted) };
}
