//! Measured runs beside predictions, and the evidence that ships.

use rooflight::chart::Chart;
use rooflight::config::catalog::catalog;
use rooflight::config::{check, link};
use rooflight::efficiency::Manifest;
use rooflight::study::accuracy::CaseKind;
use rooflight::study::{Block, Content, Topic};

use super::{LINKS, MEASURED, PAGE, accuracy, charts, study, tables};

#[test]
fn measured_runs_are_drawn_on_the_curves_of_their_configuration() {
    let accuracy = accuracy();
    let point =
        accuracy.points.iter().find(|point| point.kind == CaseKind::Loop && point.clients == Some(64));
    let point = point.expect("a measured loop");
    for topic in [Topic::Compare, Topic::Sweep] {
        let document = study(topic, "", &point.link);
        let Some(Chart::Curves(curves)) = charts(&document).into_iter().next() else { panic!("curves") };
        let measured = |panel: usize| curves.panels[panel].lines.iter().find(|line| line.name == "measured");
        for (panel, ms) in point.measured.iter().flatten().take(2).enumerate() {
            let dots = measured(panel).expect("measured runs");
            let own = dots.points().any(|(at, time)| at == 64.0 && (time - ms * 1e-3).abs() < 1e-9);
            assert!(own, "{topic:?}: {dots:?} without {ms} ms");
        }
    }
    // The measured runs here do not differ in token budgets.
    let document = study(Topic::Sweep, "token_budget", &point.link);
    let Some(Chart::Curves(curves)) = charts(&document).into_iter().next() else { panic!("curves") };
    assert!(curves.panels.iter().all(|panel| panel.lines.len() == 1), "{curves:?}");
}

#[test]
fn measurements_are_shown_beside_the_prediction() {
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
        [.., Block { content: Content::Code(code), .. }] => code.text.clone(),
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

#[test]
fn what_leaves_the_page_keeps_the_visitors_runs() {
    let link = "v=1&m=qwen3-32b&tp=2&run=m~qwen3-32b~tp~2~c~8~me~ttft-500,tpot-25";
    let run = "run=v~1~m~qwen3-32b~tp~2~c~8~me~ttft-500";
    for (topic, file) in [(Topic::Share, "predict 'v=1"), (Topic::Export, "\"link\": \"v=1")] {
        let text = study(topic, "", link).to_markdown(PAGE).replace("%7E", "~");
        let line = text.lines().find(|line| line.contains(file)).expect("the link");
        assert!(line.contains(run), "{line}");
    }
}

/// The report that ships was made with the models that ship; `scripts/evidence.mjs` compares its predictions.
#[test]
fn the_evidence_matches_the_shipped_models() {
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
fn every_measured_case_has_a_valid_link() {
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
