//! Commands and manifests: they use no option that the version of the engine does not document, and are read back as
//! what they say.

use std::collections::BTreeSet;

use rooflight::api::ParsedScenario;
use rooflight::config::catalog::catalog;
use rooflight::config::{Scenario, Setup, command};
use rooflight::deploy::{commands, manifest};
use rooflight::serving::run::Commands;
use serde_json::Value;

fn setup(link: &str) -> Setup {
    let asked = ParsedScenario::read(link);
    asked.setup.unwrap_or_else(|| panic!("{link}: {:?}", asked.issues))
}

const LINKS: [&str; 10] = [
    "v=1&m=llama-3.3-70b-instruct&g=h100-sxm&tp=4&n=12&w=fp8&kv=fp8&r=20&st=1000&sp=30&so=0.99",
    "v=1&m=deepseek-r1&g=b200&dp=8&ep=8&kv=fp8&c=64",
    "v=1&m=deepseek-r1&g=b200&tp=8&ep=8&c=64",
    "v=1&m=deepseek-r1&g=h200-sxm&tp=16&c=8",
    "v=1&m=llama-3.1-405b&g=h100-sxm&tp=8&pp=2&w=fp8&c=8",
    "v=1&m=qwen3-8b&g=l40s&isl=2000&osl=100&rc=2&pc=0.5",
    "v=1&m=qwen3-32b&g=b200&w=nvfp4&bn=100",
    "v=1&m=qwen3-32b&g=b200&sd=3&sa=1.5&r=2",
    "v=1&m=qwen3-8b&cg=64",
    "v=1&m=qwen3-8b&cg=0",
];

#[test]
fn a_manifest_reads_back_with_all_replicas() {
    let setup = setup(LINKS[0]);
    let text = manifest(&setup).expect("a manifest");
    let (read, issues) = command::read(&text, &Scenario::default()).expect("a command");
    let read = read.unwrap_or_else(|| panic!("{issues:?}"));
    assert_eq!((read.parallel.tp, read.replicas), (setup.parallel.tp, setup.replicas));
    assert_eq!(setup.replicas, 3);
}

/// The options among the words of a text.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

/// The options that a program documents.
fn known(program: &str, version: &str) -> BTreeSet<String> {
    let table: Value = serde_json::from_str(include_str!("../static/catalog/options.json")).expect("JSON");
    let programs = table["programs"].as_array().expect("a list");
    let found = programs.iter().find(|of| of["program"] == program && of["version"] == version);
    let found = found.unwrap_or_else(|| panic!("options.json does not list {program} {version}"));
    let options = found["options"].as_array().expect("a list").iter();
    options.map(|option| option.as_str().expect("a name").to_owned()).collect()
}

#[test]
fn a_queue_is_measured_by_a_program_that_can() {
    let bench = |link: &str| {
        let setup = setup(link);
        (Commands::of(&setup).bench, setup.engine.version.text().to_owned())
    };
    for link in
        ["v=1&m=qwen3-32b&tp=2&e=trtllm&on=200", "v=1&m=deepseek-r1&g=h200-sxm&tp=16&ep=16&e=trtllm&on=100"]
    {
        let (text, version) = bench(link);
        let (emitted, known) = (options(&text), known("trtllm-bench", &version));
        let unknown: Vec<&String> = emitted.difference(&known).collect();
        assert!(unknown.is_empty(), "{link}: {unknown:?}");
        assert!(text.contains(" throughput --backend pytorch"), "{text}");
    }
    // The throughput benchmark of vLLM refuses data parallelism.
    let (text, _) = bench("v=1&m=qwen3-30b-a3b&g=h100-sxm&dp=4&ep=4&n=4&on=100");
    assert!(text.contains("vllm bench serve") && text.contains("--num-prompts 100"), "{text}");
    // An engine that the benchmark starts needs all machines.
    for engine in ["vllm", "sglang", "trtllm"] {
        let (text, _) = bench(&format!("v=1&m=deepseek-r1&g=h200-sxm&tp=16&n=16&on=100&e={engine}"));
        assert!(text.contains("# Over 2 nodes"), "{text}");
    }
}

#[test]
fn ray_spreads_a_replica_or_its_ranks() {
    let launch =
        |layout: &str| Commands::of(&setup(&format!("v=1&m=deepseek-r1&g=h200-sxm&{layout}&c=64"))).launch;
    assert!(launch("dp=16&ep=16&n=16").contains("--data-parallel-backend ray"));
    assert!(launch("tp=16&n=16").contains("--distributed-executor-backend ray"));
}

#[test]
fn what_to_replace_is_said_in_a_manifest() {
    let text = manifest(&setup("v=1&m=qwen3-8b&g=b200&w=nvfp4&pw=1")).expect("a manifest");
    assert!(text.contains("replace it by one in nvfp4"), "{text}");
}

#[test]
fn no_command_has_an_option_that_its_version_does_not_document() {
    let mut seen = BTreeSet::new();
    for link in LINKS {
        for (engine, program) in
            [("vllm", "vllm serve"), ("sglang", "sglang.launch_server"), ("trtllm", "trtllm-serve")]
        {
            let Some(setup) = ParsedScenario::read(&format!("{link}&e={engine}")).setup else { continue };
            let Commands { launch, bench } = Commands::of(&setup);
            let version = setup.engine.version.text();
            let emitted = options(&launch);
            let known_here = known(program, version);
            let unknown: Vec<&String> = emitted.difference(&known_here).collect();
            assert!(unknown.is_empty(), "{program} {version}: {unknown:?}");
            seen.extend(emitted.into_iter().map(|option| format!("{program} {option}")));
            let version = catalog().engine("vllm").expect("known").version.text();
            let emitted = options(&bench);
            let known_here = known("vllm bench", version);
            let unknown: Vec<&String> = emitted.difference(&known_here).collect();
            assert!(unknown.is_empty(), "vllm bench {version}: {unknown:?}");
        }
    }
    // The grid reaches what engines differ in.
    for option in [
        "vllm serve --data-parallel-size",
        "sglang.launch_server --enable-dp-attention",
        "trtllm-serve --ep_size",
    ] {
        assert!(seen.contains(option), "{option} of {seen:?}");
    }
}

#[test]
fn a_manifest_starts_what_was_predicted() {
    for engine in ["vllm", "sglang", "trtllm"] {
        let setup = setup(&format!("{}&e={engine}", LINKS[0]));
        let text = manifest(&setup).expect("a manifest");
        let image = format!("v{}", setup.engine.version);
        for part in [
            "kind: Deployment",
            "kind: Service",
            "replicas: 3",
            "nvidia.com/gpu: 4",
            image.trim_start_matches('v'),
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let (read, issues) = command::read(&text, &Scenario::default()).expect("a command");
        let read = read.unwrap_or_else(|| panic!("{issues:?}"));
        assert_eq!(
            (read.parallel.tp, &*read.engine, read.model.id()),
            (4, engine, "llama-3.3-70b-instruct"),
            "{text}"
        );
        let overrides = &read.overrides;
        assert_eq!(overrides.max_seqs, Some(setup.max_seqs), "{text}");
        assert_eq!(overrides.token_budget, Some(setup.token_budget));
    }
}

#[test]
fn pools_are_two_services_under_dynamo() {
    let link = "v=1&m=llama-3.3-70b-instruct&g=h100-sxm&tp=4&n=8&w=fp8&r=4&pw=3&ptp=2";
    for (engine, module) in [("vllm", "dynamo.vllm"), ("sglang", "dynamo.sglang")] {
        let setup = setup(&format!("{link}&e={engine}"));
        let text = manifest(&setup).expect("a manifest");
        for part in
            ["kind: DynamoGraphDeployment", module, "subComponentType: prefill", "subComponentType: decode"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
        let (decode, prefill) = text.split_once("prefill:\n").expect("both");
        assert!(decode.contains("gpu: \"4\"") && decode.contains("replicas: 2"), "{text}");
        assert!(prefill.contains("gpu: \"2\"") && prefill.contains("replicas: 3"), "{text}");
        let (read, issues) = command::read(&text, &Scenario::default()).expect("a command");
        let read = read.unwrap_or_else(|| panic!("{issues:?}"));
        let (decode, prefill) = (read.parallel, read.prefill);
        assert_eq!(
            (read.replicas, decode.tp, prefill.workers, prefill.parallel.tp),
            (2, 4, 3, 2),
            "{issues:?}"
        );
        assert!(!issues.iter().any(|issue| issue.text.contains("ignored")), "{issues:?}");
    }
    let refused = manifest(&setup(&format!("{link}&e=trtllm"))).expect_err("none is written");
    assert!(refused.contains("TensorRT-LLM"), "{refused}");
}

#[test]
fn settings_without_a_manifest_or_command_are_named() {
    let nodes = manifest(&setup(LINKS[3])).expect_err("two nodes");
    assert!(nodes.contains("2 nodes"), "{nodes}");
    let text = commands(&setup(LINKS[6]));
    assert!(text.starts_with("# This checkpoint is in bf16: replace it by one in nvfp4"), "{text}");
    assert!(!commands(&setup(LINKS[0])).contains("replace it by one in"));
    assert!(commands(&setup(&format!("{}&e=trtllm", LINKS[0]))).contains("replace it by one in"));
}
