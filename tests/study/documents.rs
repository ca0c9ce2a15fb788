//! What every study must contain.

use rooflight::chart::Chart;
use rooflight::study::{Block, Content, Study, Topic};

use super::{LINKS, PAGE, charts, flat, output, spans, study, tables};

#[test]
fn the_gpus_of_both_pools_are_named() {
    let shared = study(Topic::Share, "", "v=1&m=qwen3-32b&tp=2&pw=1&pg=b200&ptp=1").to_markdown(PAGE);
    assert!(
        shared.contains("Qwen3-32B on 1 × B200 for prefill and 2 × H100 SXM for decode with vLLM"),
        "{shared}"
    );
}

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
fn predictions_beside_a_replayed_trace_say_that_they_are_not_of_it() {
    let first = |topic, traced| {
        let document = Study::new(topic, "", LINKS[1], PAGE).beside_trace(traced).page_document();
        document.to_markdown(PAGE).contains("the replayed trace")
    };
    for &topic in Topic::ALL {
        let predicts = !matches!(topic, Topic::Evidence | Topic::Search);
        assert_eq!((first(topic, true), first(topic, false)), (predicts, false), "{topic:?}");
    }
}

#[test]
fn folds_have_unique_ids() {
    for &topic in Topic::ALL {
        let document = study(topic, "", LINKS[1]);
        let mut ids: Vec<&str> = Vec::new();
        for block in flat(&document.blocks) {
            if let Content::Fold(_) = block.content {
                assert!(!ids.contains(&&*block.id), "{} twice in {topic:?}", block.id);
                ids.push(&block.id);
            }
        }
    }
}

#[test]
fn every_linked_configuration_has_an_answer() {
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
fn exports_are_complete_files() {
    let text = |of: &str| match &study(Topic::Export, of, LINKS[1]).blocks[..] {
        [Block { content: Content::Code(code), .. }] => code.text.clone(),
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
    let markdown = text("markdown");
    for part in
        ["| TPOT |", "| Tensor parallel | 2 |", "| Input length | ", "| P99 |", "Predicted by Rooflight"]
    {
        assert!(markdown.contains(part), "{part}: {markdown}");
    }
    assert!(text("citation").starts_with("@misc"));
}

#[test]
fn the_search_opens_a_pasted_link() {
    let pasted = |text: &str| {
        let found = study(Topic::Search, text, "v=1");
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
        assert_eq!(rows[0][0], "meta-llama/Meta-Llama-3.1-8B on 2 × H200 SXM with vLLM", "{text}");
        assert_eq!(link, "#v=1&g=h200-sxm&tp=2&c=64", "{text}");
    }
    let (rows, _) = pasted("v=1&g=nothing");
    assert!(rows[0][1].contains("nothing"), "{rows:?}");
    assert!(pasted("h200").0.len() > 1, "words are words");
}

#[test]
fn no_overloaded_configuration_leads_a_summary() {
    let of = "v=1&m=qwen3-32b&tp=2&r=4&st=500&sp=25";
    let document = study(Topic::Sweep, "gpu", of);
    let table = tables(&document)[0];
    let overloaded = |name: &str| {
        let row = table.rows.iter().find(|row| row.cells[0].text == name).expect(name);
        row.cells.iter().any(|cell| cell.text.contains("overloaded"))
    };
    let bars = charts(&document).into_iter().find_map(|chart| match chart {
        Chart::Bars(bars) => Some(bars.bars),
        _ => None,
    });
    assert!(table.rows.iter().any(|row| overloaded(&row.cells[0].text)), "some GPU is too slow");
    assert!(bars.expect("bars").iter().all(|bar| !overloaded(&bar.name)));
}
