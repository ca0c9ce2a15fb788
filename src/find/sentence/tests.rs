//! Requests in words.

use super::testing::parsed;
use super::*;
use crate::config::{Dtype, Scenario, link};

#[test]
fn a_load_with_its_limits_in_one_line() {
    for text in [
        "Llama-3.3-70B, 20 requests/s, TTFT 1 s, TPOT 30 ms",
        "serve llama-3.3-70b-instruct at 20 rps with ttft < 1s and tpot < 30ms",
        "20 requests per second of Llama-3.3-70B-Instruct; TTFT: 1000 ms; ITL: 30",
        "Llama-3.3-70B, 600 users, each sending 2 requests per minute, TTFT 1 s, TPOT 30 ms",
        "Llama-3.3-70B, 600 users at 2 requests per minute each, TTFT 1 s, TPOT 30 ms",
    ] {
        let (link, issues) = parsed(text);
        assert_eq!(link, "v=1&m=llama-3.3-70b-instruct&r=20&st=1000&sp=30&f=all", "{text}");
        assert!(issues.iter().all(|issue| !issue.is_error()), "{issues:?}");
    }
}

#[test]
fn hardware_formats_and_budgets_are_wishes() {
    let (link, _) = parsed(
        "qwen3-32b 64 clients 2048 in 256 out p95 on h200-sxm mi300x vllm fp8 16 GPUs $40/h disaggregated max load MTP 2 accepted 1.5",
    );
    let wanted = "v=1&m=qwen3-32b&isl=2048&osl=256&c=64&sq=95&f=gpu~h200-sxm,mi300x~engine~vllm~weights~fp8~drafted~0,2~accepted~1.5~prefill_workers~all~budget_gpus~16~budget_dollars~40~most~yes";
    assert_eq!(link, wanted);
}

#[test]
fn a_largest_number_of_gpus_is_a_budget_and_no_question() {
    for text in [
        "max 8 GPUs, 20 requests/s",
        "20 rps on at most 8 GPUs",
        "up to 8 gpus, 20 req/s",
        "20 rps, maximum 8 GPUs",
    ] {
        assert_eq!(parsed(text).0, "v=1&r=20&f=budget_gpus~8", "{text}");
    }
    for text in ["most load, max 8 GPUs", "at most 8 GPUs, maximum throughput"] {
        assert_eq!(parsed(text).0, "v=1&r=16&f=budget_gpus~8~most~yes", "{text}");
    }
}

#[test]
fn a_decimal_comma_is_refused_and_thousands_are_read() {
    assert_eq!(parsed("1,024 clients, 2,048 in").0, "v=1&isl=2048&c=1024&f=all");
    assert_eq!(parsed("h100,b200,20 rps").0, parsed("h100, b200, 20 rps").0);
    for text in ["1,5 requests/s", "TPOT 12,5 ms", "20 rps, TTFT 0,125 s"] {
        let refused = read(text, Link::new(Scenario::default())).expect_err(text);
        assert!(refused.is_error() && refused.text.contains("decimal point"), "{}", refused.text);
    }
}

fn refused(text: &str) -> String {
    let refused = read(text, Link::new(Scenario::default())).expect_err(text);
    assert!(refused.is_error() && refused.field == Field::Vary, "{text}");
    refused.text
}

#[test]
fn a_length_follows_its_name_or_comes_before_it() {
    assert_eq!(parsed("5 rps, in 2048 out 300").0, "v=1&isl=2048&osl=300&r=5&f=all");
    assert_eq!(parsed("5 rps, long prompts, 300 out").0, "v=1&osl=300&r=5&f=all");
}

#[test]
fn unknown_words_are_reported() {
    let (_, issues) = parsed("20 rps, cheap and quiet, nice please");
    assert!(issues[0].text.contains("`cheap`, `quiet`, `nice please`"), "{issues:?}");
    assert_eq!(issues[0].field, Field::Vary);
    refused("hello");
    for understood in [
        "I have 8 H100, want to serve Qwen3-235B-A22B to 100 users with TTFT<2 s, TPOT<50 ms",
        "qwen3-32b, 20 users, at least 60 tok/s per user",
        "qwen3-32b, at least 20 rps, at least 99 % of requests",
    ] {
        let (_, issues) = parsed(understood);
        assert!(issues.iter().all(|issue| !issue.text.contains("ignored")), "{issues:?}");
    }
    assert!(
        refused("qwen3-32b, 20 users, TTFT of at least 2 s").contains("`least 2 s`"),
        "no limit is a least one"
    );
    let (_, issues) = parsed("cheapest way to run Qwen3-32B for 200 people, can we use H100 or MI300X?");
    assert!(issues.iter().all(|issue| !issue.text.contains("ignored")), "{issues:?}");
}

#[test]
fn nothing_is_zero() {
    for text in ["qwen3-8b, 0 users", "0 GPUs, 5 rps", "5 rps, $0/h", "0 requests/s", "5 rps, 0 in"] {
        assert!(refused(text).contains("may be 0"), "{text}: {}", refused(text));
    }
    assert_eq!(parsed("5 rps, 0 % cached").0, "v=1&r=5&f=all");
    assert!(!refused("qwen3-8b, 5 rps, temperature 0").contains("may be 0"), "of what nobody asks here");
}

#[test]
fn a_number_that_is_not_understood_is_an_error_that_names_its_phrase() {
    for (text, phrase) in [
        ("20 rps, power 400 W", "`power 400 W`"),
        ("qwen3-32b, 20 requsts/s", "`20 requsts/s`"),
        ("20 rps, $40/fortnight", "`$40/fortnight`"),
        ("20 rps, TTFT 1parsec", "`TTFT 1parsec`"),
        ("20 rps, 300 tok/s", "`300 tok/s`"),
        ("Qwen3-32B, 50k output tokens/s, h200-sxm", "`50k output tokens/s`"),
        ("20 rps, output 50k tok/s", "`output 50k tok/s`"),
        ("1000 daily users each 20 requests/day", "not `1000 daily users`"),
        ("20 rps, 5.5 clients", "`5.5 clients`"),
        ("20 rps on h101", "`h101`"),
        // Two nodes have more than two GPUs.
        ("20 rps on 2 p5.48xlarge", "not understood: `2`"),
        ("peak 20 rps avg 5 rps, TTFT 1 s", "`20 rps` and `5 rps` are two loads"),
        ("10 req/s, 5 clients", "`10 req/s` and `5 clients` are two loads"),
        ("1e9 requests/s", "`1e9 requests/s`"),
        ("5 rps, 1.000 tokens in", "`1.000`: write 1000, or 1"),
        ("5 rps, TTFT 0 s", "`TTFT 0 s`"),
        ("5 rps, TTFT 500/1000 ms", "500/1000 ms`"),
        ("5 rps, kv 80%", "80%"),
        ("5 rps, stream starts within 1 s", "name the latency"),
        ("5 rps on at least 8 GPUs", "is the most to use"),
        ("5 rps on at least 2 H200", "is the most to use"),
        ("5 rps, TTFT 1 s, 20% headroom", "`20% headroom`"),
        ("5 rps, 70% GPU utilization", "`70%`"),
        ("5 rps, 99.9% uptime", "`99.9% uptime`"),
        ("5 rps, memory share of 90%", "90%"),
        ("5 rps, 150% cached", "150%"),
        ("1B tokens/month", "`1B tokens/month`"),
        ("20 rps vLLM V1", "`V1`"),
        ("3M requests a month", "per second, minute, hour or day"),
        ("20 requests", "`20 requests`"),
        ("20 rps, TTFT 1 parsec", "`1 parsec`"),
        ("several requests per second, TPOT 30 ms", "`several requests/second`"),
        ("many users, TPOT 30 ms", "`many users`"),
        ("20 rps on two nodes", "`two nodes`"),
        ("20 rps, 8 turns", "`8 turns`"),
    ] {
        assert!(refused(text).contains(phrase), "{text}: {}", refused(text));
    }
    assert!(refused("qwen3-32b, -5 req/s, TPOT 30 ms").contains("`-5 req/s`: "));
}

#[test]
fn loads_lengths_and_budgets_are_read_as_people_write_them() {
    for (text, wanted) in [
        ("600 req/min", "v=1&r=10&f=all"),
        ("600 requests per minute", "v=1&r=10&f=all"),
        ("100 rpm", "v=1&r=1.66667&f=all"),
        ("200 sessions", "v=1&sn=200&f=all"),
        ("32 concurrent requests", "v=1&c=32&f=all"),
        ("5 rps, 2k tokens in", "v=1&isl=2000&r=5&f=all"),
        ("5 rps, 8k in 1k out", "v=1&isl=8000&osl=1000&r=5&f=all"),
        ("5 rps, input 8k / output 1k tokens", "v=1&isl=8000&osl=1000&r=5&f=all"),
        ("5 rps, ShareGPT", "v=1&sh=sharegpt&r=5&f=all"),
        ("5 rps, reserved", "v=1&r=5&f=prices~reserved"),
        ("5 rps, 40 $/h", "v=1&r=5&f=budget_dollars~40"),
        ("5 rps, budget 40 dollars per hour", "v=1&r=5&f=budget_dollars~40"),
        ("5 rps, $1,500/h", "v=1&r=5&f=budget_dollars~1500"),
        ("5 rps, 2k/500 tokens", "v=1&isl=2000&osl=500&r=5&f=all"),
        ("5 rps, 1500/300", "v=1&isl=1500&osl=300&r=5&f=all"),
        ("5 rps, GPUs owned: 8 h100-sxm", "v=1&r=5&f=gpu~h100-sxm~owned~h100-sxm,8"),
        ("5 rps on 8xH100-SXM", "v=1&r=5&f=gpu~h100-sxm~owned~h100-sxm,8"),
        ("5 rps on 8xH200 SXM", "v=1&r=5&f=gpu~h200-sxm~owned~h200-sxm,8"),
        ("5 rps on B200 x8", "v=1&r=5&f=gpu~b200~owned~b200,8"),
        ("5000 prompts offline within 8 hours", "v=1&on=5000&se=28800000&f=all"),
        ("5000 prompts offline, done in 8 hours", "v=1&on=5000&se=28800000&f=all"),
        ("5000 prompts offline, deadline 8 h", "v=1&on=5000&se=28800000&f=all"),
        ("5000 prompts offline within an hour", "v=1&on=5000&se=3600000&f=all"),
        ("5 rps within 200 ms TTFT", "v=1&r=5&st=200&f=all"),
        ("5 rps, within 200 ms to first token", "v=1&r=5&st=200&f=all"),
        ("5 rps, first-token latency 500 ms, token latency 30 ms", "v=1&r=5&st=500&sp=30&f=all"),
        ("5 rps, TTFT 1 s in 95% of requests", "v=1&r=5&st=1000&so=0.95&f=all"),
        ("64 clients at once", "v=1&c=64&f=all"),
        ("5 rps in 8 GPUs", "v=1&r=5&f=budget_gpus~8"),
        ("5 rps in 8 h100-sxm", "v=1&r=5&f=gpu~h100-sxm~owned~h100-sxm,8"),
        ("5 rps, E2E 5m", "v=1&r=5&se=300000&f=all"),
        ("5 rps, 60% cached", "v=1&pc=0.6&r=5&f=all"),
        ("5 rps, 80% of the prompt cached", "v=1&pc=0.8&r=5&f=all"),
        ("5 rps, 90% prompt cache hits", "v=1&pc=0.9&r=5&f=all"),
        ("5 rps, 50% shared prefix", "v=1&pc=0.5&r=5&f=all"),
        ("5 rps, ISL=2048, OSL=256, tp=4", "v=1&isl=2048&osl=256&r=5&f=tp~4"),
        ("max rate 20 rps", "v=1&r=20&f=all"),
        ("max rate of 20 rps", "v=1&r=20&f=all"),
        ("max users 300", "v=1&c=300&f=all"),
        ("max concurrency=64", "v=1&c=64&f=all"),
        ("a million requests per day", "v=1&r=11.5741&f=all"),
        ("5 rps, ISL 1m", "v=1&isl=1000000&r=5&f=all"),
        ("2k/50, 20 rps", "v=1&isl=2000&osl=50&r=20&f=all"),
        ("5000 prompts offline in under 2 hours on 8 GPUs", "v=1&on=5000&se=7200000&f=budget_gpus~8"),
        ("5000 prompts offline within 30 min on 8 GPUs", "v=1&on=5000&se=1800000&f=budget_gpus~8"),
        ("max concurrency on 8 h100-sxm, TPOT 30 ms", "v=1&sp=30&f=gpu~h100-sxm~owned~h100-sxm,8~most~yes"),
        ("5 rps, 8 h100-sxm", "v=1&r=5&f=gpu~h100-sxm~owned~h100-sxm,8"),
        ("5 rps, 4 x B200 GPUs", "v=1&r=5&f=gpu~b200~owned~b200,4"),
        ("5 rps, 4 × B200 GPUs", "v=1&r=5&f=gpu~b200~owned~b200,4"),
        ("5 rps, 4× B200", "v=1&r=5&f=gpu~b200~owned~b200,4"),
        ("5 rps on RTX 4090, H200 SXM", "v=1&r=5&f=gpu~rtx-4090,h200-sxm"),
        ("5 rps, 2 x RTX 4090", "v=1&r=5&f=gpu~rtx-4090~owned~rtx-4090,2"),
        ("5 rps, tp8", "v=1&r=5&f=tp~8"),
        ("5 rps, E2E 2 min", "v=1&r=5&se=120000&f=all"),
        ("20 requests/s, TTFT 1 s. TPOT 30 ms.", "v=1&r=20&st=1000&sp=30&f=all"),
        ("qwen3-32b to 300 users?", "v=1&m=qwen3-32b&c=300&f=all"),
        ("99% of requests TTFT 800 ms, 5 rps", "v=1&r=5&st=800&so=0.99&f=all"),
        ("twenty requests per second", "v=1&r=20&f=all"),
        ("1 million requests per day", "v=1&r=11.5741&f=all"),
        ("1M requests per day", "v=1&r=11.5741&f=all"),
        ("5000 prompts offline", "v=1&on=5000&f=all"),
        ("burst of 300 requests", "v=1&bn=300&f=all"),
        ("64 sessions, 12 turns, think time 30s", "v=1&sn=64&tn=12&tt=30&f=all"),
        ("5 rps, 25 tokens/s per user", "v=1&r=5&sp=40&f=all"),
        ("200 users, 50 tok/s each", "v=1&c=200&sp=20&f=all"),
        ("200 users each 50 tok/s", "v=1&c=200&sp=20&f=all"),
        ("5 rps, prompts of 3k tokens and answers of 800", "v=1&isl=3000&osl=800&r=5&f=all"),
        ("5 rps, power cap 500 W", "v=1&r=5&f=power_cap~500"),
        ("most sessions on 8 h200-sxm", "v=1&sn=16&f=gpu~h200-sxm~owned~h200-sxm,8~most~yes"),
        ("5 rps on sixteen B200s", "v=1&r=5&f=gpu~b200~owned~b200,16"),
        ("5 rps on my 2x rtx 4090", "v=1&r=5&f=gpu~rtx-4090~owned~rtx-4090,2"),
        ("5 rps on an L4 or A10", "v=1&r=5&f=gpu~l4,a10"),
        ("5 rps under 200ms ttft, 30 ms TPOT", "v=1&r=5&st=200&sp=30&f=all"),
        ("5 rps, TTFT p95 0.8s TPOT p95 25 ms", "v=1&r=5&st=800&sp=25&sq=95&f=all"),
    ] {
        let (link, issues) = parsed(text);
        assert_eq!((link.as_str(), issues), (wanted, Vec::new()), "{text}");
    }
}

#[test]
fn gpus_that_are_counted_are_of_one_type() {
    let (link, issues) = parsed("5 rps on 8x H100");
    assert_eq!(link, "v=1&r=5&f=gpu~h100-sxm~owned~h100-sxm,8");
    assert!(issues[0].text.contains("H100 PCIe"), "{issues:?}");
    let (link, issues) = parsed("5 rps on 4 A100 80GB");
    assert_eq!(link, "v=1&r=5&f=gpu~a100-sxm-80gb~owned~a100-sxm-80gb,4");
    assert!(!issues[0].text.contains("40GB"), "{issues:?}");
}

#[test]
fn the_most_load_of_a_job_is_a_rate() {
    let (before, _) = link::decode("on=500");
    let (link, _) = read("most load on 8 h100-sxm", before).expect("a question");
    assert_eq!(link.encode(), "v=1&r=16&f=gpu~h100-sxm~owned~h100-sxm,8~most~yes");
}

#[test]
fn a_machine_stands_for_its_gpus() {
    let (link, issues) = parsed("5 rps on p5.48xlarge");
    assert_eq!(link, "v=1&r=5&f=gpu~h100-sxm");
    assert_eq!(issues.iter().map(|issue| &*issue.text).collect::<Vec<_>>(), ["p5.48xlarge has 8 × H100 SXM"]);
}

#[test]
fn another_text_replaces_what_it_states_anew() {
    let first = "qwen3-32b, 2 req/s, TTFT 1 s, TPOT 30 ms, on h100-sxm fp8, 8 GPUs, $40/h";
    let (first, _) = read(first, Link::new(Scenario::default())).expect("it is understood");
    let after = |text| read(text, first.clone()).expect("it is understood").0.encode();
    assert_eq!(
        after("qwen3-32b, 2 req/s, E2E 20 s, on b200 nvfp4"),
        "v=1&m=qwen3-32b&r=2&se=20000&f=gpu~b200~weights~nvfp4~budget_gpus~8~budget_dollars~40"
    );
    assert_eq!(
        after("3 req/s"),
        "v=1&m=qwen3-32b&r=3&st=1000&sp=30&f=gpu~h100-sxm~weights~fp8~budget_gpus~8~budget_dollars~40"
    );
    let (_, issues) = read("3 req/s, on b200", first.clone()).expect("it is understood");
    let kept = issues.iter().find(|issue| issue.text.contains("kept from before")).expect("it says so");
    for name in ["`slo_ttft` 1000 ms", "`slo_tpot` 30 ms", "`weights` FP8", "`budget_gpus` 8"] {
        assert!(kept.text.contains(name), "{}", kept.text);
    }
    assert!(kept.field == Field::Vary && !kept.text.contains("`gpu`"), "{}", kept.text);
    let all = "qwen3-8b, 3 req/s, TPOT 20 ms, on b200 nvfp4, 16 GPUs";
    let (_, issues) = read(all, first.clone()).expect("it is understood");
    assert_eq!(issues, []);
    let budget = read("$20/h", first.clone()).expect("it is understood").0.encode();
    assert!(budget.contains("st=1000&sp=30") && budget.ends_with("~budget_dollars~20"), "{budget}");
    let long = read("5 rps, 4k in, 1k out", first.clone()).expect("it is understood").0;
    let (_, issues) = read("6 rps, 2k in", long).expect("it is understood");
    assert!(issues[0].text.contains("`osl` 1000") && !issues[0].text.contains("`isl`"), "{issues:?}");
    let other = read("gpt-oss-120b, 3 req/s", first.clone()).expect("it is understood").0.encode();
    assert!(!other.contains("weights") && other.contains("gpu~h100-sxm"), "{other}");
    let sessions = read("64 sessions, think time 30 s", first.clone()).expect("it is understood").0;
    let (rate, issues) = read("3 req/s", sessions).expect("it is understood");
    assert_eq!(rate.scenario.workload.turns.think_s, 0.0, "{issues:?}");
    let most = read("most load, 8 GPUs", first.clone()).expect("it is understood").0;
    let again = read("10 req/s", most).expect("it is understood").0.encode();
    assert!(!again.contains("most") && again.contains("r=10"), "{again}");
}

#[test]
fn of_two_wishes_that_exclude_each_other_both_are_named() {
    for (text, pairs) in [
        (
            "5 rps, TTFT 1 s, TTFT 2 s, $40/h, $20/h",
            vec![["`TTFT 1 s`", "`TTFT 2 s`"], ["`$40/h`", "`$20/h`"]],
        ),
        ("qwen3-8b, 5 rps, qwen3-32b", vec![["`qwen3-8b`", "`qwen3-32b`"]]),
        ("5 rps, 5 rps, fp8 nvfp4, h100 b200", Vec::new()),
    ] {
        let issues = parsed(text).1;
        assert_eq!(issues.len(), pairs.len(), "{text}: {issues:?}");
        let names = |(issue, pair): (&Issue, &[&str; 2])| pair.iter().all(|name| issue.text.contains(name));
        assert!(issues.iter().zip(&pairs).all(names), "{text}: {issues:?}");
    }
}

#[test]
fn the_example_of_a_fresh_page_is_nobodys_wish() {
    let of = |base: &str| {
        let scenario = read("20 req/s", decode(base).0).expect("it is understood").0.scenario;
        (scenario.weights, scenario.workload.slos.tpot_ms)
    };
    assert_eq!(of(FRESH), (None, None));
    assert_eq!(of(&FRESH.replace("r=4", "r=5")), (Some(Dtype::Fp8), Some(30.0)));
}
