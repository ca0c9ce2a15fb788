//! Benchmarks beside the server's command.

use super::*;

#[test]
fn the_load_of_a_benchmark_beside_the_server_is_read() {
    let after = |flags: &str| {
        link_of(&format!(
            "vllm serve Qwen/Qwen3-8B &\nvllm bench serve --model Qwen/Qwen3-8B --dataset-name random {flags}"
        ))
    };
    for (flags, link) in [
        (
            "--random-input-len 2000 --random-output-len 200 --max-concurrency 32",
            "v=1&m=qwen3-8b&isl=2000&osl=200&c=32",
        ),
        (
            "--request-rate 4 --num-prompts 500 --random-range-ratio 0.2",
            "v=1&m=qwen3-8b&osl=128&rr=0.2&r=4&np=500",
        ),
        ("--request-rate 4 --max-concurrency 8", "v=1&m=qwen3-8b&osl=128&r=4&mc=8&np=1000"),
        ("--request-rate 4 --burstiness 0.5", "v=1&m=qwen3-8b&osl=128&r=4&bu=0.5&np=1000"),
        ("--request-rate inf --num-prompts 50", "v=1&m=qwen3-8b&osl=128&bn=50"),
        // As Rooflight itself writes a constant rate.
        ("--request-rate 4 --burstiness 1000000", "v=1&m=qwen3-8b&osl=128&rc=4&np=1000"),
        ("--max-concurrency 512", "v=1&m=qwen3-8b&osl=128&c=512&np=1000"),
        (
            "--random-prefix-len 512 --random-input-len 512 --max-concurrency 8",
            "v=1&m=qwen3-8b&osl=128&pc=0.5&c=8",
        ),
    ] {
        assert_eq!(after(flags), link);
    }
    let (_, issues) =
        read_link("vllm serve Qwen/Qwen3-8B\nvllm bench serve --dataset-name sonnet").expect("a command");
    assert_eq!(issues, ["not recognised and ignored: `--dataset-name sonnet`"]);
}

#[test]
fn a_benchmark_that_names_no_lengths_has_those_of_its_data_set() {
    for (flags, link) in [
        ("--model Qwen/Qwen3-8B", "v=1&m=qwen3-8b&osl=128&bn=1000"),
        (
            "--dataset-name sharegpt --dataset-path ShareGPT.json --max-concurrency 8",
            "v=1&m=qwen3-8b&isl=220&osl=197&sh=sharegpt&c=8",
        ),
    ] {
        assert_eq!(link_of(&format!("vllm serve Qwen/Qwen3-8B &\nvllm bench serve {flags}")), link);
    }
}

#[test]
fn lengths_of_sglangs_benchmark_go_up_to_those_stated() {
    let server = "python -m sglang.launch_server --model-path Qwen/Qwen3-8B";
    let after = |flags: &str| {
        link_of(&format!("{server} &\npython3 -m sglang.bench_serving --backend sglang {flags}"))
    };
    let random = "--dataset-name random --random-input-len 1000 --random-output-len 500 --max-concurrency 8";
    for (flags, link) in [
        (format!("{random} --random-range-ratio 1.0"), "v=1&m=qwen3-8b&e=sglang&isl=1000&osl=500&c=8"),
        (
            format!("{random} --random-range-ratio 0.5"),
            "v=1&m=qwen3-8b&e=sglang&isl=750&osl=375&rr=0.333333333333333&c=8",
        ),
        (random.to_owned(), "v=1&m=qwen3-8b&e=sglang&isl=500&osl=250&rr=0.95&c=8"),
        ("--num-prompt 64".to_owned(), "v=1&m=qwen3-8b&e=sglang&isl=220&osl=197&sh=sharegpt&bn=64"),
    ] {
        assert_eq!(after(&flags), link);
    }
}

#[test]
fn the_lengths_of_a_benchmark_replace_a_distribution() {
    let text = "vllm serve Qwen/Qwen3-8B &\nvllm bench serve --dataset-name random --random-input-len 2000 \
                --max-concurrency 32";
    for base in ["hl=512-64,2048-256", "sh=sharegpt&osl=300", "rr=0.5", "ls=0.5", "b=2&isl=100,200"] {
        let (scenario, _) = read(text, &link::decode(base).0.scenario).expect("a command");
        let link = link::encode(&scenario.expect("a scenario"));
        assert_eq!(link, "v=1&m=qwen3-8b&isl=2000&osl=128&c=32", "{base}");
    }
}

#[test]
fn a_loop_over_loads_leaves_the_load() {
    let text = "vllm serve Qwen/Qwen3-8B &\nfor c in 1 8; do\n  vllm bench serve --dataset-name random --random-input-len 2000 \
                --max-concurrency $c --num-prompts $((c*10))\ndone";
    let (read, issues) = read(text, &link::decode("c=4").0.scenario).expect("a command");
    assert_eq!(link::encode(&read.expect("a scenario")), "v=1&m=qwen3-8b&isl=2000&osl=128&c=4");
    let listed = "`--max-concurrency $c`, `--num-prompts $((c*10))`";
    assert_eq!(issues[0].text, format!("not recognised and ignored: {listed}"));
    let lengths = "vllm serve Qwen/Qwen3-8B &\nvllm bench serve --random-input-len $isl --max-concurrency 4";
    let (read, _) = super::read(lengths, &link::decode("isl=300").0.scenario).expect("a command");
    assert_eq!(link::encode(&read.expect("a scenario")), "v=1&m=qwen3-8b&isl=300&osl=128&c=4");
}

#[test]
fn other_benchmarks_are_listed() {
    let server = "vllm serve Qwen/Qwen3-8B";
    let script = "python3 benchmarks/benchmark_serving.py --max-concurrency 32";
    // It sampled ShareGPT unless told otherwise, and a ratio of 1 is not a spread of all lengths.
    assert_eq!(link_of(&format!("{server} &\n{script}")), "v=1&m=qwen3-8b&isl=220&osl=197&sh=sharegpt&c=32");
    let fixed =
        "--dataset-name random --random-input-len 800 --random-output-len 80 --random-range-ratio 1.0";
    assert_eq!(link_of(&format!("{server} &\n{script} {fixed}")), "v=1&m=qwen3-8b&isl=800&osl=80&c=32");
    let offline = "vllm bench throughput --input-len 300 --output-len 20 --num-prompts 64";
    assert_eq!(link_of(&format!("{server} &\n{offline}")), "v=1&m=qwen3-8b&isl=300&osl=20&on=64");
    for other in ["vllm bench latency --batch-size 64", "guidellm benchmark --rate 4"] {
        let (_, issues) = read_link(&format!("{server} &\n{other}")).expect("a command");
        assert_eq!(issues, [format!("not recognised and ignored: `{other}`")]);
    }
}
