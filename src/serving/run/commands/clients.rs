//! Benchmark clients for each kind of load, with one replica's share of it.

use super::shell::Shell;
use super::{model, options_file, started};
use crate::config::command::Program;
use crate::config::{Batching, Load, Setup};
use crate::serving::run::count::requests_of;
use crate::units::{decimal, fixed};

/// A gamma shape with practically equal gaps: the client has no constant rate.
const EQUAL_GAPS: &str = "1000000";

fn server(setup: &Setup) -> &'static str {
    match setup.engine.scheduler.batching {
        Batching::PrefillFirst => "http://localhost:30000",
        Batching::MixedChunks | Batching::InFlight => "http://localhost:8000",
    }
}

/// `vllm bench serve`: clients, a rate, a burst, and a static batch or a queue as a burst.
pub fn serve(setup: &Setup) -> Shell {
    let workload = &setup.workload;
    let replicas = setup.copies();
    let rate = match workload.load.is_rate() {
        true => decimal(workload.load.amount() / f64::from(replicas)),
        false => "inf".to_owned(),
    };
    let clients = match workload.load {
        Load::Concurrency(clients) => Some(clients.div_ceil(replicas)),
        load if load.may_be_limited() => workload.max_in_flight.map(|most| most.div_ceil(replicas)),
        _ => None,
    };
    let burstiness = match workload.load {
        Load::ConstantRate(_) => Some(EQUAL_GAPS.to_owned()),
        Load::Rate(_) if workload.burstiness.to_bits() != 1f64.to_bits() => {
            Some(decimal(workload.burstiness))
        }
        _ => None,
    };
    let mut limits = Vec::new();
    limits.extend(workload.slos.ttft_ms.map(|limit| format!("ttft:{}", decimal(limit))));
    limits.extend(workload.slos.tpot_ms.map(|limit| format!("tpot:{}", decimal(limit))));
    limits.extend(workload.slos.e2e_ms.map(|limit| format!("e2el:{}", decimal(limit))));
    let client = match workload.images {
        0 => "vllm bench serve --backend openai --endpoint /v1/completions",
        _ => "vllm bench serve --backend openai-chat --endpoint /v1/chat/completions",
    };
    let command = Shell::new(client).flag("--base-url", server(setup)).flag("--model", model(setup));
    with_images(setup, lengths(setup, command, workload.images))
        .flag("--request-rate", rate)
        .given("--burstiness", burstiness)
        .given("--max-concurrency", clients)
        .given("--goodput", (!limits.is_empty()).then(|| limits.join(" ")))
        .flag("--percentile-metrics", "ttft,tpot,itl,e2el")
        .flag("--metric-percentiles", "50,90,99")
        .flag("--ignore-eos", "")
}

/// Square images that the encoder makes the stated number of tokens of, or the next larger square number.
fn with_images(setup: &Setup, command: Shell) -> Shell {
    let Some(vision) = setup.model.vision.as_ref().filter(|_| setup.workload.images > 0) else {
        return command;
    };
    let side = f64::from(setup.image_tokens).sqrt().ceil()
        * f64::from(vision.merge).sqrt()
        * f64::from(vision.patch);
    let images = setup.workload.images;
    command
        .flag("--random-mm-base-items-per-request", images)
        .flag("--random-mm-limit-mm-per-prompt", format!("'{{\"image\": {images}, \"video\": 0}}'"))
        .flag("--random-mm-bucket-config", format!("'{{({side}, {side}, 1): 1.0}}'"))
}

/// Random prompts, as in `vllm bench serve` and `vllm bench throughput`, with the tokens of this many images beside
/// their text.
fn lengths(setup: &Setup, command: Shell, images: u32) -> Shell {
    let workload = &setup.workload;
    // A prefix shared by all prompts is what the cache finds of each.
    let prompt = setup.mean_prompt().round() as u32;
    let prefix = setup.cached(prompt);
    let text = (prompt - prefix).saturating_sub(images * setup.image_tokens);
    command
        .flag("--dataset-name", if images > 0 { "random-mm" } else { "random" })
        .given("--random-prefix-len", (prefix > 0).then_some(prefix))
        .flag("--random-input-len", if images > 0 { text.max(1) } else { text })
        .flag("--random-output-len", workload.osl)
        .given("--random-range-ratio", (workload.spread > 0.0).then(|| decimal(workload.spread)))
        .flag("--num-prompts", requests_of(setup, workload.load))
}

/// Whether a queue is measured by the engine's own benchmark, which starts the engine itself: vLLM's has no attention DP.
pub fn starts_engine(setup: &Setup) -> bool {
    let batching = setup.engine.scheduler.batching;
    let can = batching != Batching::MixedChunks || setup.parallel.dp <= 1;
    can && matches!(setup.workload.load, Load::Offline(_))
}

/// The engine's own throughput benchmark, or all prompts at once for a server.
pub fn offline(setup: &Setup) -> String {
    let workload = &setup.workload;
    let requests = requests_of(setup, workload.load);
    let ends = [1.0 - workload.spread, 1.0 + workload.spread];
    let prompts = ends.map(|share| (setup.mean_prompt() * share).round());
    let outputs = ends.map(|share| (f64::from(workload.osl) * share).round());
    let command = match setup.engine.scheduler.batching {
        Batching::MixedChunks if !starts_engine(setup) => {
            return "# vLLM's throughput benchmark has no attention DP: a server takes all prompts at once.\n"
                .to_owned() + &serve(setup).0;
        }
        Batching::MixedChunks => {
            lengths(setup, started(Program::Vllm, "vllm bench throughput --model", "", setup), 0)
        }
        Batching::PrefillFirst => {
            let program = "python -m sglang.bench_offline_throughput --model-path";
            started(Program::Sglang, program, "", setup)
                .flag("--dataset-name", "random")
                // Lengths are drawn between this share of these and these.
                .flag("--random-input-len", prompts[1])
                .flag("--random-output-len", outputs[1])
                .flag("--random-range-ratio", fixed(ends[0] / ends[1], 3))
                .flag("--num-prompts", requests)
        }
        Batching::InFlight => {
            let data = Shell::new(&format!(
                "trtllm-bench --model {} prepare-dataset --output prompts.json",
                model(setup)
            ))
            .flag("token-unif-dist --num-requests", requests)
            .flag("--input-min", prompts[0])
            .flag("--input-max", prompts[1])
            .flag("--output-min", outputs[0])
            .flag("--output-max", outputs[1]);
            let before = options_file(setup) + "trtllm-bench --model";
            let after = " throughput --backend pytorch --dataset prompts.json";
            let run = started(Program::TrtllmBench, &before, after, setup).over(setup);
            return format!("{}\n{}", data.0, run.0);
        }
    };
    let command = command.over(setup);
    "# Starts the engine itself: no server is needed.\n".to_owned() + &command.0
}

/// vLLM's multi-turn benchmark, which works with all three engines.
pub fn sessions(setup: &Setup) -> String {
    let workload = &setup.workload;
    let turns = workload.turns;
    let replicas = setup.copies();
    let sessions = requests_of(setup, workload.load) / turns.count.max(1);
    let same = |value: u32| serde_json::json!({"distribution": "constant", "value": value});
    let first = workload.isl.first();
    let conversations = serde_json::json!({
        "filetype": "generate_conversations",
        "num_conversations": sessions,
        "text_files": ["pg1184.txt"],
        "prompt_input": {
            // Messages of user and model.
            "num_turns": same(turns.count.saturating_mul(2)),
            "common_prefix_num_tokens": same(0),
            "prefix_num_tokens": same(first.saturating_sub(turns.message)),
            "num_tokens": same(turns.message),
        },
        "prompt_output": {"num_tokens": same(workload.osl)},
    });
    let mut notes =
        "# In a checkout of vLLM, with a text to draw from (pg1184.txt of gutenberg.org).\n".to_owned();
    let clients = match workload.load {
        Load::Sessions(users) => users.div_ceil(replicas),
        _ => {
            notes += "# All sessions start at once: it has no session rate.\n";
            sessions
        }
    };
    if turns.think_s > 0.0 {
        notes += "# Without think time: it sends the next message at once.\n";
    }
    let run = Shell::new("python benchmarks/multi_turn/benchmark_serving_multi_turn.py")
        .flag("--url", server(setup))
        .flag("--model", model(setup))
        .flag("--input-file", "conversations.json")
        .flag("--num-clients", clients)
        .flag("--max-active-conversations", clients);
    format!("{notes}cat > conversations.json <<'END'\n{conversations:#}\nEND\n{}", run.0)
}
