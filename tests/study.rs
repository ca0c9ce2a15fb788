//! Studies: every topic has something true to say about every kind of configuration.
#![cfg(feature = "chart")]

use std::rc::Rc;

use rooflight::chart::Chart;
use rooflight::config::catalog::catalog;
use rooflight::config::{Field, Issue, check, link};
use rooflight::efficiency::{Efficiencies, Manifest};
use rooflight::serving::{Report, finish, plan};
use rooflight::study::accuracy::Accuracy;
use rooflight::study::{Block, Document, Span, Study, Table, Topic};

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
        if let Block::Fold(fold) = block {
            all.extend(flat(&fold.blocks));
        }
    }
    all
}

fn tables(document: &Document) -> Vec<&Table> {
    fn table(block: &Block) -> Option<&Table> {
        if let Block::Table(table) = block { Some(table) } else { None }
    }
    flat(&document.blocks).into_iter().filter_map(table).collect()
}

fn spans(document: &Document) -> Vec<&Span> {
    fn of(block: &Block) -> Vec<&Span> {
        match block {
            Block::Text(text) => text.spans.iter().collect(),
            Block::Table(table) => table.rows.iter().flat_map(|row| &row.cells).collect(),
            _ => Vec::new(),
        }
    }
    flat(&document.blocks).into_iter().flat_map(of).collect()
}

fn charts(document: &Document) -> Vec<Chart> {
    let mut charts = Vec::new();
    for block in flat(&document.blocks) {
        if let Block::Figure(figure) = block {
            assert!(!figure.words.is_empty(), "{} has no words", figure.name);
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

#[test]
fn every_topic_answers_every_configuration() {
    for link in LINKS {
        for &topic in Topic::ALL {
            let document = study(topic, "", link);
            assert!(!document.blocks.is_empty(), "{topic:?} of {link}");
            for table in tables(&document) {
                for row in table.rows.iter().filter(|row| row.cells.len() > 2) {
                    assert_eq!(row.cells.len(), table.head.len(), "{topic:?} of {link}: {row:?}");
                }
            }
            charts(&document);
            let text = document.to_markdown(PAGE);
            assert!(!text.contains("NaN") && !text.contains("inf "), "{topic:?} of {link}: {text}");
        }
    }
}

#[test]
fn folds_have_ids_of_their_own() {
    for &topic in Topic::ALL {
        let document = study(topic, "", LINKS[1]);
        let mut ids: Vec<&str> = Vec::new();
        for block in flat(&document.blocks) {
            if let Block::Fold(fold) = block {
                assert!(!ids.contains(&&*fold.id), "{} twice in {topic:?}", fold.id);
                ids.push(&fold.id);
            }
        }
    }
}

#[test]
fn every_link_opens_what_it_says() {
    for topic in [Topic::Change, Topic::Sweep, Topic::Tradeoff] {
        let document = study(topic, "", LINKS[1]);
        let table = tables(&document)[0];
        assert!(table.rows.len() > 5, "{topic:?}");
        for row in &table.rows {
            let output = output(&row.cells[0].link);
            assert!(output.is_some(), "{topic:?}: {} has no answer", row.cells[0].link);
        }
    }
}

#[test]
fn plans_are_links_with_their_reasons_and_what_was_simulated() {
    let link = "v=1&isl=512&osl=64&np=100&r=8&sp=30&f=gpu~l40s,h100-sxm~engine~vllm~weights~bf16,fp8";
    let document = study(Topic::Plans, "", link);
    let table = tables(&document)[0];
    assert!(table.rows.len() > 1 && table.rows.iter().all(|row| output(&row.cells[0].link).is_some()));
    assert!(
        table.rows.iter().all(|row| row.cells.last().is_some_and(|mark| mark.link.starts_with("mark:v=1")))
    );
    let folds: Vec<&str> = flat(&document.blocks)
        .into_iter()
        .filter_map(|block| if let Block::Fold(fold) = block { Some(fold.name.as_str()) } else { None })
        .collect();
    assert!(folds[1].starts_with("2. ") && folds[1].contains(": costs"), "{folds:?}");
    assert_eq!(charts(&document).len(), 2);
    // The choices of the link are gone from those of the plans.
    assert!(!table.rows[0].cells[0].link.contains("&f="));
}

#[test]
fn what_is_asked_of_plans_is_checked_beside_its_field() {
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
fn a_change_says_what_it_does() {
    let document = study(Topic::Change, "", LINKS[1]);
    let base = output(LINKS[1]).unwrap();
    for row in tables(&document).iter().flat_map(|table| &table.rows) {
        let said = &row.cells[4].text;
        let change = (output(&row.cells[0].link).unwrap() / base - 1.0) * 100.0;
        let sign = match change.round() {
            0.0 => "",
            rounded if rounded > 0.0 => "+",
            _ => "−",
        };
        let wanted = format!("({sign}{:.0} %)", change.abs());
        assert!(said.ends_with(&wanted), "{}: {said} is not {wanted}", row.cells[0].text);
    }
}

#[test]
fn what_is_better_is_cheaper_and_keeps_to_the_limits() {
    let cost = |link: &str| {
        let report = report(link).unwrap();
        (report.headline.unwrap().dollars_per_million.unwrap().0, report.run.unwrap().keeps())
    };
    let link = "v=1&m=llama-3.3-70b-instruct&tp=8&r=2&st=2000&sp=60";
    let document = study(Topic::Better, "", link);
    let Block::Text(text) = &document.blocks[0] else { panic!("{document:?}") };
    assert_eq!(text.id, "better");
    let apply = text.spans.iter().find(|span| span.text == "Apply").unwrap();
    let ((now, _), (then, keeps)) = (cost(link), cost(apply.link.trim_start_matches('#')));
    assert!(then < now * 0.95 && keeps == Some(true), "{then} after {now}");
    let nothing = study(Topic::Better, "", "v=1&m=llama-3.3-70b-instruct&g=l4&st=1&sp=1");
    assert!(matches!(&nothing.blocks[0], Block::Text(text) if text.id.is_empty()), "{nothing:?}");
}

#[test]
fn changes_that_only_make_things_worse_are_left_out() {
    let document = study(Topic::Change, "", LINKS[1]);
    let (of, base) =
        (|link: &str| report(link).unwrap().headline.unwrap(), report(LINKS[1]).unwrap().headline.unwrap());
    for row in tables(&document).iter().flat_map(|table| &table.rows) {
        let then = of(row.cells[0].link.trim_start_matches('#'));
        assert!(then.ttft.0 <= base.ttft.0 * 3.0, "{}", row.cells[0].text);
    }
}

#[test]
fn what_does_not_fit_is_mended_by_a_click() {
    for link in [LINKS[4], LINKS[5]] {
        assert_eq!(output(link), None);
        let document = study(Topic::Change, "", link);
        let offers: Vec<&Span> = spans(&document).into_iter().filter(|span| !span.link.is_empty()).collect();
        assert!(output(&offers[0].link).is_some(), "{link}: {:?}", offers[0]);
    }
}

#[test]
fn a_sweep_goes_along_what_is_chosen() {
    for of in ["load", "isl", "osl", "tp", "gpu", "engine", "weights", "token_budget", "max_seqs"] {
        let document = study(Topic::Sweep, of, LINKS[1]);
        assert_eq!(document.chosen, of);
        let table = tables(&document)[0];
        assert_eq!(table.rows.iter().filter(|row| row.own).count(), 1, "{of}");
        let mut names: Vec<&str> = table.rows.iter().map(|row| &*row.cells[0].text).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert!(all > 1 && names.len() == all, "{of}: {names:?}");
    }
    assert_eq!(study(Topic::Sweep, "nonsense", LINKS[0]).chosen, "load");
}

#[test]
fn nothing_on_the_frontier_is_beaten() {
    let document = study(Topic::Tradeoff, "", LINKS[1]);
    let number =
        |span: &Span| -> f64 { span.text.trim_end_matches(" tok/s").replace(' ', "").parse().unwrap() };
    let points: Vec<(f64, f64)> =
        tables(&document)[0].rows.iter().map(|row| (number(&row.cells[2]), number(&row.cells[3]))).collect();
    assert!(points.len() > 2);
    for pair in points.windows(2) {
        assert!(pair[0].0 <= pair[1].0 && pair[0].1 >= pair[1].1, "{points:?}");
    }
}

#[test]
fn configurations_stand_beside_each_other() {
    let alone = study(Topic::Compare, "", LINKS[1]);
    let offer = spans(&alone).into_iter().find(|span| span.text == "H200 SXM").unwrap();
    let both = study(Topic::Compare, "", &offer.link);
    let [table] = tables(&both)[..] else { panic!("one table") };
    assert_eq!(
        table.rows[0].cells.iter().map(|cell| &*cell.text).collect::<Vec<_>>(),
        ["GPU", "H100 SXM", "H200 SXM"]
    );
    assert_eq!(table.head, ["", "This", "A"]);
    assert!(table.rows.iter().any(|row| row.cells[0].text == "TPOT" && row.cells[1] != row.cells[2]));
    let removed = spans(&both).into_iter().find(|span| span.text == "remove").unwrap();
    assert_eq!(link::decode(&removed.link).0, link::decode(LINKS[1]).0);
    let swapped = spans(&both).into_iter().find(|span| span.text == "to the form").unwrap();
    assert_eq!(link::decode(&swapped.link).0.scenario.gpu, "h200-sxm");
    assert_eq!(link::decode(&swapped.link).0.compared[0].gpu, "h100-sxm");
}

#[test]
fn a_comparison_begins_with_another_gpu_and_another_engine() {
    let document = study(Topic::Compare, "", LINKS[1]);
    let [table] = tables(&document)[..] else { panic!("one table") };
    assert_eq!(table.head, ["", "This", "A", "B"]);
    let row = |name: &str| table.rows.iter().find(|row| row.cells[0].text == name).expect("a row");
    let [gpu, engine] = [row("GPU"), row("Engine")];
    assert!(gpu.cells[1] != gpu.cells[2] && gpu.cells[1] == gpu.cells[3], "{gpu:?}");
    assert!(engine.cells[1] == engine.cells[2] && engine.cells[1] != engine.cells[3], "{engine:?}");
    assert!(row("TPOT").cells[2].text.ends_with("%)"), "differences, not numbers alone");
    let removed = spans(&document).into_iter().find(|span| span.text == "remove").expect("a link");
    assert_eq!(link::decode(&removed.link).0.compared.len(), 1);
}

#[test]
fn measured_runs_stand_on_the_curves_of_their_configuration() {
    let accuracy = accuracy();
    let point = accuracy.points.iter().find(|point| point.kind == "loop" && point.clients == 64);
    let point = point.expect("a measured loop");
    for topic in [Topic::Compare, Topic::Sweep] {
        let document = study(topic, "", &point.link);
        let Some(Chart::Curves(curves)) = charts(&document).into_iter().next() else { panic!("curves") };
        let measured = |panel: usize| curves.panels[panel].lines.iter().find(|line| line.name == "measured");
        for (panel, ms) in point.measured.iter().take(2).enumerate() {
            let dots = measured(panel).expect("measured runs");
            let own = dots
                .points()
                .any(|(at, time)| at == f64::from(point.clients) && (time - ms * 1e-3).abs() < 1e-9);
            assert!(own, "{topic:?}: {dots:?} without {ms} ms at {}", point.clients);
        }
    }
    // Token budgets are not what measured runs differ in here.
    let document = study(Topic::Sweep, "token_budget", &point.link);
    let Some(Chart::Curves(curves)) = charts(&document).into_iter().next() else { panic!("curves") };
    assert!(curves.panels.iter().all(|panel| panel.lines.len() == 1), "{curves:?}");
}

#[test]
fn bars_add_up_to_the_step() {
    let document = study(Topic::Breakdown, "", LINKS[1]);
    let (plan, _) = plan(&check(&link::decode(LINKS[1]).0.scenario, catalog()).0.unwrap()).unwrap();
    let passes = finish(&plan, &Efficiencies::Roofline).unwrap().passes;
    let charts = charts(&document);
    for (index, pass) in passes.iter().enumerate() {
        let sums: Vec<f64> = charts[2 * index..2 * index + 2]
            .iter()
            .map(|chart| match chart {
                Chart::Bars(bars) => bars.bars.iter().map(rooflight::chart::Bar::sum).sum(),
                _ => panic!("bars"),
            })
            .collect();
        assert!((sums[0] / pass.time.0 - 1.0).abs() < 1e-6, "{sums:?} of {:?}", pass.time);
        assert!((sums[1] / (pass.time - pass.host).0 - 1.0).abs() < 1e-6, "{sums:?} of {:?}", pass.time);
    }
}

#[test]
fn exports_are_whole_files() {
    let text = |of: &str| match &study(Topic::Export, of, LINKS[1]).blocks[..] {
        [Block::Code(code)] => code.text.clone(),
        other => panic!("{other:?}"),
    };
    let json: serde_json::Value = serde_json::from_str(&text("json")).unwrap();
    assert_eq!(json["scenario"]["tp"], 2);
    assert!(json["report"]["headline"]["tpot"].is_number(), "{json}");
    let csv = text("csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(reader.records().filter(|row| row.as_ref().unwrap().len() == 14).count(), {
        let passes = json["report"]["passes"].as_array().unwrap();
        passes.iter().map(|pass| pass["kernels"].as_array().unwrap().len()).sum::<usize>()
    });
    assert!(text("markdown").contains("| TPOT |") && text("citation").starts_with("@misc"));
}

#[test]
fn a_measurement_stands_beside_the_prediction() {
    let explained = study(Topic::Explain, "", MEASURED);
    let table = tables(&explained)[0];
    let cells: Vec<Vec<&str>> =
        table.rows.iter().map(|row| row.cells.iter().map(|cell| &*cell.text).collect()).collect();
    let names: Vec<&str> = cells.iter().map(|row| row[0]).collect();
    assert_eq!(names, ["TTFT", "TPOT", "Output"]);
    let measured = |row: usize| (cells[row][2].replace('\u{a0}', " "), cells[row][4].replace('\u{a0}', " "));
    assert_eq!(measured(0), ("50.0 ms".into(), "45.0 ms".into()));
    assert_eq!(measured(1), ("8.00 ms".into(), "8.00 ms".into()));
    assert_eq!(measured(2), ("1000 tok/s".into(), "–".into()));
    // Faster than measured, as nothing learned takes part here.
    assert!(cells[1][3].starts_with('−') && cells[2][3].starts_with('+'), "{cells:?}");

    let export = |of: &str| match &study(Topic::Export, of, MEASURED).blocks[..] {
        [.., Block::Code(code)] => code.text.clone(),
        other => panic!("{other:?}"),
    };
    let json: serde_json::Value = serde_json::from_str(&export("json")).unwrap();
    assert_eq!(json["scenario"]["measured"]["mean_ttft_ms"], 50.0);
    let (beside, headline) = (&json["measured"][0], &json["report"]["headline"]);
    assert_eq!((&beside["name"], &beside["predicted"]), (&"ttft".into(), &headline["ttft"]));
    assert_eq!((&beside["measured"], &beside["median"]), (&0.05.into(), &0.045.into()));
    let csv = export("csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!((rows.len(), &rows[2][0], &rows[2][2], &rows[2][3]), (3, "throughput", "1e3", ""));
    assert!(export("markdown").contains("| TTFT |"));
    let shared = study(Topic::Share, "", MEASURED).to_markdown(PAGE);
    assert!(
        shared.contains("me=ttft-50-45,tpot--8,throughput-1000") && shared.contains("| TPOT |"),
        "{shared}"
    );
}

/// The report that ships was made with the models that ship; `scripts/evidence.mjs` compares its predictions.
#[test]
fn the_evidence_is_of_these_models() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/models/manifest.json");
    let manifest = Manifest::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let accuracy = accuracy();
    assert_eq!(accuracy.release, manifest.release);
    let of = |family: &str| accuracy.models.iter().find(|weights| weights.family == family);
    assert_eq!(accuracy.models.len(), manifest.families.len());
    for (family, record) in &manifest.families {
        assert_eq!(of(family.id()).map(|weights| &weights.sha256), Some(&record.sha256), "{}", family.id());
    }
}

#[test]
fn every_measured_case_opens() {
    let accuracy = accuracy();
    assert!(accuracy.points.len() > 1600);
    for point in &accuracy.points {
        let (link, issues) = link::decode(&point.link);
        assert_eq!(issues, [], "{}", point.id);
        let (setup, issues) = check(&link.scenario, catalog());
        assert!(setup.is_some(), "{}: {issues:?}", point.id);
        assert_eq!(point.predicted.len(), point.measured.len());
    }
    for of in ["this", "loops", "ranks", "batches", "kernels", "cases", "limits"] {
        let document = study(Topic::Evidence, of, LINKS[0]);
        assert_eq!(document.chosen, of);
        assert!(!document.to_markdown("").contains("NaN"), "{of}");
    }
}

#[test]
fn a_link_pasted_into_the_search_is_what_it_finds() {
    let pasted = |text: &str| {
        let found = study(Topic::Find, text, "v=1");
        let rows: Vec<Vec<String>> = tables(&found)
            .first()
            .map(|table| {
                table
                    .rows
                    .iter()
                    .map(|row| row.cells.iter().map(|cell| cell.text.clone()).collect())
                    .collect()
            })
            .unwrap_or_default();
        (rows, spans(&found).first().map(|span| span.link.clone()).unwrap_or_default())
    };
    let address = "https://example.org/rooflight/#v=1&g=h200-sxm&tp=2&c=64";
    for text in [
        address,
        "v=1&g=h200-sxm&tp=2&c=64",
        " #v=1&g=h200-sxm&tp=2&c=64 ",
        "https://a.b/?v=1&g=h200-sxm&tp=2&c=64",
    ] {
        let (rows, link) = pasted(text);
        assert_eq!(rows.len(), 1, "{text}");
        assert_eq!(rows[0][0], "meta-llama/Meta-Llama-3.1-8B on 2 x H200 SXM with vLLM", "{text}");
        assert_eq!(link, "#v=1&g=h200-sxm&tp=2&c=64", "{text}");
    }
    let (rows, _) = pasted("v=1&g=nothing");
    assert!(rows[0][1].contains("nothing"), "{rows:?}");
    assert!(pasted("h200").0.len() > 1, "words are words");
}
