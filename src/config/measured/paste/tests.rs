use super::*;
use crate::config::{Load, link};

/// What `vllm bench serve` and SGLang's bench_serving print.
const VLLM: &str = include_str!("../../../../tests/data/vllm_report.txt");
const SGLANG: &str = include_str!("../../../../tests/data/sglang_report.txt");

const SAVED: &str = r#"{"date": "20261122-102233", "endpoint_type": "vllm", "model_id": "meta-llama/Llama-3.1-8B-Instruct",
 "num_prompts": 320, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 16, "duration": 58.82, "completed": 320,
 "failed": 0, "total_input_tokens": 327680, "total_output_tokens": 163840, "request_throughput": 5.44,
 "request_goodput": null, "output_throughput": 2785.44, "total_token_throughput": 8356.32, "max_output_tokens_per_s": 3100.0,
 "max_concurrent_requests": 32, "mean_ttft_ms": 123.45612345, "median_ttft_ms": 118.02, "std_ttft_ms": 20.5,
 "p99_ttft_ms": 201.33, "mean_tpot_ms": 5.51, "median_tpot_ms": 5.49, "mean_itl_ms": 5.5, "p99_itl_ms": 11.3,
 "ttfts": [0.1, 0.2]}"#;

/// What was read, as a link has it, and its issues.
fn read_in(text: &str, fragment: &str) -> (String, Vec<String>) {
    let (measured, issues) = read(text, &link::decode(fragment).0.scenario);
    assert_eq!(measured.is_none(), issues.iter().any(Issue::is_error), "{text}");
    assert!(issues.iter().all(|issue| issue.field == Field::Measured));
    let scenario = Scenario { measured: measured.unwrap_or_default(), ..Scenario::default() };
    let shown = link::encode(&scenario).trim_start_matches("v=1").trim_start_matches("&me=").to_owned();
    (shown, issues.into_iter().map(|issue| issue.text).collect())
}

/// Reads a report in the default configuration, whose load is that of the reports below.
fn of_default(text: &str) -> (String, Vec<String>) {
    read_in(text, "")
}

/// What was read of a report with percentiles, of which there is a note and nothing else.
fn of_percentiles(text: &str) -> String {
    let (measured, issues) = of_default(text);
    assert!(issues.len() == 1 && issues[0].contains("percentiles"), "{issues:?}");
    measured
}

#[test]
fn reports_of_vllm_and_sglang_are_read_without_warnings() {
    let wanted = "ttft-123.46-118.02,tpot-5.51-5.49,throughput-2785.4,requests-5.44,total-8356.3";
    assert_eq!(of_percentiles(VLLM), wanted);
    assert_eq!(of_percentiles(SAVED), wanted);
    assert_eq!(of_percentiles(&SAVED.replace('\n', " ")), wanted);
    assert_eq!(of_percentiles(SGLANG), wanted.replace("5.49,", "5.49,e2e-2939.1-2933,"));
    // Windows' ends of lines, and no more than a part of it.
    assert_eq!(of_percentiles(&VLLM.replace('\n', "\r\n")), wanted);
    assert_eq!(of_percentiles("Mean TTFT (ms): 120\nP99 TTFT (ms): 8900"), "ttft-120");
    assert_eq!(of_default("Median TPOT (ms):   5.49").0, "tpot--5.49");
}

#[test]
fn other_reports_are_read() {
    let trtllm = "
===========================================================
= PERFORMANCE OVERVIEW
===========================================================
Request Throughput (req/sec):                     43.2089
Total Output Throughput (tokens/sec):             5530.7382
Total Token Throughput (tokens/sec):              11061.4764
Average request latency (ms):                     61435.8901
Average time-to-first-token [TTFT] (ms):          210.5
Average time-per-output-token [TPOT] (ms):        18.25";
    let wanted = "ttft-210.5,tpot-18.25,e2e-61436,throughput-5530.7,requests-43.209,total-11061";
    assert_eq!(of_default(trtllm), (wanted.into(), vec![]));
    let genai = "
|                         Statistic |    avg |    min |    max |    p99 |    p50 |
|-----------------------------------|--------|--------|--------|--------|--------|
|          Time to first token (ms) |  16.26 |  12.39 |  17.25 |  17.09 |  16.50 |
|          Inter token latency (ms) |   1.85 |   1.55 |   2.04 |   2.02 |   1.86 |
|              Request latency (ms) | 499.20 | 451.01 | 554.61 | 548.69 | 500.00 |
|            Output sequence length | 261.90 | 256.00 | 298.00 | 296.60 | 260.00 |
|             Input sequence length | 550.06 | 550.00 | 553.00 | 551.60 | 550.00 |
| Output token throughput (per sec) | 520.87 |    N/A |    N/A |    N/A |    N/A |
|      Request throughput (per sec) |   1.99 |    N/A |    N/A |    N/A |    N/A |";
    let wanted = "ttft-16.26-16.5,tpot-1.85-1.86,e2e-499.2-500,throughput-520.87,requests-1.99";
    assert_eq!(read_in(genai, "isl=550&osl=262"), (wanted.into(), vec![]));
    let below =
        format!("{genai}\nCLI Command: aiperf profile --model 'a/b' --concurrency 8 --request-count 50");
    let (found, _) = runs(&below, &Scenario::default());
    assert_eq!(found[0].workload.load, Load::Concurrency(8));
    let csv = "Metric,avg,min,p99,p50\nTime to First Token (ms),\"1,216.26\",12.39,17.09,16.50\n\
               Inter Token Latency (ms),1.85,1.55,2.02,1.86\nInput Sequence Length (tokens),550.06,550,550,550\n\n\
               Metric,Value\nOutput Token Throughput (tokens/sec),520.87\nRequest Count (requests),320.00\n";
    let (found, issues) = runs(csv, &Scenario::default());
    assert_eq!(link::encode(&found[0]), "v=1&isl=550&me=ttft-1216.3-16.5,tpot-1.85-1.86,throughput-520.87");
    assert!(issues.len() == 1 && issues[0].text.contains("average 550 tokens"), "{issues:?}");
    let saved = r#"{"time_to_first_token": {"unit": "ms", "avg": 16.26, "p50": 16.5, "p99": 17.1},
        "inter_token_latency": {"unit": "ms", "avg": 1.85}, "output_token_throughput": {"unit": "tokens/sec", "avg": 520.87}}"#;
    assert_eq!(of_default(saved), ("ttft-16.26-16.5,tpot-1.85,throughput-520.87".into(), vec![]));
    let loose = "| Mean TTFT (s) | 0.12 |\nTPOT: 5.5 ms\nOutput throughput = 1,234.5 tok/s";
    assert_eq!(of_default(loose), ("ttft-120,tpot-5.5,throughput-1234.5".into(), vec![]));
}

#[test]
fn a_run_of_another_load_gets_a_warning() {
    for (fragment, expected) in [
        ("c=32", "with 16 concurrent requests, configured with 32 clients"),
        ("r=5", "with 16 concurrent requests, configured with a request rate"),
        ("b=16", "320 requests were measured, the configured load has 16"),
        ("isl=512", "the measured prompts average 1024 tokens, the configured ones 512"),
        ("osl=2048", "the measured outputs average 512 tokens"),
    ] {
        let (_, issues) = read_in(VLLM, fragment);
        // The other one is of its percentiles.
        assert!(issues.len() == 2 && issues[0].contains(expected), "{fragment}: {issues:?}");
    }
    let few = VLLM.replace("Failed requests:                         0", "Failed requests: 80");
    assert!(of_default(&few).1[0].contains("80 of the measured requests failed (20"));
    let all = SGLANG.replace("Max request concurrency:                 16\n", "");
    assert!(of_default(&all).1[0].contains("all 320 requests were sent at once"));
    let rate = all.replace("rate:                    inf", "rate: 4.0");
    assert!(of_default(&rate).1[0].contains("measured at 4 requests per second, configured with 16 clients"));
    assert_eq!(read_in(&rate, "r=4").1.len(), 1, "of its percentiles alone");
    assert!(read_in(&rate, "r=8").1[0].contains("at 4 requests per second, configured with 8"));
}

#[test]
fn a_run_of_all_requests_at_once_is_a_burst() {
    let all = SGLANG.replace("Max request concurrency:                 16\n", "");
    let load = |fragment: &str| {
        let (found, _) = runs(&all, &link::decode(fragment).0.scenario);
        found.first().map(|run| run.workload.load)
    };
    assert_eq!(load("c=32"), Some(Load::Burst(320)));
    assert_eq!(load("r=5"), Some(Load::Burst(320)));
    assert_eq!(load("on=320"), Some(Load::Offline(320)));
    assert_eq!(load("c=512"), Some(Load::Burst(320)));
    // trtllm-bench gives the gap between them: here half a millisecond, and 21 ms with a limit on those in flight.
    for (rate, load) in [("5.0689E+14", Load::Burst(1000)), ("2.1E+16", Load::Concurrency(16))] {
        let text = format!(
            "Number of requests: 1000\nIssue Rate (req/sec): {rate}\nRequest Throughput (req/sec): 43.2\n"
        );
        assert_eq!(runs(&text, &Scenario::default()).0[0].workload.load, load);
    }
}

#[test]
fn a_run_is_as_long_and_arrives_as_its_report_says() {
    let link_of = |text: &str| {
        let (found, issues) = runs(text, &Scenario::default());
        let texts: Vec<String> = issues.into_iter().map(|issue| issue.text).collect();
        (link::encode(&found[0]), texts.join("\n"))
    };
    let of = |more: &str| link_of(&format!("{{\"mean_tpot_ms\": 18, {more}}}"));
    assert_eq!(of(r#""max_concurrency": 64, "completed": 64"#).0, "v=1&c=64&np=64&me=tpot-18");
    assert_eq!(of(r#""max_concurrency": 64, "completed": 6400"#).0, "v=1&c=64&me=tpot-18");
    let rate = r#""request_rate": 4, "burstiness": 0.5, "max_concurrency": 64, "completed": 300"#;
    let (link, said) = of(rate);
    assert_eq!(link, "v=1&r=4&bu=0.5&mc=64&np=300&me=tpot-18");
    assert!(!said.contains("in flight"), "{said}");
    let config = r#""input_config": {"endpoint": {"model_names": ["meta-llama/Llama-3.1-8B-Instruct"]},
        "loadgen": {"concurrency": 64, "request_rate": null}}, "request_count": {"unit": "requests", "avg": 320}"#;
    assert_eq!(of(config).0, "v=1&c=64&np=320&me=tpot-18");
    let (link, said) =
        of(r#""input_config": {"loadgen": {"request_rate": 4, "request_rate_mode": "constant"}}"#);
    assert!(link.starts_with("v=1&rc=4") && !said.contains("model"), "{link}: {said}");
}

#[test]
fn a_run_of_other_hardware_gets_a_warning() {
    let of = |hardware: &str| {
        let text = format!(
            r#"{{"conc": 16, "isl": 1024, "osl": 512, "tput_per_gpu": 260.0, "output_tput_per_gpu": 130.0,
            "mean_tpot": 0.12, {hardware}}}"#
        );
        read_in(&text, "tp=8&g=h200-sxm&w=fp8&m=qwen3-32b").1
    };
    assert_eq!(of(r#""tp": 8, "hw": "h200-trt", "precision": "fp8""#), Vec::<String>::new());
    let found = of(r#""tp": 4, "hw": "b200", "precision": "fp4""#);
    for wanted in ["TP 4, configured with 8", "b200, configured with h200-sxm", "fp4, configured with fp8"] {
        assert!(found.iter().any(|text| text.contains(wanted)), "{found:?}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (text, expected) in [
        ("", "no measurement found"),
        ("hello", "no measurement found"),
        ("Mean TTFT (ms): soon", "no measurement found"),
        (
            "Mean TTFT (ms): -3",
            "a measured time must be a number between 0.001 and 10\u{202f}000\u{202f}000, not `-3`",
        ),
        (
            "Mean TTFT (ms): nan",
            "a measured time must be a number between 0.001 and 10\u{202f}000\u{202f}000, not `NaN`",
        ),
        ("===== Serving Benchmark Result =====\nSuccessful requests: 320\nBenchm", "ends before its times"),
        ("Mean TTFT (ms): 6l.25", "`6l.25` is not a number and was ignored"),
        ("Mean TTFT (ms): 0.00", "not `0`"),
        ("Mean TTFT (ms): 123,45", "as in 123.45"),
        ("| Mean TTFT (ms) | 123,45 |", "as in 123.45"),
        ("{\"mean_ttft_ms\": \"123,45\"}", "as in 123.45"),
        ("Output token throughput (tok/s): 1e12", "not `1000000000000`"),
        ("Mean TTFT (h): 3", "`Mean TTFT (h)`: unknown unit: expected ms"),
        ("Mean TTFT: 3", "it has no unit"),
        ("Output throughput (tok/s/gpu): 3", "of the whole system"),
        ("{\"mean_ttft_ms\": 1", "not JSON"),
        ("{\"a\": 1}\n{\"b\": ", "not JSON"),
    ] {
        let (shown, issues) = of_default(text);
        assert_eq!(shown, "", "{text}");
        assert!(issues.iter().any(|issue| issue.contains(expected)), "{text}: {issues:?}");
    }
    assert_eq!(of_default("Mean TTFT (ms): 1,234.5").0, "ttft-1234.5");
    assert_eq!(of_default("Mean TTFT: 123ms\nMean TPOT: 0.0123s").0, "ttft-123,tpot-12.3");
    let (shown, issues) =
        of_default("Mean TTFT (ms): 5\nMean TTFT (ms): 7\nFlux capacity (GW): 1.21\nTPOT (ms): 0");
    assert_eq!(shown, "ttft-7");
    assert!(issues[0].contains("more than once") && issues[1].contains("`Flux capacity (GW)`"), "{issues:?}");
    let (shown, issues) = of_default("{\"mean_ttft_ms\": 5}\n{\"mean_ttft_ms\": 7}\n");
    assert_eq!((shown.as_str(), issues[0].as_str()), ("ttft-7", "the last of 2 runs was read"));
}
