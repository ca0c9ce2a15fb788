//! Disaggregated prefill and decode.

use rooflight::api::{Options, ParsedScenario};
use rooflight::config::link::Link;
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::find::{Answer, DeploymentPlan, Search};

use super::{MODELS, finish, learned, request};

/// The result of a link's run.
fn opened(link: &str) -> rooflight::serving::run::Run {
    let ask = |rows: &Rows| Ok(Efficiencies::Learned(MODELS.answer(rows).expect("an answer")));
    let report = ParsedScenario::read(link).predict(&Options::default(), ask).report.expect("an answer");
    report.run.expect("a run")
}

#[test]
fn pools_have_the_fewest_workers_that_meet_the_limits() {
    let priced = |more: &str, prices: &str| {
        let text = format!(
            r#"{{"model": "llama-3.1-8b", "engine": "vllm", "gpu": "h100-sxm", "tp": 1, "pp": 1, "rate": 40, "isl": 2048,
            "osl": 64, "requests": 300, "slo_ttft": 1000, "slo_tpot": 12, "plans": 1, "vary": {{{more}}}, "prices": {{{prices}}}}}"#
        );
        finish(Search::new(request(&text)), learned)
    };
    let found = |more: &str| priced(more, "");
    let answer = found(r#""prefill_workers": "all""#);
    let workers = |plan: &DeploymentPlan| plan.config["prefill_workers"].as_u64().unwrap_or(0);
    let plan = answer.plans.iter().find(|plan| workers(plan) > 0).expect("pools");
    let text = answer.pools.as_ref().expect("whether they pay");
    assert!(text.contains(&plan.name) && text.contains("physics alone"), "{text}");
    assert!(answer.plans.iter().any(|plan| workers(plan) == 0), "replicas that do both are shown too");
    assert_eq!(u64::from(plan.gpus), workers(plan) + u64::from(plan.replicas));
    let each = plan.dollars_per_hour.expect("a price") / f64::from(plan.gpus);
    assert!(
        (plan.dollars_per_hour_with_spare.expect("a price") / (f64::from(plan.gpus + 2) * each) - 1.0).abs()
            < 1e-9
    );

    let run = opened(&plan.link);
    assert_eq!((run.metrics.ttft, run.metrics.tpot), (plan.ttft, plan.tpot));
    assert_eq!(run.limits, plan.limits);
    let scenario = Link::read(&plan.link).0.expect("a link").scenario;
    let mut fewer = [scenario.clone(), scenario];
    fewer[0].prefill.workers -= 1;
    fewer[1].replicas -= 1;
    for scenario in fewer.into_iter().filter(|fewer| fewer.prefill.workers > 0 && fewer.replicas > 0) {
        assert_eq!(opened(&Link::new(scenario).encode()).meets_limits(), Some(false));
    }

    let other = priced(r#""prefill_workers": [3, 5], "prefill_gpu": ["h200-sxm"]"#, r#""h200-sxm": 5"#);
    let plan =
        other.plans.iter().find(|plan| workers(plan) > 0).unwrap_or_else(|| panic!("{:?}", other.pools));
    assert!(plan.config["prefill_gpu"] == "h200-sxm" && [3, 5].contains(&workers(plan)), "{}", plan.name);
    let cost = 5.0 * workers(plan) as f64 + each * f64::from(plan.replicas);
    assert!(
        (plan.dollars_per_hour.expect("a price") / cost - 1.0).abs() < 1e-9,
        "{:?}",
        plan.dollars_per_hour
    );
}

#[test]
fn no_cheaper_pools_meet_the_limits() {
    for (load, limits) in [
        (r#""rate": 120, "isl": 2048, "osl": 64"#, r#""slo_ttft": 1000, "slo_tpot": 12"#),
        (r#""rate": 40, "isl": 6000, "osl": 128"#, r#""slo_ttft": 1500, "slo_tpot": 9"#),
        (r#""rate": 120, "isl": 512, "osl": 300"#, r#""slo_ttft": 300, "slo_tpot": 7"#),
    ] {
        let text = format!(
            r#"{{"model": "llama-3.1-8b", "engine": "vllm", "gpu": "h100-sxm", "pp": 1, {load}, "requests": 200, {limits},
            "plans": 1, "vary": {{"prefill_workers": "all", "tp": [1, 2, 4], "prefill_tp": [1, 2]}}}}"#
        );
        let answer = finish(Search::new(request(&text)), learned);
        let workers = |plan: &&DeploymentPlan| plan.config["prefill_workers"].as_u64().unwrap_or(0);
        let plan = answer.plans.iter().find(|plan| workers(plan) > 0).expect("pools");
        let best = Link::read(&plan.link).0.expect("a link").scenario;
        let mut tried = 0;
        for (first, then) in [1, 2].into_iter().flat_map(|first| [1, 2, 4].map(|then| (first, then))) {
            for computing in 1..plan.gpus / first {
                // The most decode workers that are still cheaper; fewer would perform no better.
                let decoding = (plan.gpus - 1 - computing * first) / then;
                if decoding == 0 {
                    continue;
                }
                let mut scenario = best.clone();
                (scenario.prefill.parallel.tp, scenario.prefill.workers) = (first, computing);
                (scenario.parallel.tp, scenario.replicas) = (then, decoding);
                tried += 1;
                let link = Link::new(scenario).encode();
                assert_ne!(opened(&link).meets_limits(), Some(true), "{link} is cheaper than {}", plan.name);
            }
        }
        assert!(tried > 10, "only {tried} are cheaper than {}", plan.name);
    }
}

/// The best pools of an answer, by what plans are ranked by.
fn best_apart(answer: &Answer) -> Option<f64> {
    let plan = answer.plans.iter().find(|plan| plan.is_disaggregated())?;
    Some(answer.ranked_by.rank_of(plan).amount())
}

#[test]
fn the_best_pools_are_the_same_without_bounds() {
    let asked = r#""model": "llama-3.1-8b", "engine": "vllm", "gpu": "h100-sxm", "pp": 1, "requests": 200, "plans": 1"#;
    for task in [
        r#""rate": 40, "isl": 2048, "osl": 64, "slo_ttft": 1000, "slo_tpot": 12, "vary": {"prefill_workers": "all", "tp": [1, 2]}"#,
        r#""rate": 40, "isl": 2048, "osl": 64, "slo_ttft": 1000, "slo_tpot": 12, "vary": {"prefill_workers": [3], "tp": [1]}"#,
        // For a job the cheapest workers are those that match, not the fewest.
        r#""burst": 200, "isl": 2048, "osl": 64, "vary": {"prefill_workers": "all", "tp": [1, 2]}"#,
    ] {
        let request = request(&format!("{{{asked}, {task}}}"));
        let found = finish(Search::new(request.clone()), learned);
        let all = finish(Search::new(request).exhaustively(), learned);
        let (own, best) = (best_apart(&found).expect(task), best_apart(&all).expect(task));
        assert!((own / best - 1.0).abs() < 0.02, "{task}: {own}, {best}");
        assert!(found.counts.runs < all.counts.runs, "{task}");
    }
}

#[test]
fn pools_for_a_job_are_compared_by_its_cost() {
    let answer = finish(
        Search::new(request(
            r#"{"model": "llama-3.1-8b", "engine": "vllm", "gpu": "h100-sxm", "tp": 1, "pp": 1, "burst": 200, "isl": 2048,
            "osl": 64, "plans": 1, "vary": {"prefill_workers": "all"}}"#,
        )),
        learned,
    );
    let of = |disaggregated: bool| {
        answer.plans.iter().find(|plan| plan.is_disaggregated() == disaggregated).expect("a plan")
    };
    let per_million = |plan: &DeploymentPlan| plan.dollars_per_million_output.expect("a price");
    let dearer = (per_million(of(true)) / per_million(of(false)) - 1.0) * 100.0;
    let text = answer.pools.clone().expect("whether they pay");
    assert!(
        dearer > 0.0 && text.contains(&format!("does the job at {dearer:.0}\u{a0}% more cost than")),
        "{text}"
    );
}

#[test]
fn a_search_without_bounds_says_which_workers_it_left_out() {
    let text = r#"{"model": "llama-3.1-8b", "engine": "vllm", "gpu": "h100-sxm", "tp": 1, "pp": 1, "burst": 20, "isl": 512,
        "osl": 16, "plans": 1, "vary": {"prefill_workers": "all"}}"#;
    let answer = finish(Search::new(request(text)).exhaustively(), learned);
    assert!(answer.issues.iter().any(|issue| issue.text.contains("more than 8 of either kind")));
}

/// The kept number is the next larger of those named, with none between it and the middle.
#[test]
fn a_smaller_number_that_is_named_is_tried() {
    let text = r#"{"model": "qwen3-32b", "engine": "vllm", "gpu": "h100-sxm", "tp": 2, "pp": 1, "weights": "fp8", "rate": 23,
        "isl": 2000, "osl": 200, "requests": 300, "slo_ttft": 3000, "slo_percentile": 50, "slo_tpot": 40, "plans": 1,
        "vary": {"prefill_workers": [2, 16]}}"#;
    let answer = finish(Search::new(request(text)), learned);
    let plan =
        answer.plans.iter().find(|plan| plan.config["prefill_workers"].as_u64() > Some(0)).expect("pools");
    assert_eq!(plan.config["prefill_workers"].as_u64(), Some(2), "{}", plan.name);
}
