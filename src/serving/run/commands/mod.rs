//! The shell commands that start this configuration and measure its load.

mod clients;
mod shell;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::config::command::{Program, Setting, written_for};
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
    let program = Program::of(&setup.engine);
    let (file, before) = match program {
        Program::Vllm => (String::new(), "vllm serve"),
        Program::Sglang => (String::new(), "python -m sglang.launch_server --model-path"),
        Program::Trtllm | Program::TrtllmBench => (options_file(setup), "trtllm-serve"),
    };
    started(program, &(file + before), "", setup).over(setup)
}

/// The command of a program with the words before and after the model's name, and all of its options.
fn started(program: Program, before: &str, after: &str, setup: &Setup) -> Shell {
    let mut command = Shell::new(&format!("{before} {}{after}", model(setup)));
    for (setting, flag) in written_for(program) {
        command = command.given(flag, value(setting, program, setup));
    }
    command
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

/// What a program is given for a setting, nothing for a switch; `None` if its option is left out.
fn value(setting: Setting, program: Program, setup: &Setup) -> Option<String> {
    let (parallel, drafted, host) = (&setup.parallel, setup.workload.drafts.drafted, setup.host_gib());
    let (is_vllm, is_sglang) = (program == Program::Vllm, program == Program::Sglang);
    let switch = |is_on: bool| is_on.then(String::new);
    let several = |degree: u32| (degree > 1).then(|| degree.to_string());
    let if_drafted = |value: &str| (drafted > 0).then(|| value.to_owned());
    let of_all_ranks = |of_one: u32| of_one.saturating_mul(parallel.dp).to_string();
    match setting {
        // All GPUs that SGLang and TensorRT-LLM divide into ranks of attention.
        Setting::Tp => Some(if is_vllm { parallel.tp } else { parallel.gpus_per_stage() }.to_string()),
        // Otherwise it does not start where the KV cache is smaller than the model's whole context.
        Setting::Longest => Some("auto".to_owned()),
        Setting::Pp => several(parallel.pp),
        Setting::Dp => several(parallel.dp),
        Setting::DpAttention => switch(parallel.dp > 1),
        Setting::Ep => several(parallel.ep),
        Setting::EpOverAll => switch(parallel.ep > 1),
        Setting::KvFormat => {
            let name = if is_vllm { "fp8" } else { "fp8_e4m3" };
            (setup.kv == Dtype::Fp8).then(|| name.to_owned())
        }
        Setting::Quantization => quantised(setup).map(str::to_owned),
        Setting::TokenBudget => Some(setup.token_budget.to_string()),
        Setting::PrefillChunk => Some(of_all_ranks(setup.token_budget)),
        Setting::MaxSeqs if is_sglang => Some(of_all_ranks(setup.max_seqs)),
        Setting::MaxSeqs => Some(setup.max_seqs.to_string()),
        Setting::MemoryShare => Some(decimal(setup.memory_share)),
        Setting::LargestGraph => {
            setup.graph_not_by_default().filter(|most| *most > 0).map(|most| most.to_string())
        }
        Setting::Eager => switch(setup.graph_not_by_default() == Some(0)),
        Setting::PrefixCache => switch(setup.keeps_prefixes()),
        Setting::NoPrefixCache => switch(!setup.keeps_prefixes()),
        Setting::HostCacheOn => switch(host > 0.0),
        Setting::HostCache if host <= 0.0 => None,
        // Of each GPU, in GB.
        Setting::HostCache if is_sglang => Some((host * GIB / 1e9).ceil().to_string()),
        // Of all GPUs of an engine: those of TP and PP.
        Setting::HostCache => Some(decimal(host * f64::from(parallel.tp * parallel.pp))),
        Setting::DraftedHow => if_drafted(if drafts_itself(setup) { "EAGLE" } else { "EAGLE3" }),
        Setting::DraftModel => if_drafted(DRAFT_MODEL).filter(|_| !drafts_itself(setup)),
        Setting::Drafted => if_drafted(&drafted.to_string()),
        Setting::DraftTree => if_drafted("1"),
        Setting::Verified => if_drafted(&setup.tokens_verified().to_string()),
        Setting::Drafting => {
            let by = if drafts_itself(setup) { ("method", "mtp") } else { ("model", DRAFT_MODEL) };
            let config = format!("'{{\"{}\": \"{}\", \"num_speculative_tokens\": {drafted}}}'", by.0, by.1);
            if_drafted(&config)
        }
        Setting::OptionsFile => Some(OPTIONS_FILE.to_owned()),
        _ => None,
    }
}

const OPTIONS_FILE: &str = "options.yaml";

/// The command that writes what TensorRT-LLM reads from a file.
fn options_file(setup: &Setup) -> String {
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
    format!("printf '{options}' > {OPTIONS_FILE}\n")
}
