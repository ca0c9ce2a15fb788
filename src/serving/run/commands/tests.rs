use super::*;
use crate::config::catalog::catalog;
use crate::config::{Drafts, ModelChoice, Prefill, Scenario, check};

fn commands(change: impl FnOnce(&mut Scenario)) -> Commands {
    let mut scenario = Scenario::default();
    change(&mut scenario);
    let (setup, issues) = check(&scenario, catalog());
    Commands::of(&setup.unwrap_or_else(|| panic!("{issues:?}")))
}

#[test]
fn scales_per_block_are_the_checkpoints_alone() {
    let of = |model: &str, weights: Dtype| {
        commands(|scenario| {
            (scenario.model, scenario.weights) = (ModelChoice::Catalog(model.into()), Some(weights));
            scenario.gpu = "b200".into();
        })
        .launch
    };
    let llama = |weights| of("llama-3.1-8b", weights);
    let (block, made) = (llama(Dtype::Fp8Block), llama(Dtype::Fp8));
    assert!(!block.contains("--quantization") && block.contains("replace it by one in fp8_block"), "{block}");
    assert!(made.starts_with("vllm serve") && made.contains("--quantization fp8"), "{made}");
    // Of the catalog, and by its publisher's usual name.
    for (model, weights, name) in [
        ("qwen3-32b", Dtype::Fp8Block, "Qwen/Qwen3-32B-FP8"),
        ("qwen3-32b", Dtype::Fp8, "Qwen/Qwen3-32B-FP8-Static-PerTensor"),
        ("qwen3-8b", Dtype::Fp8Block, "Qwen/Qwen3-8B-FP8"),
        ("qwen3-235b-a22b", Dtype::Nvfp4, "nvidia/Qwen3-235B-A22B-NVFP4"),
    ] {
        let launch = of(model, weights);
        assert!(launch.starts_with(&format!("vllm serve {name} ")), "{launch}");
        assert!(!launch.contains("--quantization"), "{launch}");
    }
    let made = of("qwen3-8b", Dtype::Fp8);
    assert!(made.contains("--quantization fp8") && made.contains("Qwen3-8B-FP8 is published"), "{made}");
}

#[test]
fn every_engine_gets_the_settings_of_the_form() {
    let common = |scenario: &mut Scenario| {
        scenario.model = ModelChoice::Catalog("deepseek-r1".into());
        scenario.gpu = "b200".into();
        (scenario.parallel.tp, scenario.parallel.dp, scenario.parallel.ep) = (1, 8, 8);
        scenario.kv = Dtype::Fp8;
        (scenario.overrides.max_seqs, scenario.overrides.largest_graph) = (Some(77), Some(64));
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
                "--max-cudagraph-capture-size 64",
            ],
        ),
        (
            &sglang.launch,
            [
                "--tp-size 8",
                "--enable-dp-attention",
                "--ep-size 8",
                "--kv-cache-dtype fp8_e4m3",
                "--max-running-requests 616",
                "--cuda-graph-max-bs 64",
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
                "max_batch_size: 64",
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
fn every_machine_is_started() {
    let launch = |engine: &str| {
        let commands = commands(|scenario| {
            scenario.model = ModelChoice::Catalog("deepseek-r1".into());
            (scenario.gpu, scenario.engine, scenario.parallel.tp) = ("h200-sxm".into(), engine.into(), 16);
        });
        commands.launch
    };
    assert!(launch("vllm").starts_with("# Over 2 nodes: on the first, once Ray joins them.\nvllm serve"));
    assert!(launch("sglang").contains("--nnodes 2 \\\n  --node-rank 0"), "{}", launch("sglang"));
    assert!(launch("trtllm").starts_with("# Over 2 nodes: by srun"), "{}", launch("trtllm"));
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
    for flag in
        ["--request-rate 2.5", "--num-prompts 1000", "--random-range-ratio 0.2", "--random-input-len 1024"]
    {
        assert!(open.bench.contains(flag), "{flag} in {}", open.bench);
    }
    assert!(!open.bench.contains("--max-concurrency"));
}

#[test]
fn caches_drafts_and_bursts_have_their_flags() {
    for (engine, flags) in [
        ("vllm", ["--enable-prefix-caching", "\"num_speculative_tokens\": 3", "DRAFT_MODEL"]),
        ("sglang", ["--speculative-num-steps 3", "--speculative-num-draft-tokens 4", "DRAFT_MODEL"]),
        ("trtllm", ["enable_block_reuse: true", "max_draft_len: 3", "DRAFT_MODEL"]),
    ] {
        let Commands { launch, bench } = commands(|scenario| {
            scenario.engine = engine.into();
            let workload = &mut scenario.workload;
            (workload.load, workload.burstiness) = (Load::Rate(2.0), 0.5);
            (workload.cached_share, workload.drafts) = (0.5, Drafts { drafted: 3, accepted: 1.8 });
        });
        for flag in flags {
            assert!(launch.contains(flag), "{flag} in {launch}");
        }
        assert!(!launch.contains("--disable-radix-cache") && !launch.contains("--no-enable"), "{launch}");
        for flag in ["--random-prefix-len 512", "--random-input-len 512", "--burstiness 0.5"] {
            assert!(bench.contains(flag), "{flag} in {bench}");
        }
    }
    let own = |engine: &str| {
        let commands = commands(|scenario| {
            scenario.engine = engine.into();
            (scenario.gpu, scenario.parallel.tp) = ("b200".into(), 8);
            scenario.model = ModelChoice::Catalog("deepseek-r1".into());
            scenario.workload.drafts = Drafts { drafted: 3, accepted: 1.8 };
        });
        commands.launch
    };
    for (engine, flag) in [
        ("vllm", r#"'{"method": "mtp", "num_speculative_tokens": 3}'"#),
        ("sglang", "--speculative-algorithm EAGLE "),
        ("trtllm", "decoding_type: MTP\\n  num_nextn_predict_layers: 3"),
    ] {
        assert!(own(engine).contains(flag) && !own(engine).contains("DRAFT_MODEL"), "{}", own(engine));
    }
    let log_normal = commands(|scenario| scenario.workload.log_spread = [0.5; 2]);
    assert!(log_normal.bench.starts_with("# At the mean lengths"), "{}", log_normal.bench);
}

#[test]
fn model_names_are_quoted_in_commands() {
    let hostile = commands(|scenario| {
        let mut model = catalog().model("qwen3-8b").expect("known").clone();
        model.name = "x;rm$(id)'y'".into();
        scenario.model = ModelChoice::Custom(Box::new(model));
    });
    let words = shlex::split(&hostile.bench.replace("\\\n", " ")).expect("sound");
    assert!(words.contains(&"x;rm$(id)'y'".to_owned()), "{words:?}");
    // What describes a file without a name is no name.
    let unnamed = commands(|scenario| {
        let mut model = catalog().model("qwen3-8b").expect("known").clone();
        model.name = "llama, 8.030 B parameters".into();
        scenario.model = ModelChoice::Custom(Box::new(model));
    });
    assert!(unnamed.launch.starts_with("# MODEL: the path"), "{}", unnamed.launch);
    assert!(unnamed.launch.contains("\nvllm serve MODEL "), "{}", unnamed.launch);
}

#[test]
fn every_kind_of_load_has_its_client() {
    let of = |load: Load, engine: &str| {
        let Commands { launch, bench } = commands(|scenario| {
            scenario.engine = engine.into();
            scenario.workload.load = load;
            scenario.workload.turns.count = 5;
        });
        launch + "\n" + &bench
    };
    for engine in ["vllm", "sglang", "trtllm"] {
        for (load, flags) in [
            (Load::ConstantRate(2.0), ["vllm bench serve", "--request-rate 2", "--burstiness 1000000"]),
            (Load::Burst(200), ["vllm bench serve", "--num-prompts 200", "--request-rate inf"]),
            (
                Load::Sessions(8),
                ["benchmark_serving_multi_turn.py", "--num-clients 8", "\"num_conversations\": 24"],
            ),
            (
                Load::SessionRate(1.0),
                ["all sessions start", "it has no session rate", "\"num_conversations\": 200"],
            ),
        ] {
            let text = of(load, engine).replace("All sessions", "all sessions");
            assert!(flags.iter().all(|flag| text.contains(flag)), "{engine} {load:?}: {text}");
        }
    }
    for (engine, flags) in [
        ("vllm", ["vllm bench throughput --model", "--random-input-len 1024", "--max-num-seqs"]),
        (
            "sglang",
            ["sglang.bench_offline_throughput", "--random-range-ratio 1.000", "--max-running-requests"],
        ),
        ("trtllm", ["prepare-dataset", "throughput --backend pytorch", "--num-requests 300"]),
    ] {
        let text = of(Load::Offline(300), engine);
        assert!(flags.iter().all(|flag| text.contains(flag)), "{engine}: {text}");
    }
    // Lengths of 819 to 1229, on average 1024.
    for (engine, flags) in [
        ("vllm", ["--random-input-len 1024", "--random-range-ratio 0.2"]),
        ("sglang", ["--random-input-len 1229", "--random-range-ratio 0.667"]),
        ("trtllm", ["--input-min 819", "--input-max 1229"]),
    ] {
        let text = commands(|scenario| {
            (scenario.engine, scenario.workload.load) = (engine.into(), Load::Offline(300));
            scenario.workload.spread = 0.2;
        });
        assert!(flags.iter().all(|flag| text.bench.contains(flag)), "{engine}: {}", text.bench);
    }
    let prefixes = |load| of(load, "vllm").contains("--enable-prefix-caching");
    assert!(prefixes(Load::Sessions(8)) && !prefixes(Load::Burst(8)));
    let capped = commands(|scenario| {
        (scenario.workload.load, scenario.workload.max_in_flight) = (Load::Burst(200), Some(9));
    });
    assert!(capped.bench.contains("--max-concurrency 9"), "{}", capped.bench);
}

#[test]
fn both_pools_have_a_command_and_the_load_is_of_all() {
    let commands = commands(|scenario| {
        (scenario.parallel.tp, scenario.replicas, scenario.workload.load) = (2, 3, Load::Concurrency(64));
        scenario.prefill = Prefill { workers: 2, ..Prefill::default() };
    });
    for part in ["# Each of 2 prefill workers:", "--tensor-parallel-size 1", "# Each of 3 decode workers:"] {
        assert!(commands.launch.contains(part), "{}", commands.launch);
    }
    assert!(commands.launch.contains("--tensor-parallel-size 2"), "{}", commands.launch);
    assert!(commands.bench.contains("--max-concurrency 64"), "{}", commands.bench);
}

#[test]
fn the_benchmark_sends_images_of_the_stated_tokens() {
    let with_images = |load| {
        commands(|scenario| {
            scenario.model = ModelChoice::Catalog("gemma-3-4b-it".into());
            (scenario.workload.load, scenario.workload.images) = (load, 2);
        })
    };
    let bench = with_images(Load::Rate(2.5)).bench;
    // Of 1,024 tokens, 512 are images of 896 x 896 pixels.
    for flag in [
        "--backend openai-chat --endpoint /v1/chat/completions",
        "--dataset-name random-mm",
        "--random-input-len 512",
        "--random-mm-base-items-per-request 2",
        "--random-mm-limit-mm-per-prompt '{\"image\": 2, \"video\": 0}'",
        "--random-mm-bucket-config '{(896, 896, 1): 1.0}'",
    ] {
        assert!(bench.contains(flag), "{flag} in {bench}");
    }
    let offline = with_images(Load::Offline(100)).bench;
    assert!(offline.contains("# Text only") && offline.contains("--random-input-len 1024"), "{offline}");
}
