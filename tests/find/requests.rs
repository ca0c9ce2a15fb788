//! Requests that cannot be searched, and what they leave open.

use rooflight::config::link::Link;
use rooflight::config::{Field, Issue};
use rooflight::find::{Question, Request};

use super::{errors, plan, request, small};

#[test]
fn a_request_without_a_load_says_which_it_takes() {
    let says = |issues: &[Issue]| issues.iter().any(|issue| issue.text.contains("the default, 16 clients"));
    let (_, issues) = Request::from_json(r#"{"model": "llama-3.1-8b", "gpu": "h100-sxm"}"#);
    assert!(says(&issues), "{issues:?}");
    let (_, issues) = Request::from_json(r#"{"model": "llama-3.1-8b", "concurrency": 16}"#);
    assert!(!says(&issues), "{issues:?}");
    // A form shows its load.
    let (_, _, issues) = Question::from_link(&Link::read("v=1&f=all").0.expect("a link"));
    assert!(!says(&issues), "{issues:?}");
}

#[test]
fn each_invalid_request_has_an_error_on_its_field() {
    for (text, field) in [
        (r#"{"rate": 1, "slo_tpot": 30"#, Field::Link),
        (r#"{"rate": 1, "nope": 1}"#, Field::Vary),
        (r#"{"rate": 1, "rate": 2}"#, Field::Link),
        (r#"{"rate": 1, "vary": {"isl": [1, 2]}}"#, Field::Vary),
        (r#"{"rate": 1, "vary": {"tp": []}}"#, Field::Tp),
        (r#"{"rate": 1, "vary": {"tp": [3]}}"#, Field::Tp),
        (r#"{"rate": 1, "tp": 2, "vary": {"tp": [1]}}"#, Field::Tp),
        (r#"{"rate": 1, "vary": {"gpu": ["h1000"]}}"#, Field::Gpu),
        (r#"{"rate": 1, "vary": {"gpu": ["H100"]}}"#, Field::Gpu),
        (r#"{"rate": 1, "owned": {"B200": 4, "b200": 8}}"#, Field::Owned),
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

#[test]
fn gpus_may_be_given_by_name() {
    let asked = request(
        r#"{"rate": 1, "slo_tpot": 30, "vary": {"gpu": ["RTX 4090", "NVIDIA B200"], "prefill_gpu": ["H200"]},
            "owned": {"Nvidia b200": 4}, "prices": {"B200": 3}}"#,
    );
    assert_eq!(asked.types(), ["rtx-4090", "b200"]);
    assert_eq!(asked.values(Field::PrefillGpu), Some(&["h200-sxm".to_owned()][..]));
    assert!(asked.fleet.owned.contains_key("b200") && asked.fleet.prices.contains_key("b200"));
    let several = &errors(r#"{"rate": 1, "vary": {"gpu": ["H100"]}}"#)[0];
    assert!(["h100-pcie", "h100-nvl", "h100-sxm"].iter().all(|id| several.1.contains(id)), "{several:?}");
}

#[test]
fn given_fields_are_fixed_and_the_others_vary() {
    let layouts = |more: &str| request(&small(more)).layouts();
    let fixed = layouts(r#""rate": 4, "gpu": "l40s", "tp": 2, "gpus": 8"#);
    assert_eq!(fixed.len(), 1);
    assert_eq!((fixed[0].parallel.tp, fixed[0].replicas), (2, 4));
    let open = layouts(r#""rate": 4, "gpu": "l40s""#);
    assert_eq!(open.iter().map(|layout| layout.parallel.tp).collect::<Vec<_>>(), [1, 2, 4, 8]);
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
fn each_invalid_capacity_question_has_an_error_on_its_field() {
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
        (r#"{"gpu": "h100-sxm", "owned": {"l4": 8}}"#.into(), Field::Owned, "allows only H100 SXM"),
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
fn unknown_names_are_answered_with_those_of_a_request() {
    let found = errors(r#"{"rate": 1, "slo_tpot": 30, "budget_gpu": 8}"#);
    let [(field, text)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(*field, Field::BudgetGpus);
    assert!(text.contains("`budget_gpu`") && text.contains("`budget_gpus`"), "{text}");
    let [(_, far)] = &errors(r#"{"rate": 1, "slo_tpot": 30, "abcdefgh": 8}"#)[..] else { panic!("one name") };
    assert!(far.contains("docs/plan.md"), "{far}");
    let [(Field::Day, day)] = &errors(r#"{"slo_tpot": 30, "day": [1, 2]}"#)[..] else { panic!("one field") };
    assert!(day.contains("several searches"), "{day}");
    let found = errors(r#"{"rate": 1, "slo_tpot": 30, "vary": "all"}"#);
    assert!(found[0].0 == Field::Vary && found[0].1.contains("tried anyway"), "{found:?}");
}

#[test]
fn the_token_budget_leaves_room_beside_whole_prompts() {
    let budget = |more: &str| {
        let text = format!(
            r#"{{"model": "llama-3.1-8b", "isl": 8192, "osl": 64, "requests": 100, "engine": "trtllm", "tp": 1, "pp": 1,
            "gpu": "h100-sxm", "rate": 2, "gpus": 1{more}}}"#
        );
        let plan = plan(&text).plans.into_iter().next().expect("one GPU suffices");
        (
            plan.config["token_budget"].as_u64(),
            plan.issues.iter().any(|issue| issue.field == Field::TokenBudget),
        )
    };
    assert_eq!(budget(""), (Some(16_384), true));
    // A stated one stays.
    assert_eq!(budget(r#", "token_budget": 12000"#), (Some(12_000), false));
    assert_eq!(budget(r#", "vary": {"token_budget": [12000]}"#), (Some(12_000), false));
}

#[test]
fn plans_that_differ_in_any_varied_input_have_different_names() {
    let names = |vary: &str| {
        let text = format!(r#""rate": 8, "slo_tpot": 60, "gpu": "h100-sxm", "tp": 1, "vary": {vary}"#);
        let mut names: Vec<String> = plan(&small(&text)).plans.into_iter().map(|plan| plan.name).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert!(all == names.len() && all > 1, "{vary}: {names:?}");
        names
    };
    let formats = names(r#"{"kv": ["bf16", "fp8"]}"#);
    assert!(formats.iter().any(|name| name.ends_with(", KV cache FP8")), "{formats:?}");
    let settings =
        names(r#"{"max_seqs": [64, 256], "token_budget": [2048, 8192], "cached_share": [0, 0.5]}"#);
    assert!(settings.iter().any(|name| name.contains("Max sequences 64, ")), "{settings:?}");
}
