//! The page's search for plans.

use rooflight::chart::Chart;
use rooflight::config::{Field, Issue, link};
use rooflight::efficiency::Efficiencies;
use rooflight::study::{Block, Content, Document, Study, Topic};
use serde_json::Value;

use super::{PAGE, charts, flat, output, study, tables};

#[test]
fn plans_link_to_their_configuration_and_give_reasons() {
    let link = "v=1&isl=512&osl=64&np=100&r=8&sp=30&f=gpu~l40s,h100-sxm~engine~vllm~weights~bf16,fp8";
    let document = study(Topic::Plans, "", link);
    let table = tables(&document)[0];
    assert!(table.rows.len() > 1 && table.rows.iter().all(|row| output(&row.cells[0].link).is_some()));
    assert!(
        table.rows.iter().all(|row| row.cells.last().is_some_and(|mark| mark.link.starts_with("mark:v=1")))
    );
    let folds: Vec<&str> = flat(&document.blocks)
        .into_iter()
        .filter(|block| matches!(block.content, Content::Fold(_)))
        .map(|block| block.name.as_str())
        .collect();
    assert!(folds[1].starts_with("2. ") && folds[1].contains(": costs"), "{folds:?}");
    let charts = charts(&document);
    assert_eq!(charts.len(), 2);
    // The chart has the output that the details have.
    let own = output(&table.rows[0].cells[0].link).expect("it is served");
    let gpus = link::decode(&table.rows[0].cells[0].link).0.scenario.gpus() as f64;
    let Chart::Curves(curves) = &charts[0] else { panic!("{charts:?}") };
    let places = curves.panels[0].lines.iter().flat_map(|line| line.points());
    assert!(places.map(|point| point.1 * gpus / own - 1.0).any(|away| away.abs() < 1e-9));
    // The choices of the link no longer appear among those of the plans.
    assert!(!table.rows[0].cells[0].link.contains("&f="));
}

#[test]
fn each_invalid_search_option_has_an_error_on_its_field() {
    let fields = |wishes: &str| -> Vec<Field> {
        let study = Study::new(Topic::Plans, "", &format!("v=1&r=2&sp=30&f={wishes}"), PAGE);
        study.issues().into_iter().filter(Issue::is_error).map(|issue| issue.field).collect()
    };
    for (wishes, field) in [
        ("gpu~h1000", Field::Gpu),
        ("tp~3", Field::Tp),
        ("tp~two", Field::Tp),
        ("weights~fp9", Field::Weights),
        ("budget_gpus~x", Field::BudgetGpus),
        ("budget_gpus~0", Field::BudgetGpus),
        ("budget_dollars~0.1", Field::BudgetDollars),
        ("owned~h100-sxm,x", Field::Owned),
        ("owned~h100-sxm", Field::Owned),
        ("gpu~l4~owned~h100-sxm,4", Field::Owned),
        ("prices~b200,cheap", Field::Prices),
        ("max_seqs~0", Field::MaxSeqs),
    ] {
        assert_eq!(fields(wishes), [field], "{wishes}");
    }
    assert_eq!(fields("gpu~h100-sxm,l4~owned~h100-sxm,4"), []);
}

#[test]
fn a_search_is_shared_as_its_link_and_its_plans_are_saved_as_files() {
    const LINK: &str = "v=1&isl=512&osl=64&np=100&r=8&sp=30&f=gpu~l40s,h100-sxm~engine~vllm~budget_gpus~16";
    let mut study = Study::new(Topic::Plans, "", LINK, PAGE);
    let document = study.page_document();
    assert_eq!(code(&document, "plans-share-link"), link_of(LINK), "before anything is found");
    while study.step(|_| Ok(Efficiencies::Roofline)).expect("the roofline always answers") {}
    let document = study.page_document();
    assert_eq!(code(&document, "plans-share-link"), link_of(LINK));
    let rows = &tables(&document)[0].rows;
    let json: Value = serde_json::from_str(code(&document, "plans-json")).expect("it is JSON");
    assert_eq!(json["link"], link::decode(LINK).0.encode());
    let plans = json["plans"].as_array().expect("there are plans");
    assert!(plans.len() >= rows.len() && plans[0]["name"] == rows[0].cells[0].text);
    let csv: Vec<&str> = code(&document, "plans-csv").lines().collect();
    assert!(csv[0].starts_with("name,gpu,gpus,replicas,link,ttft_mean_ms") && csv.len() == plans.len() + 1);
    let markdown = code(&document, "plans-markdown");
    assert!(markdown.starts_with(&link_of(LINK)) && markdown.contains("| Plan |"), "{markdown}");
    // A box to tick is nothing outside the page.
    assert!(!markdown.contains("| Compare |") && !markdown.contains("|  |"), "{markdown}");
    // Commands print the plans alone.
    assert!(!study.document().to_markdown(PAGE).contains("Export"));
}

#[test]
fn the_layouts_of_a_day_are_those_of_its_peak() {
    let rates = [["1"; 12], ["2"; 12]].concat().join(",");
    let link = format!("v=1&m=qwen3-8b&isl=512&osl=64&np=100&sp=30&f=gpu~h100-sxm~engine~vllm~day~{rates}");
    let mut study = Study::new(Topic::Plans, "", &link, PAGE);
    while study.step(|_| Ok(Efficiencies::Roofline)).expect("the roofline always answers") {}
    let document = study.document();
    let counts = document.blocks.iter().find(|block| block.id == "plans-counts").expect("what was searched");
    let Content::Facts(facts) = &counts.content else { panic!("{counts:?}") };
    let (done, all) = study.progress();
    assert_eq!((done.to_string(), done), (facts[0].value.clone(), all));
}

#[test]
fn the_nearest_plan_is_saved_where_none_meets_the_limits() {
    let link = "v=1&isl=512&osl=64&np=100&r=8&sp=1&f=gpu~l40s~engine~vllm";
    let mut study = Study::new(Topic::Plans, "", link, PAGE);
    while study.step(|_| Ok(Efficiencies::Roofline)).expect("the roofline always answers") {}
    assert_eq!(code(&study.page_document(), "plans-csv").lines().count(), 2);
}

fn link_of(link: &str) -> String {
    format!("{PAGE}#{}", link::decode(link).0.encode())
}

fn code<'a>(document: &'a Document, id: &str) -> &'a str {
    let text = |block: &&'a Block| match &block.content {
        Content::Code(code) if block.id == id => Some(code.text.as_str()),
        _ => None,
    };
    flat(&document.blocks).iter().find_map(text).unwrap_or_else(|| panic!("nothing is called {id}"))
}
