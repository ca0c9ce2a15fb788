//! Prefill and decode workers apart.

use rooflight::config::{Dtype, Field, Lengths, Load, Prefill, Scenario};

use super::{report, scenario, setup};

/// Llama-3.3-70B in FP8 on two prefill workers and one decode replica of four GPUs each.
fn pools(load: Load) -> Scenario {
    let mut asked = scenario("llama-3.3-70b-instruct", "h100-sxm", "vllm", 2048, 256, load);
    (asked.parallel.tp, asked.weights) = (4, Some(Dtype::Fp8));
    asked.prefill = Prefill { workers: 2, parallel: asked.parallel, ..Prefill::default() };
    asked
}

#[test]
fn pools_count_the_gpus_and_the_price_of_both() {
    let asked = pools(Load::Concurrency(16));
    let report = report(&asked, -0.3);
    let headline = report.headline.expect("fits");
    assert!((headline.output_per_s / headline.output_per_s_per_gpu - 12.0).abs() < 1e-9);
    let dollars = setup(&asked).dollars_per_hour().expect("priced");
    assert!((dollars / setup(&asked).price.unwrap() - 12.0).abs() < 1e-9);
    let of_tokens = dollars / 3600.0 / headline.output_per_s * 1e6;
    assert!((headline.dollars_per_million.expect("priced").0 / of_tokens - 1.0).abs() < 1e-9);
    let (own, other) = (report.memory, report.prefill_memory.expect("of a worker"));
    assert!(own.weights == other.weights && own.kv_tokens > 0.0);
}

#[test]
fn a_decode_pool_keeps_its_tpot_where_one_replica_would_prefill_between() {
    let apart = report(&pools(Load::Concurrency(48)), -0.3).headline.unwrap();
    let mut together = pools(Load::Concurrency(48));
    together.prefill = Prefill::default();
    let together = report(&together, -0.3).headline.unwrap();
    assert!(apart.tpot < together.tpot, "{:?} {:?}", apart.tpot, together.tpot);
}

#[test]
fn a_slow_way_of_the_kv_cache_costs_ttft_by_its_bytes() {
    let ttft = |gb_per_s| {
        let mut asked = pools(Load::Concurrency(1));
        asked.prefill.send_gb_per_s = Some(gb_per_s);
        asked.prefill.send_us = Some(0.0);
        report(&asked, -0.3).headline.unwrap().ttft.0
    };
    // 80 layers of 8 KV heads of 128 in bf16, over four GPUs: 80 KiB a token and GPU.
    let seconds = 2048.0 * 2.0 * 80.0 * 8.0 * 128.0 * 2.0 / 4.0 / 1e9;
    assert!(
        ((ttft(1.0) - ttft(1000.0)) / (seconds * 0.999) - 1.0).abs() < 1e-3,
        "{}",
        ttft(1.0) - ttft(1000.0)
    );
}

#[test]
fn pools_that_do_not_fit_say_which() {
    let mut asked = pools(Load::Concurrency(16));
    asked.prefill.parallel.tp = 1;
    asked.weights = Some(Dtype::Bf16);
    let report = report(&asked, -0.3);
    assert!(report.headline.is_none());
    let errors: Vec<_> = report.issues.iter().filter(|issue| issue.is_error()).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].field, Field::PrefillGpu);
    assert!(errors[0].text.starts_with("Prefill workers: Does not fit"), "{}", errors[0].text);
}

/// Twice the workers of the full pool serve more, twice those of the other do not.
#[test]
fn an_overload_says_which_pool_is_full() {
    for (prompt, output, of_decode) in [(4096, 64, false), (256, 1024, true)] {
        let served = |workers: u32, replicas: u32| {
            let mut asked = pools(Load::Rate(400.0));
            (asked.workload.isl, asked.workload.osl) = (Lengths::Fixed(prompt), output);
            asked.overrides.max_seqs = Some(64);
            (asked.prefill.workers, asked.replicas) = (workers, replicas);
            report(&asked, -0.3).run.unwrap().saturation.expect("overloaded")
        };
        let own = served(2, 2);
        assert_eq!(own.of_decode, of_decode, "{prompt} in, {output} out");
        let [more_prefill, more_decode] =
            [served(4, 2), served(2, 4)].map(|other| other.served_per_s / own.served_per_s);
        let (full, other) = if of_decode { (more_decode, more_prefill) } else { (more_prefill, more_decode) };
        assert!(full > 1.5 && other < 1.1, "{prompt} in, {output} out: {full} and {other} times");
    }
}
