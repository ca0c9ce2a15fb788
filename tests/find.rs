//! Searches: requests as JSON, what comes of those that have no plan, and the best plan against a search without bounds.
#![cfg(feature = "tools")]

use std::sync::LazyLock;

use rooflight::api::{Options, ParsedScenario};
use rooflight::config::Field;
use rooflight::config::link::Link;
use rooflight::efficiency::onnx::Models;
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::evidence::models::shipped_models;
use rooflight::find::{Answer, Capacity, Plan, Question, Request, Search};

static MODELS: LazyLock<Models> = LazyLock::new(|| shipped_models().expect("the shipped models load"));

fn roofline(_: &Rows) -> Result<Efficiencies, String> {
    Ok(Efficiencies::Roofline)
}

fn learned(rows: &Rows) -> Result<Efficiencies, String> {
    MODELS.answer(rows).map(Efficiencies::Learned).map_err(|error| error.to_string())
}

fn request(text: &str) -> Request {
    let (request, issues) = Request::from_json(text);
    request.unwrap_or_else(|| panic!("{text}: {issues:?}"))
}

fn finish(mut search: Search, ask: fn(&Rows) -> Result<Efficiencies, String>) -> Answer {
    while search.step(ask, || "the models did not answer every row".to_owned()).expect("an answer") {}
    search.answer()
}

fn plan(text: &str) -> Answer {
    finish(Search::new(request(text)), roofline)
}

/// The errors of a request that cannot be searched, or of an answer without plans.
fn errors(text: &str) -> Vec<(Field, String)> {
    let (request, issues) = Request::from_json(text);
    let issues = request.map_or(issues, |request| finish(Search::new(request), roofline).issues);
    issues.into_iter().filter(|issue| issue.is_error()).map(|issue| (issue.field, issue.text)).collect()
}

#[test]
fn what_a_request_cannot_be_is_said_beside_its_field() {
    for (text, field) in [
        (r#"{"rate": 1, "slo_tpot": 30"#, Field::Link),
        (r#"{"rate": 1, "nope": 1}"#, Field::Link),
        (r#"{"rate": 1, "rate": 2}"#, Field::Link),
        (r#"{"rate": 1, "vary": {"isl": [1, 2]}}"#, Field::Vary),
        (r#"{"rate": 1, "vary": {"tp": []}}"#, Field::Tp),
        (r#"{"rate": 1, "vary": {"tp": [3]}}"#, Field::Tp),
        (r#"{"rate": 1, "tp": 2, "vary": {"tp": [1]}}"#, Field::Tp),
        (r#"{"rate": 1, "vary": {"gpu": ["h1000"]}}"#, Field::Gpu),
        (r#"{"rate": 1, "vary": {"weights": ["fp9"]}}"#, Field::Weights),
        (r#"{"rate": 1, "vary": {"max_seqs": "all"}}"#, Field::MaxSeqs),
        (r#"{"rate": 1, "owned": {"h1000": 4}}"#, Field::Owned),
        (r#"{"rate": 1, "owned": {"h100-sxm": 0.5}}"#, Field::Owned),
        (r#"{"rate": 1, "owned": {"l4": 8}, "gpu": "h100-sxm"}"#, Field::Owned),
        (r#"{"rate": 1, "budget_gpus": 0}"#, Field::BudgetGpus),
        (r#"{"rate": 1, "budget_gpus": 4, "gpus": 8}"#, Field::BudgetGpus),
        (r#"{"rate": 1, "budget_dollars": 0.1}"#, Field::BudgetDollars),
        (r#"{"rate": 1, "budget_dollars": 10, "gpu": "gb300"}"#, Field::BudgetDollars),
        (r#"{"rate": 1, "price": 2}"#, Field::Price),
        (r#"{"rate": 1, "prices": {"b200": "cheap"}}"#, Field::Prices),
        (r#"{"rate": 1, "prices": "2.5"}"#, Field::Prices),
        (r#"{"rate": 1, "prices": 2.5}"#, Field::Prices),
        (r#"{"rate": 1, "prices": {"b200": "2.5"}}"#, Field::Prices),
        (r#"{"rate": 1, "prices": {"t4": "reserved"}}"#, Field::Prices),
        (r#"{"rate": 1, "prices": {"b200": {"purchase_dollars": 40000}}}"#, Field::Prices),
        (r#"{"rate": 1, "prices": {"b200": {"purchase": 40000}}}"#, Field::Prices),
        (r#"{"rate": 1, "plans": 0}"#, Field::Plans),
        (r#"{"batch": 8}"#, Field::Batch),
        (r#"{"rate": 1, "vary": {"drafted": [0, 1]}}"#, Field::Accepted),
        (r#"{"rate": 1, "prefill_workers": 2}"#, Field::PrefillWorkers),
        (r#"{"rate": 1, "gpus": 8, "vary": {"prefill_workers": "all"}}"#, Field::PrefillWorkers),
        (r#"{"offline": 8, "vary": {"prefill_tp": [1]}}"#, Field::PrefillWorkers),
        (r#"{"rate": 1, "vary": {"prefill_gpu": ["h1000"]}}"#, Field::PrefillGpu),
    ] {
        let found = errors(text);
        assert!(found.iter().any(|(of, _)| *of == field), "{text}: {found:?}");
        assert!(found.iter().all(|(_, text)| !text.is_empty()));
    }
}

const SMALL: &str =
    r#""model": "llama-3.1-8b", "isl": 512, "osl": 64, "requests": 200, "engine": "vllm", "pp": 1"#;

fn small(more: &str) -> String {
    format!("{{{SMALL}, {more}}}")
}

#[test]
fn what_is_said_is_fixed_and_the_rest_is_open() {
    let layouts = |more: &str| request(&small(more)).layouts();
    let fixed = layouts(r#""rate": 4, "gpu": "l40s", "tp": 2, "gpus": 8"#);
    assert_eq!(fixed.len(), 1);
    assert_eq!((fixed[0].tp, fixed[0].replicas), (2, 4));
    let open = layouts(r#""rate": 4, "gpu": "l40s""#);
    assert_eq!(open.iter().map(|layout| layout.tp).collect::<Vec<_>>(), [1, 2, 4, 8]);
    assert!(open.iter().all(|layout| layout.weights.is_none()), "formats are the visitor's to allow");
    let owned = layouts(r#""rate": 4, "tp": 1, "owned": {"l4": 8, "l40s": 2}"#);
    assert_eq!(owned.iter().map(|layout| layout.gpu.as_str()).collect::<Vec<_>>(), ["l4", "l40s"]);
    let varied = layouts(
        r#""rate": 4, "gpu": "l40s", "tp": 1, "vary": {"weights": ["bf16", "fp8"], "max_seqs": [64, 128]}"#,
    );
    assert_eq!(varied.len(), 4);
    // Eight GPUs do not divide by sixteen.
    assert_eq!(layouts(r#""rate": 4, "gpu": "l40s", "gpus": 4"#).len(), 3);
}

#[test]
fn plans_are_ranked_by_cost_and_say_why_they_come_after_the_first() {
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
    assert!(answer.plans.iter().skip(1).all(|plan| plan.behind.is_some()));
    assert!(answer.plans[0].behind.is_none() && answer.plans[0].headroom.is_some_and(|times| times >= 1.0));
    let unpriced = answer.plans.iter().find(|plan| plan.gpu == "gb300").expect("shown");
    assert!(unpriced.behind.as_ref().is_some_and(|text| text.contains("no known price")));
    // Loads the last does not take are not shown as taken.
    assert!(answer.plans.iter().all(|plan| plan.goodput_share.is_some_and(|share| share >= 0.99)));
}

#[test]
fn prices_are_on_demand_reserved_given_or_of_own_hardware() {
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
        let close = |found: Option<f64>, tokens: f64| {
            (found.expect("a price") / per_million(tokens) - 1.0).abs() < 1e-9
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
        issues.iter().any(|issue| issue.field == Field::Prices && issue.text.contains("t4")),
        "{issues:?}"
    );
}

#[test]
fn a_plan_has_the_figures_of_its_link() {
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
    assert!(plan.replicas > 1 && plan.dollars_per_hour == Some(2.0 * f64::from(plan.gpus)));
    let per_million = headline.dollars_per_million.expect("a price").0;
    assert!((per_million / plan.dollars_per_million_output.expect("a price") - 1.0).abs() < 1e-9);
}

#[test]
fn limits_that_nothing_meets_name_the_one_that_binds_and_what_comes_nearest() {
    let answer = plan(&small(r#""rate": 8, "slo_tpot": 0.5, "vary": {"gpu": ["l40s", "h100-sxm"]}"#));
    let nearest = answer.nearest.expect("something comes nearest");
    let broken = nearest.broken.expect("a limit");
    assert!(answer.plans.is_empty() && broken.field == Field::SloTpot && broken.at > broken.limit);
    assert_eq!(answer.issues.last().map(|issue| issue.field), Some(Field::SloTpot));
    assert!(nearest.text.contains("times"), "{}", nearest.text);
}

#[test]
fn a_fleet_that_is_too_small_says_what_would_do() {
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
        assert_eq!(answer.issues.last().map(|issue| issue.field), Some(field), "{}", nearest.text);
    }
}

#[test]
fn a_model_that_fits_nowhere_says_what_it_lacks() {
    let answer =
        plan(r#"{"model": "deepseek-r1", "rate": 1, "slo_tpot": 50, "vary": {"gpu": ["l4", "rtx-4090"]}}"#);
    assert!(answer.plans.is_empty() && answer.nearest.is_none());
    let issue = answer.issues.last().expect("a reason");
    assert_eq!(issue.field, Field::Gpu);
    assert!(issue.text.contains("lacks"), "{}", issue.text);
}

#[test]
fn a_search_stops_when_it_is_told_and_counts_what_remains() {
    let mut search = Search::new(request(&small(r#""rate": 8, "slo_tpot": 30"#)));
    let step = |search: &mut Search| search.step(roofline, String::new).expect("an answer");
    assert!(step(&mut search));
    let begun = search.answer();
    assert!(!begun.finished && begun.counts.remaining > 0);
    search.stop();
    assert!(!step(&mut search) && !search.answer().finished);
}

/// Fleets whose best plan a search without bounds confirms.
const TASKS: [&str; 6] = [
    r#""rate": 12, "slo_ttft": 800, "slo_tpot": 25, "vary": {"gpu": ["l40s", "h100-sxm", "a100-sxm-80gb"]}"#,
    r#""rate": 20, "slo_e2e": 2500, "vary": {"gpu": ["l4", "h100-sxm"], "weights": ["bf16", "fp8"]}"#,
    r#""concurrency": 96, "slo_tpot": 15, "vary": {"gpu": ["l40s", "h200-sxm"]}"#,
    r#""rate": 10, "slo_tpot": 20, "slo_percentile": 90, "spread": 0.5, "vary": {"gpu": ["l40s", "rtx-4090"]}"#,
    r#""sessions": 40, "turns": 3, "slo_ttft": 500, "slo_share": 0.9, "vary": {"gpu": ["l40s", "h100-sxm"]}"#,
    r#""rate": 10, "slo_tpot": 30, "budget_gpus": 6, "vary": {"gpu": ["l4", "l40s"]}"#,
];

#[test]
fn the_best_plan_is_that_of_a_search_without_bounds() {
    for ask in [roofline, learned] {
        for task in TASKS {
            let request = request(&small(task));
            let (found, all) =
                (finish(Search::new(request.clone()), ask), finish(Search::exhaustive(request), ask));
            let cost = |answer: &Answer| answer.plans.first().and_then(|plan| plan.dollars_per_hour);
            assert_eq!(cost(&found), cost(&all), "{task}");
        }
    }
}

/// The answer to a request that asks for more than plans.
fn capacity(text: &str) -> Capacity {
    let (request, question, issues) = Question::from_json(text);
    let request = request.unwrap_or_else(|| panic!("{text}: {issues:?}"));
    let found = question.answer(request, |search| Ok::<_, ()>(finish(search, roofline)));
    found.expect("an answer")
}

#[test]
fn a_fleet_and_a_budget_take_so_much_load_and_no_more() {
    let limits = r#""slo_ttft": 1000, "slo_tpot": 30, "gpu": "h100-sxm", "tp": 1"#;
    let with = |load: &str, fleet: &str| capacity(&small(&format!("{load}, {limits}, {fleet}")));
    let found = with(r#""rate": "most""#, r#""owned": {"h100-sxm": 2}"#);
    let most = found.most.expect("some load is taken");
    let breaks = most.breaks_at.expect("there is an end");
    assert!(most.load > 1.0 && breaks > most.load && breaks <= most.load * 1.031, "{most:?}");
    let best = &found.answer.plans[0];
    assert!(best.gpus <= 2 && best.config["rate"].as_f64() == Some(most.load), "{}", best.config);
    let fits = |rate: f64| {
        !plan(&small(&format!(r#""rate": {rate}, {limits}, "owned": {{"h100-sxm": 2}}"#))).plans.is_empty()
    };
    assert!(fits(most.load) && !fits(breaks));
    // Dollars for two GPUs buy what two GPUs take; for one, about half of it.
    let two = with(r#""rate": "most""#, r#""budget_dollars": 5.4"#).most.expect("some").load;
    let one = with(r#""rate": "most""#, r#""budget_dollars": 2.7"#).most.expect("some").load;
    assert!((two / most.load - 1.0).abs() < 1e-9 && (0.4..0.6).contains(&(one / two)), "{one} {two}");
    let clients = with(r#""concurrency": "most""#, r#""budget_gpus": 1"#).most.expect("some");
    assert!(
        clients.load.fract() == 0.0 && clients.field == Field::Concurrency && clients.load > 1.0,
        "{clients:?}"
    );
    // No load at all keeps to these.
    let none = capacity(&small(r#""rate": "most", "slo_tpot": 0.1, "gpu": "h100-sxm", "budget_gpus": 1"#));
    assert!(none.most.is_none() && none.answer.plans.is_empty() && none.answer.nearest.is_some());
}

#[test]
fn replicas_follow_the_rates_of_a_day() {
    let rates: Vec<f64> = (0..24).map(|hour| if hour < 8 { 0.0 } else { f64::from(hour) * 12.0 }).collect();
    let limits = r#""slo_ttft": 1000, "slo_tpot": 30, "gpu": "h100-sxm", "tp": 1, "plans": 1"#;
    let found = capacity(&small(&format!(r#""day": {rates:?}, {limits}"#)));
    let (day, peak) = (&found.days[0], &found.answer.plans[0]);
    assert_eq!((day.hours.len(), day.link.as_str()), (24, peak.link.as_str()));
    let replicas: Vec<u32> = day.hours.iter().map(|hour| hour.replicas).collect();
    assert!(
        replicas.is_sorted() && replicas[7] == 0 && replicas[23] == peak.replicas && replicas[8] > 0,
        "{replicas:?}"
    );
    assert!(replicas[8] < replicas[23], "{replicas:?}");
    assert_eq!(day.hours.iter().map(|hour| hour.step).sum::<i64>(), 0);
    assert_eq!(day.hours[0].step, -i64::from(peak.replicas));
    let gpus: u32 = day.hours.iter().map(|hour| hour.gpus).sum();
    let (cost, all_day) =
        (day.dollars_per_day.expect("a price"), day.dollars_per_day_at_peak.expect("a price"));
    assert!((cost - f64::from(gpus) * 2.69).abs() < 1e-6 && (day.gpu_hours - f64::from(gpus)).abs() < 1e-9);
    assert!((all_day - 24.0 * peak.dollars_per_hour.expect("a price")).abs() < 1e-9 && cost < all_day);
    // An hour's replicas are those of a plan for its rate.
    let alone = plan(&small(&format!(r#""rate": {}, {limits}"#, rates[12])));
    assert_eq!(alone.plans[0].replicas, replicas[12]);
}

#[test]
fn what_capacity_cannot_be_asked_is_said_by_name() {
    let day = |count: usize| format!("{:?}", vec![1; count]);
    for (text, field, part) in [
        (format!(r#"{{"day": {}}}"#, day(23)), Field::Day, "not 23"),
        (format!(r#"{{"day": {}, "rate": 3}}"#, day(24)), Field::Day, "not both"),
        (format!(r#"{{"day": {}, "rate": "most"}}"#, day(24)), Field::Rate, "leave out"),
        (format!(r#"{{"day": {}}}"#, day(24).replacen('1', "-1", 1)), Field::Day, "-1"),
        (format!(r#"{{"day": {}}}"#, day(24).replacen('1', "\"x\"", 1)), Field::Day, "x"),
        (format!(r#"{{"day": {}}}"#, day(24).replace('1', "0")), Field::Day, "no requests"),
        (r#"{"day": 5}"#.into(), Field::Day, "24 rates"),
        (r#"{"rate": "most", "slo_tpot": 30}"#.into(), Field::Rate, "needs a bound"),
        (r#"{"rate": "much", "slo_tpot": 30}"#.into(), Field::Rate, ""),
        (r#"{"rate": "most", "rate": "most", "budget_gpus": 1}"#.into(), Field::Link, "twice"),
        (r#"{"rate": "most", "budget_dollars": 0.1}"#.into(), Field::BudgetDollars, "less than one GPU"),
    ] {
        let (request, _, issues) = Question::from_json(&text);
        assert!(request.is_none(), "{text}");
        assert!(
            issues.iter().any(|issue| issue.field == field && issue.text.contains(part)),
            "{text}: {issues:?}"
        );
    }
}

#[test]
fn plans_are_calibrated_on_runs_of_ones_own() {
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
fn plans_say_their_power_and_a_cap_may_vary() {
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

/// What a link's run comes to.
fn opened(link: &str) -> rooflight::serving::run::Run {
    let ask = |rows: &Rows| Ok(Efficiencies::Learned(MODELS.answer(rows).expect("an answer")));
    let report = ParsedScenario::read(link).predict(&Options::default(), ask).report.expect("an answer");
    report.run.expect("a run")
}

#[test]
fn prefill_and_decode_apart_have_the_fewest_workers_that_keep_to_the_limits() {
    let found = |more: &str| {
        let text = format!(
            r#"{{"model": "llama-3.1-8b", "engine": "vllm", "gpu": "h100-sxm", "tp": 1, "pp": 1, "rate": 40, "isl": 2048,
            "osl": 64, "requests": 300, "slo_ttft": 1000, "slo_tpot": 12, "plans": 1, "vary": {{{more}}}}}"#
        );
        finish(Search::new(request(&text)), learned)
    };
    let answer = found(r#""prefill_workers": "all""#);
    let workers = |plan: &Plan| plan.config["prefill_workers"].as_u64().unwrap_or(0);
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
        assert_eq!(opened(&Link::new(scenario).encode()).keeps(), Some(false));
    }

    let other = found(r#""prefill_workers": [3, 5], "prefill_gpu": ["h200-sxm"]"#);
    let plan =
        other.plans.iter().find(|plan| workers(plan) > 0).unwrap_or_else(|| panic!("{:?}", other.pools));
    assert!(plan.config["prefill_gpu"] == "h200-sxm" && [3, 5].contains(&workers(plan)), "{}", plan.name);
}

#[test]
fn links_ask_for_the_most_load_and_for_a_day() {
    let asked = |link: &str| Question::from_link(&Link::read(link).0.expect("a link"));
    let limits = "v=1&m=llama-3.1-8b&isl=512&osl=64&np=200&g=h100-sxm&st=1000&sp=30&r=3";
    let (request, question, issues) =
        asked(&format!("{limits}&f=gpu~h100-sxm~engine~vllm~tp~1~pp~1~budget_gpus~2~most~yes"));
    assert_eq!(question, Question::Most(Field::Rate), "{issues:?}");
    let found = question.answer(request.expect("bounded"), |search| Ok::<_, ()>(finish(search, roofline)));
    let most = found.expect("an answer").most.expect("some load");
    let native = capacity(&small(
        r#""rate": "most", "slo_ttft": 1000, "slo_tpot": 30, "gpu": "h100-sxm", "tp": 1, "budget_gpus": 2"#,
    ));
    assert_eq!(Some(most), native.most);
    let rates = (1..=24).map(|rate| rate.to_string()).collect::<Vec<_>>().join(",");
    let (_, question, issues) = asked(&format!("{limits}&f=day~{rates}"));
    assert_eq!(question, Question::Day((1..=24).map(f64::from).collect()), "{issues:?}");
    let (request, _, issues) = asked(&format!("{limits}&f=day~1,2"));
    assert!(request.is_none() && issues.iter().any(|issue| issue.field == Field::Day), "{issues:?}");
}

#[test]
fn links_ask_for_prefill_apart() {
    let link = Link::read("v=1&m=llama-3.1-8b&r=4&sp=30&f=gpu~b200~prefill_workers~all~prefill_gpu~l40s").0;
    let (request, issues) = Request::from_link(&link.expect("a link"));
    let request = request.unwrap_or_else(|| panic!("{issues:?}"));
    assert_eq!(request.values(Field::PrefillWorkers), Some(&[][..]));
    assert_eq!(request.values(Field::PrefillGpu), Some(&["l40s".to_owned()][..]));
}

#[test]
fn links_hold_prices_by_gpu_and_terms() {
    let price = |find: &str, gpu: &str| {
        let link =
            Link::read(&format!("v=1&m=llama-3.1-8b&r=4&sp=30&f=gpu~b200,l4~{find}")).0.expect("a link");
        let (request, issues) = Request::from_link(&link);
        request.unwrap_or_else(|| panic!("{find}: {issues:?}")).fleet.price(gpu)
    };
    assert_eq!(price("prices~reserved", "b200"), Some(5.1));
    assert_eq!(price("prices~reserved", "l4"), Some(0.44));
    assert_eq!(price("prices~l4,0.3,b200,reserved", "b200"), Some(5.1));
    assert_eq!(price("prices~l4,0.3,b200,reserved", "l4"), Some(0.3));
}
