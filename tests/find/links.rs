//! Searches that a link asks for.

use rooflight::config::link::{BY_GPU, Link};
use rooflight::config::{Field, Issue, Load};
use rooflight::find::Question;

use super::{capacity, finish, roofline, small};

#[test]
fn links_can_ask_for_the_most_load_or_a_day() {
    let asked = |link: &str| Question::from_link(&Link::read(link).0.expect("a link"));
    let limits = "v=1&m=llama-3.1-8b&isl=512&osl=64&np=200&g=h100-sxm&st=1000&sp=30&r=3";
    let (request, question, issues) =
        asked(&format!("{limits}&f=gpu~h100-sxm~engine~vllm~tp~1~pp~1~budget_gpus~2~most~yes"));
    assert_eq!(question, Question::Most(Load::Rate(1.0)), "{issues:?}");
    let found = question.answer(request.expect("bounded"), |search| Ok::<_, ()>(finish(search, roofline)));
    let most = found.expect("an answer").most.expect("some load");
    let native = capacity(&small(
        r#""rate": "most", "slo_ttft": 1000, "slo_tpot": 30, "gpu": "h100-sxm", "tp": 1, "budget_gpus": 2"#,
    ));
    assert_eq!(Some(most), native.most);
    let rates = (1..=24).map(|rate| rate.to_string()).collect::<Vec<_>>().join(",");
    let (_, question, issues) = asked(&format!("{limits}&f=day~{rates}"));
    assert_eq!(question, Question::Day((1..=24).map(f64::from).collect()), "{issues:?}");
    for between in ["%20", "%09", "%0A", "%2C%20"] {
        let (_, pasted, issues) = asked(&format!("{limits}&f=day~{}", rates.replace(',', between)));
        assert_eq!(pasted, question, "{between}: {issues:?}");
    }
    let (request, _, issues) = asked(&format!("{limits}&f=day~1,2"));
    assert!(request.is_none() && issues.iter().any(|issue| issue.field == Field::Day), "{issues:?}");
}

#[test]
fn links_can_ask_for_prefill_pools() {
    let link = Link::read("v=1&m=llama-3.1-8b&r=4&sp=30&f=gpu~b200~prefill_workers~all~prefill_gpu~l40s").0;
    let (request, _, issues) = Question::from_link(&link.expect("a link"));
    let request = request.unwrap_or_else(|| panic!("{issues:?}"));
    assert_eq!(request.values(Field::PrefillWorkers), Some(&[][..]));
    assert_eq!(request.values(Field::PrefillGpu), Some(&["l40s".to_owned()][..]));
}

#[test]
fn links_hold_prices_by_gpu_and_contract() {
    let price = |find: &str, gpu: &str| {
        let link =
            Link::read(&format!("v=1&m=llama-3.1-8b&r=4&sp=30&f=gpu~b200,l4~{find}")).0.expect("a link");
        let (request, _, issues) = Question::from_link(&link);
        request.unwrap_or_else(|| panic!("{find}: {issues:?}")).fleet.price(gpu)
    };
    assert_eq!(price("prices~reserved", "b200"), Some(5.1));
    assert_eq!(price("prices~reserved", "l4"), Some(0.44));
    assert_eq!(price("prefill_gpu~h100-sxm~prices~reserved", "h100-sxm"), Some(2.72));
    assert_eq!(price("prices~l4,0.3,b200,reserved", "b200"), Some(5.1));
    assert_eq!(price("prices~l4,0.3,b200,reserved", "l4"), Some(0.3));
}

#[test]
fn a_load_that_no_layout_can_serve_is_refused_on_its_field_before_the_search() {
    let refused = |link: &str| {
        let (request, _, issues) = Question::from_link(&Link::read(link).0.expect("a link"));
        let errors: Vec<Field> =
            issues.iter().filter(|issue| issue.is_error()).map(|issue| issue.field).collect();
        assert_eq!(request.is_none(), !errors.is_empty(), "{link}: {issues:?}");
        errors
    };
    let of = |load: &str, find: &str| refused(&format!("v=1&m=qwen3-32b&{load}&f=gpu~h100-sxm{find}"));
    assert_eq!(of("r=0&sp=30", "~weights~fp8"), [Field::Rate]);
    assert_eq!(of("r=2&sp=0", ""), [Field::SloTpot]);
    assert_eq!(of("r=2&sp=30&isl=900000", ""), [Field::Isl]);
    assert_eq!(of("r=2&sp=30", "~accepted~0.8"), [Field::Accepted]);
    for find in ["~drafted~0,1~accepted~0.8", "~drafted~2~accepted~0.8,1.5", ""] {
        assert_eq!(of("r=2&sp=30", find), [], "{find}");
    }
    assert_eq!(of("r=2&sp=30&sd=1", "~accepted~0.8,3"), [], "one of them is sound");
}

#[test]
fn gpus_without_a_reserved_price_are_named_and_no_price_is_made_up_for_them() {
    let link = Link::read("v=1&m=llama-3.1-8b&r=4&sp=30&f=gpu~b200,b300,h20~prices~reserved").0;
    let (_, _, issues) = Question::from_link(&link.expect("a link"));
    let said: Vec<&str> =
        issues.iter().filter(|issue| issue.field == Field::Prices).map(|issue| issue.text.as_str()).collect();
    assert!(said.iter().all(|text| !text.contains("h20") && !text.contains("b300")), "{said:?}");
    let of = |name: &str| said.iter().find(|text| text.contains(name)).expect("it is named");
    assert!(of("B300").contains("on demand") && !of("H20").contains("on demand"), "{said:?}");
}

#[test]
fn issues_of_a_links_search_are_on_the_boxes_of_the_page_and_name_them() {
    let found = |find: &str| {
        let link = Link::read(&format!("v=1&m=llama-3.1-8b&r=20&sp=30&f={find}")).0.expect("a link");
        let (request, _, issues) = Question::from_link(&link);
        assert!(request.is_none(), "{find}");
        issues.into_iter().find(|issue| issue.is_error()).expect("an error")
    };
    for (find, field, label) in [
        ("most~yes", Field::Most, Field::BudgetGpus.input().label),
        ("day~1,2", Field::Day, Field::Day.input().label),
        ("owned~l40s,x", Field::Owned, "L40S"),
        ("prices~l40s,1%3B5", Field::Prices, "as in 1.5"),
        ("budget_dollars~1%2C5", Field::BudgetDollars, "as in 1.5"),
        ("budget_gpus~x", Field::BudgetGpus, Field::BudgetGpus.input().label),
        ("token_budget~x", Field::TokenBudget, Field::TokenBudget.input().label),
    ] {
        let issue = found(find);
        let said = issue.sentence();
        assert_eq!(issue.field, field, "{find}: {said}");
        assert_eq!(issue.of.as_deref(), BY_GPU.contains(&field).then_some("l40s"), "{find}: {said}");
        assert!(said.contains(label), "{find}: {said}");
        assert!(
            !said.contains('_') && !said.contains(&format!("`{}`", field.id())) && !said.contains('"'),
            "{find}: {said}"
        );
    }
}

#[test]
fn a_budget_that_is_no_number_is_refused_not_dropped() {
    for text in ["nan", "inf", "1e400"] {
        let link = format!("v=1&r=1&sp=30&f=budget_dollars~{text}");
        let (request, _, issues) = Question::from_link(&Link::read(&link).0.expect("a link"));
        let says = |issue: &Issue| issue.field == Field::BudgetDollars && issue.text.contains(text);
        assert!(request.is_none() && issues.iter().any(says), "{link}: {issues:?}");
    }
}
