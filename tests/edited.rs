//! GPUs and models with the visitor's own figures: counted anew, and carried by links.
#![cfg(feature = "chart")]

use rooflight::config::catalog::catalog;
use rooflight::config::model::Size;
use rooflight::config::{Field, Issue, check, link};
use rooflight::efficiency::Efficiencies;
use rooflight::find::Request;
use rooflight::serving::report::Headline;
use rooflight::serving::{finish, plan};
use rooflight::study::{Block, Document, Study, Table, Topic};

const LINK: &str = "v=1&m=qwen3-32b&g=h100-sxm&n=2&tp=2&c=16&isl=512&osl=64";

fn headline(link: &str) -> Headline {
    let (link, issues) = link::decode(link);
    assert!(!issues.iter().any(Issue::is_error), "{issues:?}");
    let (setup, issues) = check(&link.scenario, catalog());
    let setup = setup.unwrap_or_else(|| panic!("{issues:?}"));
    let (plan, _) = plan(&setup).unwrap_or_else(|issues| panic!("{issues:?}"));
    finish(&plan, &Efficiencies::Roofline).and_then(|report| report.headline).expect("an answer")
}

fn tpot(link: &str) -> f64 {
    headline(link).tpot.expect("tokens follow the first").0
}

fn document(topic: Topic, chosen: &str, link: &str) -> Document {
    let mut study = Study::new(topic, chosen, link, "https://example.org/");
    while study.step(|_| Ok(Efficiencies::Roofline)).expect("the roofline always answers") {}
    study.document()
}

fn table(document: &Document) -> &Table {
    document.blocks.iter().find_map(Block::as_table).unwrap_or_else(|| panic!("{document:?}"))
}

#[test]
fn figures_equal_to_the_catalogs_change_nothing() {
    let own = format!("{LINK}&hbw=3352.32&hsm=132");
    assert!((tpot(&own) / tpot(LINK) - 1.0).abs() < 1e-9);
}

#[test]
fn each_resource_shortens_what_it_bounds() {
    assert!(tpot(&format!("{LINK}&hbw=6700")) < 0.7 * tpot(LINK), "decoding reads weights");
    let prefill = |link: &str| headline(link).ttft.0;
    assert!(prefill(&format!("{LINK}&hsm=264")) < prefill(LINK), "prompts are products");
    assert!(tpot(&format!("{LINK}&hln=1800")) < tpot(LINK), "all-reduces cross links");
}

#[test]
fn every_edited_figure_survives_its_link() {
    let text = "v=1&g=b200&hsm=160&hck=2000&hbf=2500&hf8=5000&hf4=10000&hi8=5000&hmg=288&hbw=12000&hl2=192&hlb=30000\
                &hln=1800&hnw=100&hpw=1400";
    let (decoded, issues) = link::decode(text);
    assert!(issues.is_empty(), "{issues:?}");
    assert_eq!(link::decode(&decoded.encode()).0, decoded);
    let gpu = decoded.scenario.spec.apply(catalog().gpu("b200").expect("in the catalog")).into_owned();
    assert_eq!((gpu.sms.0, gpu.power_w.0, gpu.link.gb_per_s.0), (Some(160.0), Some(1400.0), Some(1800.0)));
    assert_eq!(gpu.measured().name, "B200");
}

#[test]
fn impossible_figures_are_refused_beside_their_field() {
    for (pair, field) in [
        ("hbw=0", Field::Bandwidth),
        ("hsm=x", Field::Sms),
        ("hck=-5", Field::ClockMhz),
        ("hmg=1e99", Field::MemoryGib),
        ("hf4=4000", Field::Fp4Tflops),
    ] {
        let (link, mut issues) = link::decode(&format!("v=1&g=h100-sxm&{pair}"));
        issues.extend(check(&link.scenario, catalog()).1);
        assert!(issues.iter().any(|issue| issue.is_error() && issue.field == field), "{pair}: {issues:?}");
    }
}

#[test]
fn the_sensitivity_of_each_metric_is_simulated() {
    let found = document(Topic::Sensitivity, "twice", LINK);
    let rows = &table(&found).rows;
    let bandwidth = rows.iter().find(|row| row.cells[0].text == "Memory bandwidth").expect("it matters");
    assert!(bandwidth.cells[4].text.contains('−'), "{bandwidth:?}");
    let target = &bandwidth.cells[0].link;
    assert_eq!(link::decode(target).0.scenario.spec.bandwidth, Some(6705.0));
}

#[test]
fn shapes_are_compared_at_equal_parameters() {
    let found = document(Topic::Shape, "memory", LINK);
    let rows = &table(&found).rows;
    assert!(rows.len() >= 5, "{rows:?}");
    let base = catalog().model("qwen3-32b").expect("in the catalog");
    for row in rows {
        let target = &row.cells[0].link;
        let (link, _) = link::decode(target);
        let model = link.scenario.model.record().expect("its own");
        assert!((model.parameters() / base.parameters() - 1.0).abs() < 0.02, "{}", row.cells[0].text);
    }
    let halved = rows.iter().find(|row| row.cells[0].text == "Half the KV heads").expect("it has eight");
    assert!(halved.cells[3].text.contains("−50\u{a0}%"), "{halved:?}");
}

#[test]
fn shapes_are_compared_at_equal_speed() {
    let found = document(Topic::Shape, "latency", LINK);
    let rows = &table(&found).rows;
    let solved: Vec<_> = rows.iter().map(|row| &row.cells[0].link).filter(|link| !link.is_empty()).collect();
    assert!(solved.len() >= 3, "{rows:?}");
    for target in solved {
        assert!((tpot(target) / tpot(LINK) - 1.0).abs() < 0.02, "{target}");
    }
}

#[test]
fn an_edited_model_is_counted_as_edited() {
    let (mut link, _) = link::decode(LINK);
    link.scenario.resize(Size::Layers, 32.0);
    let text = link.encode();
    assert!(text.contains("x="), "{text}");
    assert!(tpot(&text) < 0.6 * tpot(LINK));
    let input = Field::Layers.input().number.as_ref().expect("a number");
    assert_eq!((input.read)(&link::decode(&text).0.scenario), Some(32.0));
}

#[test]
fn a_search_over_several_gpus_takes_none_with_edited_figures() {
    let request = |more: &str| {
        let text =
            format!(r#"{{"model": "qwen3-32b", "rate": 2, "slo_ttft": 1000, "bandwidth": 5000{more}}}"#);
        Request::from_json(&text)
    };
    let (open, issues) = request("");
    assert!(open.is_none() && issues.iter().any(|issue| issue.text.contains("one GPU")), "{issues:?}");
    let (fixed, issues) = request(r#", "gpu": "h100-sxm""#);
    assert!(fixed.is_some(), "{issues:?}");
}
