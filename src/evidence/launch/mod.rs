//! How server and clients of a measured closed loop were started.
//!
//! The facts are data, `settings.json`: a record for each launch script and period, with the scripts' rules.
//! What a script leaves open is the engine's default. The recorded scripts draft no tokens; two
//! batches of runs did, and are listed.

mod layout;
mod select;
mod settings;
mod started;
#[cfg(test)]
mod tests;

use self::layout::{Label, read_label};
use self::select::{Found, day, find, is_of_scripts};
use self::settings::{
    Choice, Drafts, ExpertRanks, Facts, KvCache, Settings, SettingsFile, Switch, pick, settings,
};
use super::cases::ClosedLoopCase;
use crate::config::catalog::catalog;
use crate::config::{self, Dtype, MemoryShareOf};
use crate::serving::sim::BatchWait;
use crate::units::decimal;

pub use self::layout::Layout;
pub use self::started::{
    BalanceWait, Client, ColdStart, Excluded, Graphs, Kernels, Launch, Memory, Origin, Scheduling, Warmup,
};

/// How the server and the clients of `case` were started.
pub fn launch(case: &ClosedLoopCase) -> Launch {
    let file = settings();
    let Found { record, why_none, doubts: found_doubts } = find(file, case);
    let of_scripts = is_of_scripts(file, case);
    let common = if of_scripts { &file.inferencex } else { &file.others };
    let none = Settings::default();
    let defaults = file.defaults.get(&case.engine).unwrap_or(&none);
    let others = if of_scripts { None } else { file.others_by_engine.get(&case.engine) };
    let first = record.map(|record| &record.settings).or(others).unwrap_or(&none);
    let layers = [first, common, defaults];

    let label = read_label(case);
    let (layout, facts) = resolve(file, case, label, &layers);
    let holding = |of: fn(&Settings) -> &Vec<Choice<String>>| {
        let said = layers.iter().flat_map(move |layer| of(layer));
        said.filter(|one| one.when.holds(&facts)).map(|one| one.value.clone())
    };
    let mut doubts = found_doubts;
    doubts.extend(holding(|layer| &layer.doubts));
    doubts.extend(disagreements(case, label, layout));
    let drafts = drafts(file, case);
    let drafting = drafts.map(|drafts| {
        format!("{} tokens drafted, {} of them accepted", drafts.drafted, decimal(drafts.accepted))
    });
    let inferred = holding(|layer| &layer.inferred).chain(drafting).collect();
    let excluded = layers.iter().flat_map(|layer| &layer.excluded).find(|choice| choice.when.holds(&facts));
    Launch {
        origin: match record {
            Some(record) if record.assumed.is_some() => Origin::Assumed,
            Some(_) => Origin::Recorded,
            None => Origin::Defaults(why_none),
        },
        client: Client {
            requests: pick(&layers, &facts, |layer| layer.requests_per_client.as_ref())
                .unwrap_or(10)
                .saturating_mul(case.concurrency),
            length_range: case.length_range.or(of_scripts.then_some(file.length_range)),
            warmup: pick(&layers, &facts, |layer| layer.warmup.as_ref()).unwrap_or(Warmup::Unknown),
            cold_start: pick(&layers, &facts, |layer| layer.cold_start.as_ref()),
            prompt_stretch: pick(&layers, &facts, |layer| layer.prompt_stretch.as_ref()).unwrap_or(1.0),
            exact_lengths: pick(&layers, &facts, |layer| layer.exact_lengths.as_ref()).unwrap_or(true),
            distinct_prompts: pick(&layers, &facts, |layer| layer.distinct_prompts.as_ref()),
            chat_template: pick(&layers, &facts, |layer| layer.chat_template.as_ref()).unwrap_or(false),
        },
        layout,
        scheduler: scheduling(&layers, &facts),
        memory: Memory {
            share: pick(&layers, &facts, |layer| layer.memory_share.as_ref()),
            share_of: catalog()
                .engine(&case.engine)
                .map_or(MemoryShareOf::Total, |engine| engine.scheduler.memory_share_of),
            kv: match pick(&layers, &facts, |layer| layer.kv_cache.as_ref()) {
                Some(KvCache::Fp8) => Dtype::Fp8,
                Some(KvCache::Auto) | None => automatic_kv(case),
            },
            kv_block_tokens: pick(&layers, &facts, |layer| layer.kv_block_tokens.as_ref()),
        },
        kernels: kernels(&layers, &facts),
        drafts: drafts.unwrap_or_default(),
        excluded: excluded.map(|choice| choice.value),
        doubts,
        inferred,
    }
}

/// The cache of an engine that was told nothing. TensorRT-LLM asks the checkpoint: ModelOpt's, in FP8 with one
/// scale a tensor and in NVFP4, carry scales for an FP8 cache.
fn automatic_kv(case: &ClosedLoopCase) -> Dtype {
    let of_experts = case.moe_precision.as_deref();
    let scaled = match case.precision.as_str() {
        "fp8" => of_experts != Some("fp8_block"),
        "nvfp4" => true,
        _ => false,
    };
    if case.engine == "trtllm" && scaled { Dtype::Fp8 } else { Dtype::Bf16 }
}

/// The drafts of a run that is among the batches that drafted.
fn drafts(file: &SettingsFile, case: &ClosedLoopCase) -> Option<config::Drafts> {
    let Drafts { drafted, accepted, batches } = &file.drafts;
    let day = case.measured_on.as_deref()?;
    let (_, name) = case.model.rsplit_once('/').unwrap_or_default();
    let names = |model: &str| file.models.get(model).is_some_and(|names| names.iter().any(|one| one == name));
    let inside = batches.iter().any(|batch| {
        names(&batch.model)
            && batch.engine == case.engine
            && (batch.from.as_str()..=batch.until.as_str()).contains(&day)
            && case.engine_version.as_deref() == Some(&batch.version)
    });
    inside.then_some(config::Drafts { drafted: *drafted, accepted: *accepted })
}

/// What really ran where, and the facts that all other rules refer to.
fn resolve<'a>(
    file: &'a SettingsFile,
    case: &'a ClosedLoopCase,
    label: Label,
    layers: &[&Settings],
) -> (Layout, Facts<'a>) {
    let mut facts = Facts {
        isl: case.isl,
        osl: case.osl,
        clients: case.concurrency,
        gpus: label.gpus,
        ep: label.ep,
        labelled_ep: label.ep,
        attention_dp: label.attention_dp,
        day: day(file, case).unwrap_or_default(),
        gpu: &case.gpu,
        image: case.image.as_deref().unwrap_or_default(),
        version: case.engine_version.as_deref().unwrap_or_default(),
    };
    facts.attention_dp = match pick(layers, &facts, |layer| layer.attention_dp.as_ref()) {
        Some(Switch::On) => true,
        Some(Switch::Off) => false,
        Some(Switch::Label) | None => label.attention_dp,
    };
    facts.ep = match pick(layers, &facts, |layer| layer.ep.as_ref()) {
        Some(ExpertRanks::One) => 1,
        Some(ExpertRanks::Gpus) => label.gpus,
        Some(ExpertRanks::GpusIfLabelled) if label.ep > 1 => label.gpus,
        Some(ExpertRanks::GpusIfLabelled | ExpertRanks::Label) | None => label.ep,
    };
    let attention_dp = if facts.attention_dp { label.gpus } else { 1 };
    let layout = Layout { gpus: label.gpus, tp: label.gpus / attention_dp, ep: facts.ep, attention_dp };
    (layout, facts)
}

/// Where the labels of the case say something else than what ran.
fn disagreements(case: &ClosedLoopCase, label: Label, layout: Layout) -> Vec<String> {
    let ClosedLoopCase { gpus, tp, ep, dp_attention, .. } = case;
    let mut doubts = Vec::new();
    if label.inflated {
        doubts.push(format!(
            "labelled {gpus} GPUs (TP {tp}, EP {ep}, attention DP {dp_attention}), which multiplies degrees twice; \
             read as {} GPUs",
            layout.gpus
        ));
    }
    if label.ep != layout.ep {
        doubts.push(format!("labelled EP {}, but the script ran EP {}", label.ep, layout.ep));
    }
    if label.attention_dp != (layout.attention_dp > 1) {
        let ran = if layout.attention_dp > 1 { "with" } else { "without" };
        doubts.push(format!("the script ran {ran} attention DP, unlike the label"));
    }
    doubts
}

fn scheduling(layers: &[&Settings], facts: &Facts) -> Scheduling {
    let max_seqs = max_seqs(layers, facts);
    let budget = pick(layers, facts, |layer| layer.token_budget.as_ref()).map(|it| it.at(facts, max_seqs));
    let batch_wait = pick(layers, facts, |layer| layer.batch_wait.as_ref());
    let balance_wait = pick(layers, facts, |layer| layer.balance_wait.as_ref());
    Scheduling {
        token_budget: budget,
        max_prefill_tokens: pick(layers, facts, |layer| layer.max_prefill_tokens.as_ref())
            .map(|number| number.at(facts, max_seqs)),
        mixed_chunk: pick(layers, facts, |layer| layer.mixed_chunk.as_ref()).unwrap_or(false),
        max_seqs,
        chunked: pick(layers, facts, |layer| layer.chunked.as_ref()),
        receive_interval: pick(layers, facts, |layer| layer.receive_interval.as_ref()).unwrap_or(1),
        // Under attention DP the engine ignores the one and obeys the other.
        batch_wait: batch_wait.filter(|_| !facts.attention_dp).zip(budget).map(|(wait, budget)| BatchWait {
            tokens: (wait.share * f64::from(budget)).ceil() as u32,
            iterations: wait.iterations,
        }),
        balance_wait: balance_wait.filter(|_| facts.attention_dp),
        prefix_cache: pick(layers, facts, |layer| layer.prefix_cache.as_ref()).unwrap_or(true),
        async_scheduling: pick(layers, facts, |layer| layer.async_scheduling.as_ref()).unwrap_or(true),
        stream_interval: pick(layers, facts, |layer| layer.stream_interval.as_ref()).unwrap_or(1),
    }
}

fn max_seqs(layers: &[&Settings], facts: &Facts) -> Option<u32> {
    pick(layers, facts, |layer| layer.max_seqs.as_ref()).map(|number| number.at(facts, None))
}

fn kernels(layers: &[&Settings], facts: &Facts) -> Kernels {
    let graph_batch = pick(layers, facts, |layer| layer.graph_batch.as_ref());
    Kernels {
        attention: pick(layers, facts, |layer| layer.attention.as_ref()),
        moe: pick(layers, facts, |layer| layer.moe.as_ref()),
        all_reduce_fusion: pick(layers, facts, |layer| layer.all_reduce_fusion.as_ref()),
        symmetric_memory: pick(layers, facts, |layer| layer.symmetric_memory.as_ref()).unwrap_or(false),
        graphs: pick(layers, facts, |layer| layer.graphs.as_ref()).unwrap_or(Graphs::DecodeOnly),
        graph_batch: graph_batch.map(|number| number.at(facts, max_seqs(layers, facts))),
    }
}
