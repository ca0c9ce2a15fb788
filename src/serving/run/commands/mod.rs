//! The shell commands that start this configuration and measure its load.

mod clients;
mod shell;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::config::names::checkpoint;
use crate::config::{Batching, Dtype, Load, Setup, Start};
use crate::units::{GIB, decimal};
use shell::Shell;

/// Commands for one replica. Flags are those of the engine version in the catalog; every setting is explicit, so
/// other defaults change nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Commands {
    pub launch: String,
    /// `vllm bench serve`, whose definitions of TTFT and TPOT we share; it works with all three engines.
    pub bench: String,
}

fn workers(phase: &str, count: u32) -> String {
    if count == 1 { format!("The {phase} worker") } else { format!("Each of {count} {phase} workers") }
}

impl Commands {
    pub fn of(setup: &Setup) -> Self {
        let workload = &setup.workload;
        let launch = match &setup.prefill {
            None => replicas_note(setup) + &launch(setup).0,
            Some(pool) => format!(
                "{OF_POOLS}# {}:\n{}\n# {}:\n{}",
                workers("prefill", pool.setup.replicas),
                launch(&pool.setup).0,
                workers("decode", setup.replicas),
                launch(setup).0,
            ),
        };
        let mut notes = String::new();
        if setup.copies() > 1 {
            notes += &format!("# One of {} replicas, and its share of the load.\n", setup.replicas);
        }
        let sessions = matches!(workload.load, Load::Sessions(_) | Load::SessionRate(_));
        if workload.log_spread != [0.0; 2]
            || workload.shape.is_some()
            || !workload.histogram.is_empty()
            || workload.isl.each().len() > 1
            || sessions && workload.spread > 0.0
        {
            notes += "# At the mean lengths: its random prompts do not sample this distribution.\n";
        }
        if workload.start != Start::AtOnce && !workload.load.is_rate() {
            notes +=
                "# All clients start at once: it has no ramp, so first tokens come later than predicted.\n";
        }
        if workload.images > 0 && (sessions || clients::starts_engine(setup)) {
            notes += "# Text only: it sends no images.\n";
        }
        let bench = match workload.load {
            Load::Offline(_) => clients::offline(setup),
            _ if sessions => clients::sessions(setup),
            _ => clients::serve(setup).0,
        };
        Self { launch: model_notes(setup) + &launch, bench: notes + &bench }
    }
}

/// What to replace in the commands, as comments.
pub fn model_notes(setup: &Setup) -> String {
    let unnamed = checkpoint_name(setup) == UNNAMED;
    let path = if unnamed { format!("# {UNNAMED}: the path of your checkpoint.\n") } else { String::new() };
    path + &checkpoint_note(setup) + &draft_note(setup)
}

/// That the command starts one of several.
fn replicas_note(setup: &Setup) -> String {
    match setup.replicas {
        1 => String::new(),
        all => format!(
            "# Run once for each of the {all} replicas, on GPUs and a port of its own, behind a load balancer.\n"
        ),
    }
}

/// What the workers' commands leave out.
const OF_POOLS: &str = "# Router and KV transfer are set up separately, as for Dynamo or llm-d.\n";

fn launch(setup: &Setup) -> Shell {
    let batching = setup.engine.scheduler.batching;
    let launch = match batching {
        Batching::MixedChunks => vllm("vllm serve", setup),
        Batching::PrefillFirst => sglang("python -m sglang.launch_server --model-path", setup),
        Batching::InFlight => trtllm(&SERVE, setup),
    };
    launch.over(setup)
}

/// The name quoted as one shell word.
fn model(setup: &Setup) -> String {
    shlex::try_quote(&checkpoint_name(setup)).map_or_else(|_| UNNAMED.into(), |quoted| quoted.into_owned())
}

/// Placeholder for a checkpoint's name.
const UNNAMED: &str = "MODEL";

/// The checkpoint that the commands start: that of the catalog, or the same model in the setup's format. An edited model
/// has none, nor one that a file describes without naming it.
pub fn checkpoint_name(setup: &Setup) -> String {
    let name = &setup.model.name;
    if setup.model.is_edited() || name.contains(char::is_whitespace) {
        return UNNAMED.into();
    }
    published(setup).unwrap_or_else(|| name.clone())
}

/// The checkpoint in another format than the model's own, where its name is known.
fn published(setup: &Setup) -> Option<String> {
    let is_other = setup.weights != setup.model.weights && !setup.model.is_edited();
    is_other.then(|| checkpoint(&setup.model, setup.weights)).flatten()
}

/// Acceptance depends on the draft model, which is not an input.
const DRAFT_MODEL: &str = "DRAFT_MODEL";

fn draft_note(setup: &Setup) -> String {
    if setup.workload.drafts.drafted == 0 || drafts_itself(setup) {
        return String::new();
    }
    format!("# {DRAFT_MODEL}: the draft model of this one.\n")
}

/// Engines quantise 16-bit weights to FP8 at start-up, except TensorRT-LLM; other formats need another checkpoint.
fn checkpoint_note(setup: &Setup) -> String {
    let is_made = quantised(setup).is_some()
        && setup.model.weights == Dtype::Bf16
        && setup.engine.scheduler.batching != Batching::InFlight;
    if setup.weights == setup.model.weights || published(setup).is_some() {
        return String::new();
    }
    if is_made {
        let block = checkpoint(&setup.model, Dtype::Fp8Block).filter(|_| !setup.model.is_edited());
        return block.map_or_else(String::new, |name| {
            format!("# Quantised at start-up. {name} is published in fp8_block: a format of its own here.\n")
        });
    }
    let (own, other) = (setup.model.weights.id(), setup.weights.id());
    format!("# This checkpoint is in {own}: replace it by one in {other}.\n")
}

/// Whether the model drafts with a layer of its own checkpoint.
fn drafts_itself(setup: &Setup) -> bool {
    setup.drafting_layer().is_some()
}

/// The checkpoint's own format needs no flag. Only one scale per matrix or row can be made at start-up, not one per block.
fn quantised(setup: &Setup) -> Option<&'static str> {
    let is_of_checkpoint = setup.weights == setup.model.weights || published(setup).is_some();
    (!is_of_checkpoint && setup.weights == Dtype::Fp8).then_some("fp8")
}

fn vllm(command: &str, setup: &Setup) -> Shell {
    let (drafted, host) = (setup.workload.drafts.drafted, setup.host_gib());
    let by = if drafts_itself(setup) { ("method", "mtp") } else { ("model", DRAFT_MODEL) };
    let drafts = format!("'{{\"{}\": \"{}\", \"num_speculative_tokens\": {drafted}}}'", by.0, by.1);
    Shell::new(&format!("{command} {}", model(setup)))
        .flag("--tensor-parallel-size", setup.parallel.tp)
        // Otherwise it does not start where the KV cache is smaller than the model's whole context.
        .flag("--max-model-len", "auto")
        .only_if(setup.parallel.pp > 1, "--pipeline-parallel-size", setup.parallel.pp)
        .only_if(setup.parallel.dp > 1, "--data-parallel-size", setup.parallel.dp)
        .only_if(setup.parallel.ep > 1, "--enable-expert-parallel", "")
        .only_if(setup.kv == Dtype::Fp8, "--kv-cache-dtype", "fp8")
        .given("--quantization", quantised(setup))
        .flag("--max-num-batched-tokens", setup.token_budget)
        .flag("--max-num-seqs", setup.max_seqs)
        .flag("--gpu-memory-utilization", decimal(setup.memory_share))
        .graphs(setup, "--max-cudagraph-capture-size", "--enforce-eager")
        .flag(
            if setup.keeps_prefixes() { "--enable-prefix-caching" } else { "--no-enable-prefix-caching" },
            "",
        )
        // The option counts the memory of all GPUs of an engine: those of TP and PP.
        .only_if(
            host > 0.0,
            "--kv-offloading-size",
            decimal(host * f64::from(setup.parallel.tp * setup.parallel.pp)),
        )
        .only_if(drafted > 0, "--speculative-config", drafts)
}

fn sglang(command: &str, setup: &Setup) -> Shell {
    let (drafted, own, host) = (setup.workload.drafts.drafted, drafts_itself(setup), setup.host_gib());
    Shell::new(&format!("{command} {}", model(setup)))
        .flag("--tp-size", setup.parallel.gpus_per_stage())
        .only_if(setup.parallel.pp > 1, "--pp-size", setup.parallel.pp)
        .only_if(setup.parallel.dp > 1, "--dp-size", setup.parallel.dp)
        .only_if(setup.parallel.dp > 1, "--enable-dp-attention", "")
        .only_if(setup.parallel.ep > 1, "--ep-size", setup.parallel.ep)
        .only_if(setup.kv == Dtype::Fp8, "--kv-cache-dtype", "fp8_e4m3")
        .given("--quantization", quantised(setup))
        // Both are divided over the ranks of attention DP.
        .flag("--chunked-prefill-size", setup.token_budget.saturating_mul(setup.parallel.dp))
        .flag("--max-running-requests", setup.max_seqs.saturating_mul(setup.parallel.dp))
        .flag("--mem-fraction-static", decimal(setup.memory_share))
        .graphs(setup, "--cuda-graph-max-bs", "--disable-cuda-graph")
        .only_if(!setup.keeps_prefixes(), "--disable-radix-cache", "")
        .only_if(host > 0.0, "--enable-hierarchical-cache", "")
        // Of each GPU, in GB.
        .only_if(host > 0.0, "--hicache-size", (host * GIB / 1e9).ceil())
        .only_if(drafted > 0, "--speculative-algorithm", if own { "EAGLE" } else { "EAGLE3" })
        .only_if(drafted > 0 && !own, "--speculative-draft-model-path", DRAFT_MODEL)
        .only_if(drafted > 0, "--speculative-num-steps", drafted)
        .only_if(drafted > 0, "--speculative-eagle-topk", 1)
        .only_if(drafted > 0, "--speculative-num-draft-tokens", setup.tokens_verified())
}

/// A program of TensorRT-LLM: the words before and after the model, and its options for TP, PP, EP and the memory share.
struct Program {
    before: &'static str,
    after: &'static str,
    options: [&'static str; 4],
}

const SERVE: Program = Program {
    before: "trtllm-serve",
    after: "",
    options: ["--tp_size", "--pp_size", "--ep_size", "--kv_cache_free_gpu_memory_fraction"],
};
const BENCH: Program = Program {
    before: "trtllm-bench --model",
    after: " throughput --backend pytorch --dataset prompts.json",
    options: ["--tp", "--pp", "--ep", "--kv_cache_free_gpu_mem_fraction"],
};

fn trtllm(&Program { before, after, options: [tp, pp, ep, share] }: &Program, setup: &Setup) -> Shell {
    let mut options = format!("kv_cache_config:\\n  enable_block_reuse: {}\\n", setup.keeps_prefixes());
    if setup.kv == Dtype::Fp8 {
        options += "  dtype: fp8\\n";
    }
    if setup.host_gib() > 0.0 {
        options += &format!("  host_cache_size: {:.0}\\n", setup.host_gib() * GIB);
    }
    if setup.parallel.dp > 1 {
        options += "enable_attention_dp: true\\n";
    }
    // Steps are padded to the next graph, but not by default.
    options += &match setup.largest_graph {
        0 => "cuda_graph_config: null\\n".to_owned(),
        most => format!("cuda_graph_config:\\n  enable_padding: true\\n  max_batch_size: {most}\\n"),
    };
    let drafted = setup.workload.drafts.drafted;
    if drafts_itself(setup) {
        options +=
            &format!("speculative_config:\\n  decoding_type: MTP\\n  num_nextn_predict_layers: {drafted}\\n");
    } else if drafted > 0 {
        options += &format!(
            "speculative_config:\\n  decoding_type: Eagle3\\n  max_draft_len: {drafted}\\n  speculative_model: {DRAFT_MODEL}\\n"
        );
    }
    let command = format!("printf '{options}' > options.yaml\n{before} {}{after}", model(setup));
    Shell::new(&command)
        .flag(tp, setup.parallel.gpus_per_stage())
        .only_if(setup.parallel.pp > 1, pp, setup.parallel.pp)
        .only_if(setup.parallel.ep > 1, ep, setup.parallel.ep)
        .flag("--max_num_tokens", setup.token_budget)
        .flag("--max_batch_size", setup.max_seqs)
        .flag(share, decimal(setup.memory_share))
        .flag("--extra_llm_api_options", "options.yaml")
}
