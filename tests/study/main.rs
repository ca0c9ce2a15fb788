//! Studies: every topic gives a correct answer about every kind of configuration.
#![cfg(feature = "chart")]

mod changes;
mod comparisons;
mod documents;
mod measurements;
mod plans;

use std::rc::Rc;

use rooflight::chart::Chart;
use rooflight::config::catalog::catalog;
use rooflight::config::{Issue, check, link};
use rooflight::efficiency::Efficiencies;
use rooflight::serving::{Report, finish, plan};
use rooflight::study::accuracy::Accuracy;
use rooflight::study::{Block, Content, Document, Span, Study, Table, Topic};

const PAGE: &str = "https://example.org/rooflight/";

fn accuracy() -> Accuracy {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/models/evidence.json");
    Accuracy::parse(&std::fs::read_to_string(path).expect("the report ships")).expect("it reads")
}

fn study(topic: Topic, of: &str, link: &str) -> Document {
    // A search of a few layouts, where it is one.
    let narrow =
        if topic == Topic::Plans && !link.contains("&f=") { "&f=gpu~h100-sxm,l4~engine~vllm" } else { "" };
    let link = &format!("{link}{narrow}");
    let mut study = Study::new(topic, of, link, PAGE).with(Some(Rc::new(accuracy())));
    while study.step(|_| Ok(Efficiencies::Roofline)).expect("the roofline always answers") {}
    let (done, total) = study.progress();
    assert_eq!(done, total);
    study.document()
}

/// All blocks, those inside folds too.
fn flat(blocks: &[Block]) -> Vec<&Block> {
    let mut all = Vec::new();
    for block in blocks {
        all.push(block);
        if let Content::Fold(inside) = &block.content {
            all.extend(flat(inside));
        }
    }
    all
}

fn tables(document: &Document) -> Vec<&Table> {
    flat(&document.blocks).into_iter().filter_map(Block::as_table).collect()
}

fn spans(document: &Document) -> Vec<&Span> {
    flat(&document.blocks).into_iter().flat_map(spans_of).collect()
}

fn spans_of(block: &Block) -> Vec<&Span> {
    match &block.content {
        Content::Text(spans) => spans.iter().collect(),
        Content::Table(table) => table.rows.iter().flat_map(|row| &row.cells).collect(),
        _ => Vec::new(),
    }
}

fn charts(document: &Document) -> Vec<Chart> {
    let mut charts = Vec::new();
    for block in flat(&document.blocks) {
        if let Content::Figure(figure) = &block.content {
            assert!(!figure.words.is_empty(), "{} has no words", block.name);
            charts.push(figure.chart.clone());
        }
    }
    charts
}

/// Output per second of what a link means, at the roofline; none where it has no answer.
fn output(fragment: &str) -> Option<f64> {
    Some(report(fragment)?.headline?.output_per_s)
}

fn report(fragment: &str) -> Option<Report> {
    let (link, issues) = link::decode(fragment);
    assert!(!issues.iter().any(Issue::is_error), "{fragment}: {issues:?}");
    let (plan, _) = plan(&check(&link.scenario, catalog()).0?).ok()?;
    finish(&plan, &Efficiencies::Roofline)
}

const MEASURED: &str = "v=1&m=qwen3-8b&me=ttft-50-45,tpot--8,throughput-1000";

const LINKS: [&str; 8] = [
    "v=1",
    "v=1&m=qwen3-32b&tp=2&c=32&st=500&sp=20",
    "v=1&m=deepseek-r1&g=h200-sxm&tp=8&ep=8&r=2",
    "v=1&b=8&isl=100,200x3,4096x4&osl=1",
    // Does not fit, and is not sound.
    "v=1&m=llama-3.1-70b",
    "v=1&m=qwen3-32b&tp=3",
    // As large as a link can say.
    "v=1&tp=4294967295&dp=4294967295&ep=4294967295&isl=4294967295&osl=4294967295&c=4294967295",
    MEASURED,
];
