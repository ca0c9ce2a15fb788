//! Plans: their order, prices and figures, and what is shown if there are none.

use rooflight::api::{Options, ParsedScenario};
use rooflight::config::Field;
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::find::{Answer, RankedBy, Request, Search};

use super::{MODELS, finish, learned, plan, request, roofline, small};

#[test]
fn plans_are_ranked_by_cost_with_a_reason_for_each_but_the_first() {
    let answer = plan(&small(
        r#""rate": 8, "slo_ttft": 1000, "slo_tpot": 30, "vary": {"gpu": ["l40s", "h100-sxm", "gb300"]}"#,
    ));
    assert!(answer.finished && answer.nearest.is_none() && answer.counts.remaining == 0);
    let costs: Vec<f64> =
        answer.plans.iter().map(|plan| plan.dollars_per_hour.unwrap_or(f64::INFINITY)).collect();
    assert!(costs.is_sorted() && answer.plans.len() > 1, "{costs:?}");
    let gpus: Vec<&str> = answer.plans.iter().map(|plan| plan.gpu.as_str()).collect();
    for gpu in ["l40s", "h100-sxm", "gb300"] {
        assert!(gpus.contains(&gpu) || answer.others.iter().any(|other| other.gpu == gpu), "{gpus:?}");
    }
    assert!(answer.plans.iter().skip(1).all(|plan| plan.drawback.is_some()));
    assert!(answer.plans[0].drawback.is_none() && answer.plans[0].headroom.is_some_and(|times| times >= 1.0));
    let unpriced = answer.plans.iter().find(|plan| plan.gpu == "gb300").expect("shown");
    assert!(unpriced.drawback.as_ref().is_some_and(|text| text.contains("no known price")));
    // Loads that the last plan does not serve are not shown as served.
    assert!(answer.plans.iter().all(|plan| plan.goodput_share.is_some_and(|share| share >= 0.99)));
}

/// Also where nothing is within the budget or the limits, so that other layouts are tried after these.
#[test]
fn every_layout_is_counted_once() {
    for wishes in [
        r#""slo_tpot": 30"#,
        r#""slo_tpot": 30, "budget_gpus": 1"#,
        r#""slo_tpot": 1"#,
        r#""slo_tpot": 8, "budget_gpus": 4"#,
    ] {
        let vary = r#""vary": {"gpu": ["l40s", "h100-sxm"]}"#;
        let counts = plan(&small(&format!(r#""rate": 150, {wishes}, {vary}"#))).counts;
        let outcomes = [
            counts.refused,
            counts.too_large,
            counts.too_slow,
            counts.beyond_fleet,
            counts.pruned,
            counts.simulated,
        ];
        assert_eq!(outcomes.iter().sum::<u32>(), counts.layouts, "{wishes}: {counts:?}");
    }
}

#[test]
fn prices_may_be_on_demand_reserved_given_or_for_owned_hardware() {
    let best = |prices: &str| {
        let more = format!(r#""rate": 4, "slo_tpot": 30, "gpu": "h100-sxm", "tp": 1, "prices": {prices}"#);
        plan(&small(&more)).plans.remove(0)
    };
    let cost = |prices: &str, from: &str, dollars: f64| {
        let plan = best(prices);
        assert!(plan.price_from.as_ref().is_some_and(|text| text.starts_with(from)), "{:?}", plan.price_from);
        let hourly = plan.dollars_per_hour.expect("a price") / f64::from(plan.gpus);
        assert!((hourly / dollars - 1.0).abs() < 1e-9, "{prices}: {hourly}");
        let per_million = |tokens: f64| hourly * f64::from(plan.gpus) / 3600.0 / tokens * 1e6;
        // The run also counts the time of the last answers; 4 requests arrive per second.
        let lasting = 4.0 / plan.requests_per_s;
        let close = |found: Option<f64>, tokens: f64| {
            (found.expect("a price") / per_million(tokens * lasting) - 1.0).abs() < 1e-9
        };
        assert!(close(plan.dollars_per_million_total, plan.total_per_s));
        assert!(close(plan.dollars_per_million_output, plan.output_per_s));
        assert!(close(plan.dollars_per_million_input, plan.total_per_s - plan.output_per_s));
    };
    cost(r#""on_demand""#, "on demand: runpod", 2.69);
    cost(r#""reserved""#, "reserved: Hyperstack", 2.72);
    cost(r#"{"h100-sxm": "reserved"}"#, "reserved: Hyperstack", 2.72);
    cost(r#"{"h100-sxm": 1.5}"#, "given", 1.5);
    // $30,000 over 4 years, 1 kW at 10 cents, $73.05 a month.
    let own = r#"{"h100-sxm": {"purchase_dollars": 30000, "years": 4, "watts": 1000, "dollars_per_kwh": 0.1,
        "hosting_dollars_per_month": 73.05}}"#;
    cost(own, "own hardware", 30_000.0 / 35_064.0 + 0.1 + 0.1);
    let (_, issues) = Request::from_json(
        r#"{"rate": 1, "slo_tpot": 30, "vary": {"gpu": ["t4", "b200"]}, "prices": "reserved"}"#,
    );
    assert!(
        issues.iter().any(|issue| issue.field == Field::Prices && issue.text.contains("T4")),
        "{issues:?}"
    );
}

#[test]
fn a_plan_has_the_same_figures_as_its_link() {
    let answer = finish(
        Search::new(request(&small(
            r#""rate": 150, "slo_tpot": 20, "gpu": "h100-sxm", "prices": {"h100-sxm": 2}"#,
        ))),
        learned,
    );
    let plan = &answer.plans[0];
    let asked = ParsedScenario::read(&plan.link);
    let ask = |rows: &Rows| Ok(Efficiencies::Learned(MODELS.answer(rows).expect("an answer")));
    let report = asked.predict(&Options::default(), ask).report.expect("an answer");
    let (run, headline) = (report.run.expect("a run"), report.headline.expect("served"));
    assert_eq!(run.metrics.ttft, plan.ttft);
    assert_eq!(run.metrics.tpot, plan.tpot);
    assert_eq!(run.limits, plan.limits);
    let rates = [headline.output_per_s, headline.sustained_output_per_s];
    assert_eq!(rates, [plan.output_per_s, plan.sustained_output_per_s]);
    assert!(plan.replicas > 1 && plan.dollars_per_hour == Some(2.0 * f64::from(plan.gpus)));
    let per_million = headline.dollars_per_million.expect("a price").0;
    assert!((per_million / plan.dollars_per_million_output.expect("a price") - 1.0).abs() < 1e-9);
}

#[test]
fn unmet_limits_report_the_binding_one_and_the_nearest_plan() {
    let answer = plan(&small(r#""rate": 8, "slo_tpot": 0.5, "vary": {"gpu": ["l40s", "h100-sxm"]}"#));
    let nearest = answer.nearest.expect("something comes nearest");
    let broken = nearest.broken.expect("a limit");
    assert!(answer.plans.is_empty() && broken.field == Field::SloTpot && broken.at > broken.limit);
    assert_eq!(answer.issues.last().map(|issue| issue.field), Some(Field::SloTpot));
    assert!(nearest.text.contains("times"), "{}", nearest.text);
}

#[test]
fn a_fleet_that_is_too_small_reports_how_many_gpus_would_suffice() {
    for (fleet, field) in [
        (r#""budget_gpus": 1"#, Field::BudgetGpus),
        (r#""budget_dollars": 3"#, Field::BudgetDollars),
        (r#""owned": {"h100-sxm": 1}"#, Field::Owned),
    ] {
        let answer = plan(&small(&format!(
            r#""rate": 400, "slo_ttft": 1000, "slo_tpot": 30, "gpu": "h100-sxm", {fleet}"#
        )));
        assert!(answer.plans.is_empty(), "{fleet}");
        let nearest = answer.nearest.expect("more GPUs do");
        assert!(nearest.broken.is_none() && nearest.plan.gpus > 1, "{fleet}: {}", nearest.text);
        // The answer says more about this GPU than a bound would.
        assert_eq!(answer.others, [], "{fleet}");
        assert_eq!(answer.issues.last().map(|issue| issue.field), Some(field), "{}", nearest.text);
    }
}

#[test]
fn a_spare_replica_is_looked_for_in_the_fleet() {
    let lacks = |fleet: &str| {
        let answer = plan(&small(&format!(
            r#""rate": 8, "slo_ttft": 1000, "slo_tpot": 30, "gpu": "h100-sxm", "tp": 1, {fleet}"#
        )));
        let best = answer.plans.into_iter().next().unwrap_or_else(|| panic!("{fleet}: {:?}", answer.issues));
        assert_eq!(best.gpus, 1, "{fleet}");
        assert!(best.dollars_per_hour_with_spare > best.dollars_per_hour);
        best.spare_lacks.unwrap_or_default()
    };
    assert_eq!(lacks(r#""owned": {"h100-sxm": 2}"#), "");
    assert_eq!(lacks(r#""owned": {"h100-sxm": 1}"#), "needs 2 × H100 SXM, but you own only 1");
    assert_eq!(lacks(r#""budget_gpus": 1"#), "needs 2 GPUs, but the budget is 1");
    assert_eq!(lacks(r#""budget_dollars": 3"#), "over the budget of $3.00 per hour");
}

#[test]
fn gpus_beyond_the_fleet_name_what_binds_as_a_bound() {
    let asked = r#""rate": 400, "slo_ttft": 1000, "slo_tpot": 30, "tp": 1, "vary": {"gpu": ["h100-sxm", "a100-sxm-80gb"]}"#;
    for (fleet, parts) in [
        (r#""budget_gpus": 1"#, ["needs at least", "more than", "the budget of 1 GPU"]),
        (r#""budget_dollars": 3"#, ["needs at least", "more than", "the budget of $3.00"]),
        (
            r#""owned": {"h100-sxm": 1, "a100-sxm-80gb": 1}"#,
            ["needs at least", "more than", "the 1 GPU owned"],
        ),
    ] {
        let answer = plan(&small(&format!("{asked}, {fleet}")));
        let [other] = answer.others.as_slice() else { panic!("{fleet}: {:?}", answer.others) };
        assert!(parts.iter().all(|part| other.reason.contains(part)), "{fleet}: {}", other.reason);
        let best = &answer.nearest.expect("more GPUs do").plan;
        assert_ne!(best.gpu, other.gpu);
    }
}

#[test]
fn a_model_larger_than_a_machine_says_that_pipelines_were_not_tried() {
    let asked = |fleet: &str| {
        let text = format!(
            r#"{{"model": "deepseek-r1", "rate": 1, "requests": 50, "slo_tpot": 100, "engine": "vllm", "owned": {fleet}}}"#
        );
        plan(&text).others
    };
    for (fleet, is_said) in [(r#"{"h100-sxm": 16}"#, true), (r#"{"h100-sxm": 8}"#, false)] {
        let others = asked(fleet);
        assert_eq!(others[0].reason.contains("name both TP and PP"), is_said, "{others:?}");
    }
}

#[test]
fn a_job_is_ranked_by_what_all_of_it_costs() {
    let asked = r#""offline": 400, "osl": 128, "engine": "vllm", "gpu": "h100-sxm", "vary": {"tp": [1, 2]}, "pp": 1, "model""#;
    let text = format!(r#"{{{asked}: "llama-3.3-70b-instruct", "weights": "fp8"}}"#);
    let (_, issues) = Request::from_json(&text);
    assert!(issues.iter().any(|issue| issue.text.contains("what the whole job costs")), "{issues:?}");
    let answer = plan(&text);
    let per_million: Vec<f64> =
        answer.plans.iter().filter_map(|plan| plan.dollars_per_million_output).collect();
    assert!(per_million.len() > 1 && per_million.is_sorted(), "{per_million:?}");
    assert_eq!(answer.ranked_by, RankedBy::DollarsPerMillionOutput);
    assert!(answer.plans[0].gpus > 1, "the dearer by the hour: {}", answer.plans[0].name);
    let drawback = answer.plans[1].drawback.as_deref().unwrap_or_default();
    assert!(drawback.starts_with("the job costs "), "{drawback}");
    // Likewise among those that are done in time.
    let seconds = |answer: &Answer| answer.plans[0].job_seconds.expect("a job");
    let deadline = seconds(&answer) * 600.0;
    let limited = plan(&format!(
        r#"{{{asked}: "llama-3.3-70b-instruct", "weights": "fp8", "slo_e2e": {deadline}, "slo_share": 1}}"#
    ));
    assert_eq!(limited.ranked_by, RankedBy::DollarsPerMillionOutput);
    assert!(limited.plans[0].replicas > 1 && seconds(&limited) * 1e3 <= deadline, "{:?}", limited.plans[0]);
    for plan in answer.plans.iter().chain(&limited.plans) {
        let cost =
            plan.dollars_per_hour.zip(plan.job_seconds).map(|(hourly, seconds)| hourly * seconds / 3600.0);
        assert!((plan.job_dollars.expect("a price") / cost.expect("a price") - 1.0).abs() < 1e-9);
    }
    let text = limited.to_table();
    assert!(text.contains("job takes") && text.contains("job costs") && !text.contains("TTFT "), "{text}");
}

#[test]
fn a_model_that_fits_no_gpu_reports_the_missing_memory() {
    let answer =
        plan(r#"{"model": "deepseek-r1", "rate": 1, "slo_tpot": 50, "vary": {"gpu": ["l4", "rtx-4090"]}}"#);
    assert!(answer.plans.is_empty() && answer.nearest.is_none());
    let issue = answer.issues.last().expect("a reason");
    assert_eq!(issue.field, Field::Gpu);
    assert!(issue.text.contains("lacks"), "{}", issue.text);
}

#[test]
fn a_stopped_search_counts_the_remaining_layouts() {
    let mut search = Search::new(request(&small(r#""rate": 8, "slo_tpot": 30"#)));
    let step = |search: &mut Search| search.step(&roofline).expect("an answer");
    assert!(step(&mut search));
    let begun = search.answer();
    assert!(!begun.finished && begun.counts.remaining > 0);
    search.stop();
    assert!(!step(&mut search) && !search.answer().finished);
}

/// Fleets for which a search without bounds finds the same best plan.
const TASKS: [&str; 8] = [
    r#""rate": 12, "slo_ttft": 800, "slo_tpot": 25, "vary": {"gpu": ["l40s", "h100-sxm", "a100-sxm-80gb"]}"#,
    r#""rate": 20, "slo_e2e": 2500, "vary": {"gpu": ["l4", "h100-sxm"], "weights": ["bf16", "fp8"]}"#,
    r#""concurrency": 96, "slo_tpot": 15, "vary": {"gpu": ["l40s", "h200-sxm"]}"#,
    r#""rate": 10, "slo_tpot": 20, "slo_percentile": 90, "spread": 0.5, "vary": {"gpu": ["l40s", "rtx-4090"]}"#,
    r#""sessions": 40, "turns": 3, "slo_ttft": 500, "slo_share": 0.9, "vary": {"gpu": ["l40s", "h100-sxm"]}"#,
    r#""rate": 10, "slo_tpot": 30, "budget_gpus": 6, "vary": {"gpu": ["l4", "l40s"]}"#,
    r#""burst": 200, "vary": {"gpu": ["l40s", "h100-sxm"]}"#,
    r#""offline": 400, "slo_e2e": 20000, "vary": {"gpu": ["l40s", "h100-sxm"]}"#,
];

#[test]
fn the_best_plan_is_the_same_without_bounds() {
    for ask in [roofline, learned] {
        for task in TASKS {
            let request = request(&small(task));
            let (found, all) =
                (finish(Search::new(request.clone()), ask), finish(Search::new(request).exhaustively(), ask));
            let cost = |answer: &Answer| answer.plans.first().map(|plan| answer.ranked_by.rank_of(plan));
            assert_eq!(cost(&found), cost(&all), "{task}");
        }
    }
}

#[test]
fn own_measurements_calibrate_plans() {
    let of = |measured: &str| {
        format!(
            r#"{{"model": "qwen3-32b", "gpu": "h100-sxm", "engine": "vllm", "tp": 2, "concurrency": 32, "osl": 128,
            "slo_tpot": 60, "plans": 1{measured}}}"#
        )
    };
    let slow = r#", "measured": [{"concurrency": 8, "measured": {"mean_tpot_ms": 21}}, {"concurrency": 8}]"#;
    let (without, with) = (finish(Search::new(request(&of(""))), learned), {
        let (found, issues) = Request::from_json(&of(slow));
        assert!(issues.iter().any(|issue| issue.text.starts_with("run 2 ")), "{issues:?}");
        finish(Search::new(found.unwrap_or_else(|| panic!("{issues:?}"))), learned)
    });
    let tpot = |answer: &Answer| answer.plans[0].tpot.expect("several tokens").mean * 1e3;
    assert!(
        tpot(&with) > 1.05 * tpot(&without),
        "{} ms without, {} ms with: {:?}",
        tpot(&without),
        tpot(&with),
        with.issues
    );
    let opened = ParsedScenario::read(&with.plans[0].link).predict(&Options::default(), |rows| {
        MODELS.answer(rows).map(Efficiencies::Learned).map_err(|error| {
            rooflight::api::Failure::new(rooflight::api::FailureKind::Models, error.to_string())
        })
    });
    let run = opened.report.and_then(|report| report.run).expect("a run");
    let opened = run.metrics.tpot.expect("several tokens").mean * 1e3;
    assert!(
        (opened / tpot(&with) - 1.0).abs() < 1e-3,
        "{opened} ms where the link opens, {} ms of the plan",
        tpot(&with)
    );
}

#[test]
fn plans_report_power_and_may_vary_its_cap() {
    let text = r#""rate": 40, "slo_tpot": 60, "gpu": "h100-sxm", "tp": 1, "gpus": 1, "vary": {"power_cap": [350, 700]}"#;
    let found = plan(&small(text));
    let watts = |cap: f64| {
        let of = found.plans.iter().find(|plan| plan.config["power_cap"].as_f64() == Some(cap));
        let of = of.unwrap_or_else(|| panic!("{cap}: {:?}", found.plans));
        (of.power.expect("an H100's power is known"), of.requests_per_s, of.output_per_s)
    };
    let ((capped, _, _), (full, requests, output)) = (watts(350.0), watts(700.0));
    assert!(
        capped.watts_per_gpu <= 350.0 && full.watts_per_gpu > capped.watts_per_gpu,
        "{capped:?} {full:?}"
    );
    assert!((full.joules_per_output_token * output / full.watts - 1.0).abs() < 1e-9);
    assert!((full.joules_per_request * requests / full.watts - 1.0).abs() < 1e-9);
    assert!(found.plans.iter().any(|plan| plan.name.ends_with(", 350 W")), "{:?}", found.plans[0].name);
}

#[test]
fn a_long_search_shows_a_plan_before_it_has_bounded_all_layouts() {
    let text = small(
        r#""rate": 8, "slo_ttft": 1000, "slo_tpot": 30, "vary": {"gpu": "all", "weights": ["bf16", "fp8", "nvfp4"]}"#,
    );
    let mut search = Search::new(request(&text));
    let step = |search: &mut Search| search.step(&roofline).expect("an answer");
    while search.tried().is_empty() {
        assert!(step(&mut search), "there are plans");
    }
    let counts = search.counts();
    assert!(counts.remaining > counts.layouts / 2 && counts.simulated == 1, "{counts:?}");
    assert!(!search.answer().plans.is_empty());
    let (early, best) = (search.answer().plans[0].clone(), finish(search, roofline));
    let cost = |plan: &rooflight::find::DeploymentPlan| plan.dollars_per_hour.unwrap_or(f64::INFINITY);
    assert!(best.counts.remaining == 0 && cost(&best.plans[0]) <= cost(&early));
}
