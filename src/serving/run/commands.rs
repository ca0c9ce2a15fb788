//! The shell commands that start this very configuration, and that measure its load.

use serde::Serialize;

use super::requests_of;
use crate::config::{Batching, Dtype, Load, Setup};
use crate::units::decimal;

/// Of one replica. Flags are those of the engine's version in the catalog; every setting is spelled out, so that
/// other defaults change nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Commands {
    pub launch: String,
    /// `vllm bench serve`, whose definitions of TTFT and TPOT are ours; it speaks to all three engines.
    pub bench: String,
}

/// A command, a flag a line.
struct Shell(String);

impl Shell {
    fn new(command: &str) -> Self {
        Self(command.to_owned())
    }

    fn flag(mut self, flag: &str, value: impl ToString) -> Self {
        self.0 += format!(" \\\n  {flag} {}", value.to_string()).trim_end();
        self
    }

    fn given(self, flag: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.flag(flag, value),
            None => self,
        }
    }

    fn only_if(self, wanted: bool, flag: &str, value: impl ToString) -> Self {
        if wanted { self.flag(flag, value) } else { self }
    }
}

impl Commands {
    pub fn of(setup: &Setup) -> Self {
        let launch = match setup.engine.scheduler.batching {
            Batching::MixedChunks => vllm(setup),
            Batching::PrefillFirst => sglang(setup),
            Batching::InFlight => trtllm(setup),
        };
        let one = match setup.replicas {
            0 | 1 => String::new(),
            replicas => format!("# One of {replicas} replicas, and its share of the load.\n"),
        };
        Self { launch: launch.0, bench: one + &bench(setup).0 }
    }
}

/// The name as one word of a shell, whatever is in it.
fn model(setup: &Setup) -> String {
    shlex::try_quote(&setup.model.name).map_or_else(|_| "MODEL".into(), |quoted| quoted.into_owned())
}

/// The checkpoint's own format needs no flag.
fn quantised(setup: &Setup) -> Option<&'static str> {
    let own = setup.weights == setup.model.weights;
    (!own && setup.weights.math() == Dtype::Fp8).then_some("fp8")
}

fn vllm(setup: &Setup) -> Shell {
    Shell::new(&format!("vllm serve {}", model(setup)))
        .flag("--tensor-parallel-size", setup.tp)
        .only_if(setup.pp > 1, "--pipeline-parallel-size", setup.pp)
        .only_if(setup.dp > 1, "--data-parallel-size", setup.dp)
        .only_if(setup.ep > 1, "--enable-expert-parallel", "")
        .only_if(setup.kv == Dtype::Fp8, "--kv-cache-dtype", "fp8")
        .given("--quantization", quantised(setup))
        .flag("--max-num-batched-tokens", setup.token_budget)
        .flag("--max-num-seqs", setup.max_seqs)
        .flag("--gpu-memory-utilization", decimal(setup.memory_share))
        .flag("--no-enable-prefix-caching", "")
}

fn sglang(setup: &Setup) -> Shell {
    Shell::new(&format!("python -m sglang.launch_server --model-path {}", model(setup)))
        .flag("--tp-size", setup.gpus_per_stage())
        .only_if(setup.pp > 1, "--pp-size", setup.pp)
        .only_if(setup.dp > 1, "--dp-size", setup.dp)
        .only_if(setup.dp > 1, "--enable-dp-attention", "")
        .only_if(setup.ep > 1, "--ep-size", setup.ep)
        .only_if(setup.kv == Dtype::Fp8, "--kv-cache-dtype", "fp8_e4m3")
        .given("--quantization", quantised(setup))
        .flag("--chunked-prefill-size", setup.token_budget)
        .flag("--max-running-requests", setup.max_seqs)
        .flag("--mem-fraction-static", decimal(setup.memory_share))
        .flag("--disable-radix-cache", "")
}

fn trtllm(setup: &Setup) -> Shell {
    let mut options = String::from("kv_cache_config:\\n  enable_block_reuse: false\\n");
    if setup.kv == Dtype::Fp8 {
        options += "  dtype: fp8\\n";
    }
    if setup.dp > 1 {
        options += "enable_attention_dp: true\\n";
    }
    let serve = format!("printf '{options}' > options.yaml\ntrtllm-serve {}", model(setup));
    Shell::new(&serve)
        .flag("--tp_size", setup.gpus_per_stage())
        .only_if(setup.pp > 1, "--pp_size", setup.pp)
        .only_if(setup.ep > 1, "--ep_size", setup.ep)
        .flag("--max_num_tokens", setup.token_budget)
        .flag("--max_batch_size", setup.max_seqs)
        .flag("--kv_cache_free_gpu_memory_fraction", decimal(setup.memory_share))
        .flag("--extra_llm_api_options", "options.yaml")
}

fn bench(setup: &Setup) -> Shell {
    let port = if setup.engine.scheduler.batching == Batching::PrefillFirst { 30_000 } else { 8000 };
    let replicas = setup.replicas.max(1);
    let (rate, clients) = match setup.load {
        Load::Concurrency(clients) => ("inf".to_owned(), Some(clients.div_ceil(replicas))),
        Load::Rate(rate) => (decimal(rate / f64::from(replicas)), None),
        Load::Batch(_) => ("inf".to_owned(), None),
    };
    let mut limits = Vec::new();
    limits.extend(setup.slos.ttft_ms.map(|limit| format!("ttft:{}", decimal(limit))));
    limits.extend(setup.slos.tpot_ms.map(|limit| format!("tpot:{}", decimal(limit))));
    Shell::new("vllm bench serve --backend openai --endpoint /v1/completions")
        .flag("--base-url", format!("http://localhost:{port}"))
        .flag("--model", model(setup))
        .flag("--dataset-name", "random")
        .flag("--random-input-len", decimal(setup.mean_prompt().round()))
        .flag("--random-output-len", setup.osl)
        .only_if(setup.spread > 0.0, "--random-range-ratio", decimal(setup.spread))
        .flag("--num-prompts", requests_of(setup, setup.load))
        .flag("--request-rate", rate)
        .given("--max-concurrency", clients)
        .only_if(!limits.is_empty(), "--goodput", limits.join(" "))
        .flag("--percentile-metrics", "ttft,tpot,itl,e2el")
        .flag("--metric-percentiles", "50,90,99")
        .flag("--ignore-eos", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::config::{ModelChoice, Scenario, check};

    fn commands(change: impl FnOnce(&mut Scenario)) -> Commands {
        let mut scenario = Scenario::default();
        change(&mut scenario);
        let (setup, issues) = check(&scenario, catalog());
        Commands::of(&setup.unwrap_or_else(|| panic!("{issues:?}")))
    }

    #[test]
    fn every_engine_is_told_what_the_form_says() {
        let common = |scenario: &mut Scenario| {
            scenario.model = ModelChoice::Catalog("deepseek-r1".into());
            scenario.gpu = "b200".into();
            (scenario.tp, scenario.dp, scenario.ep) = (1, 8, 8);
            scenario.kv = Dtype::Fp8;
            scenario.overrides.max_seqs = Some(77);
        };
        let vllm = commands(common).launch;
        let sglang = commands(|scenario| {
            common(scenario);
            scenario.engine = "sglang".into();
        });
        let trtllm = commands(|scenario| {
            common(scenario);
            scenario.engine = "trtllm".into();
        });
        for (launch, flags) in [
            (
                &vllm,
                [
                    "deepseek-ai/DeepSeek-R1",
                    "--data-parallel-size 8",
                    "--enable-expert-parallel",
                    "--kv-cache-dtype fp8",
                    "--max-num-seqs 77",
                ],
            ),
            (
                &sglang.launch,
                [
                    "--tp-size 8",
                    "--enable-dp-attention",
                    "--ep-size 8",
                    "--kv-cache-dtype fp8_e4m3",
                    "--max-running-requests 77",
                ],
            ),
            (
                &trtllm.launch,
                [
                    "--tp_size 8",
                    "enable_attention_dp: true",
                    "--ep_size 8",
                    "dtype: fp8",
                    "--max_batch_size 77",
                ],
            ),
        ] {
            for flag in flags {
                assert!(launch.contains(flag), "{flag} in {launch}");
            }
        }
        assert!(sglang.bench.contains("localhost:30000") && trtllm.bench.contains("localhost:8000"));
    }

    #[test]
    fn the_benchmark_asks_for_the_load_of_one_replica() {
        let closed = commands(|scenario| {
            (scenario.replicas, scenario.workload.load) = (2, Load::Concurrency(64));
            scenario.workload.slos.ttft_ms = Some(250.0);
        });
        for flag in [
            "# One of 2 replicas",
            "--max-concurrency 32",
            "--num-prompts 320",
            "--request-rate inf",
            "--goodput ttft:250",
        ] {
            assert!(closed.bench.contains(flag), "{flag} in {}", closed.bench);
        }
        let open = commands(|scenario| {
            (scenario.workload.load, scenario.workload.spread) = (Load::Rate(2.5), 0.2);
        });
        for flag in [
            "--request-rate 2.5",
            "--num-prompts 1000",
            "--random-range-ratio 0.2",
            "--random-input-len 1024",
        ] {
            assert!(open.bench.contains(flag), "{flag} in {}", open.bench);
        }
        assert!(!open.bench.contains("--max-concurrency"));
    }

    #[test]
    fn a_name_cannot_leave_its_word() {
        let hostile = commands(|scenario| {
            let mut model = catalog().model("qwen3-8b").expect("known").clone();
            model.name = "x; rm -rf ~ $(id) 'y'".into();
            scenario.model = ModelChoice::Custom(Box::new(model));
        });
        let words = shlex::split(&hostile.bench.replace("\\\n", " ")).expect("sound");
        assert!(words.contains(&"x; rm -rf ~ $(id) 'y'".to_owned()), "{words:?}");
    }
}
