//! The same of random loads.

use proptest::prelude::*;
use rooflight::config::{Dtype, Load};
use rooflight::serving::Report;

use super::{ENGINES, report, scenario};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_prediction_beats_physics(
        engine in prop::sample::select(&ENGINES[..]),
        isl in 1u32..6000, osl in 1u32..800, size in 1u32..300, ln in -6.0f32..3.0,
    ) {
        let asked = scenario("qwen3-8b", "h200-sxm", engine, isl, osl, Load::Concurrency(size));
        let report = report(&asked, ln);
        for pass in &report.passes {
            let shares: f64 = pass.kernels.iter().map(|line| line.share).sum();
            prop_assert!((shares + pass.host / pass.time - 1.0).abs() < 1e-9);
            prop_assert!(pass.mfu <= 1.0 && pass.mbu <= 1.0);
            for line in &pass.kernels {
                prop_assert!(line.time.0 >= line.roofline.0 && line.ceiling.0 >= line.roofline.0);
                prop_assert!(line.efficiency > 0.0 && line.efficiency <= 1.0);
            }
        }
    }

    #[test]
    fn littles_law_holds(
        engine in prop::sample::select(&ENGINES[..]),
        isl in 1u32..6000, osl in 2u32..800, size in 1u32..2000,
    ) {
        let asked = scenario("qwen3-8b", "h200-sxm", engine, isl, osl, Load::Concurrency(size));
        let Report { headline, run, .. } = report(&asked, -0.4);
        if let Some((headline, run)) = headline.zip(run) {
            let inside = headline.requests_per_s * headline.e2e.0;
            prop_assert!((inside / run.metrics.in_flight - 1.0).abs() < 1e-9);
            // The rest are on their way to the scheduler, or their tokens to the client.
            prop_assert!(headline.running + headline.waiting <= inside * (1.0 + 1e-9));
            prop_assert!(inside <= f64::from(size) * (1.0 + 1e-9), "{inside} of {size}");
        }
    }

    #[test]
    fn no_more_is_served_than_arrives(replicas in 1u32..20, requests in 1u32..60, rate in 0.01f64..4.0) {
        let mut asked = scenario("qwen3-8b", "h200-sxm", "vllm", 512, 64, Load::ConstantRate(rate));
        (asked.replicas, asked.workload.requests) = (replicas, Some(requests));
        let served = report(&asked, -0.4).headline.expect("served").requests_per_s;
        // The first arrives at once.
        let most = f64::from(requests) / f64::from((requests - 1).max(1)) * rate;
        prop_assert!(requests == 1 || served <= most * (1.0 + 1e-9), "{served} of {rate}");
    }

    #[test]
    fn time_grows_with_work(
        engine in prop::sample::select(&ENGINES[..]),
        isl in 1u32..1500, osl in 2u32..400, size in 1u32..40,
    ) {
        let one = |isl, osl, size| {
            report(&scenario("qwen3-8b", "h200-sxm", engine, isl, osl, Load::Batch(size)), -0.3).headline.unwrap()
        };
        let base = one(isl, osl, size);
        prop_assert!(one(isl * 2, osl, size).ttft.0 >= base.ttft.0);
        prop_assert!(one(isl, osl * 2, size).e2e.0 >= base.e2e.0);
        prop_assert!(one(isl, osl, size * 2).ttft.0 >= base.ttft.0);
        prop_assert!(one(isl, osl, size * 2).tpot.unwrap().0 >= base.tpot.unwrap().0);
    }

    #[test]
    fn fp8_weights_take_less_memory_and_no_more_time(isl in 1u32..3000, size in 1u32..64) {
        let mut asked = scenario("qwen3-8b", "h100-sxm", "vllm", isl, 64, Load::Batch(size));
        let wide = report(&asked, 0.0);
        asked.weights = Some(Dtype::Fp8);
        let narrow = report(&asked, 0.0);
        prop_assert!(narrow.memory.weights.0 < wide.memory.weights.0);
        prop_assert!(narrow.headline.unwrap().e2e.0 <= wide.headline.unwrap().e2e.0);
    }
}
