//! Several configurations side by side.

use rooflight::chart::Chart;
use rooflight::config::catalog::catalog;
use rooflight::config::{Field, check, link};
use rooflight::efficiency::Efficiencies;
use rooflight::serving::{finish, plan};
use rooflight::study::{Span, Topic};

use super::{LINKS, PAGE, charts, spans, spans_of, study, tables};

#[test]
fn a_sweep_varies_the_chosen_input() {
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
fn the_curves_are_of_the_stated_load() {
    for (load, said) in
        [("sn=8&tn=2", "16 sessions at once"), ("on=20", "queue of 40"), ("b=4", "batch of 128")]
    {
        let text = study(Topic::Compare, "", &format!("v=1&m=qwen3-8b&{load}")).to_markdown(PAGE);
        assert!(text.contains(said), "{load}: {text}");
    }
}

/// A client that falls behind sends fewer requests, whose times are those of any run.
#[test]
fn times_that_grow_with_an_overload_are_no_numbers() {
    for (more, grows) in [("", true), ("&mc=32", false)] {
        let document = study(Topic::Sweep, "tp", &format!("v=1&m=qwen3-8b&r=1000{more}"));
        let own = tables(&document)[0].rows.iter().find(|row| row.own).unwrap();
        let [meets, ttft] = [1, 2].map(|cell| &*own.cells[cell].text);
        assert_eq!((meets, ttft == "grows"), ("No: overloaded", grows), "{ttft}");
    }
}

#[test]
fn no_point_of_the_frontier_dominates_another() {
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
fn without_a_point_the_reason_is_given() {
    for (link, reason) in [("v=1&g=h100", "h100-pcie, h100-nvl"), ("v=1&osl=1", "a single token")] {
        let document = study(Topic::Tradeoff, "", link);
        assert!(
            spans(&document)
                .iter()
                .any(|span| span.text.contains("No trade-off: ") && span.text.contains(reason)),
            "{link}"
        );
    }
}

#[test]
fn the_comparison_starts_with_a_gpu_that_runs_the_format() {
    for (own, other) in [("b200", "B300"), ("rtx-pro-6000-server", "B200")] {
        let document = study(Topic::Compare, "", &format!("v=1&m=qwen3-32b&g={own}&w=nvfp4&e=trtllm&c=16"));
        let [table] = tables(&document)[..] else { panic!("one table") };
        let row = |name: &str| table.rows.iter().find(|row| row.cells[0].text == name).unwrap();
        assert_eq!(row("GPU").cells[2].text, other);
        assert!(
            row("TPOT").cells[2].text != "–" && table.rows.iter().all(|row| !row.cells[0].text.is_empty())
        );
    }
}

#[test]
fn compared_configurations_can_be_added_swapped_and_removed() {
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
    let swapped = spans(&both).into_iter().find(|span| span.text == "edit").unwrap();
    assert_eq!(link::decode(&swapped.link).0.scenario.gpu, "h200-sxm");
    assert_eq!(link::decode(&swapped.link).0.compared[0].gpu, "h100-sxm");
}

#[test]
fn a_comparison_offers_the_gpus_that_have_room_for_the_model() {
    let offers = |link| {
        let document = study(Topic::Compare, "", link);
        spans(&document).into_iter().map(|span| span.text.clone()).collect::<Vec<_>>()
    };
    let of = |offers: &[String], gpu: &str| offers.iter().any(|name| name == gpu);
    let small = offers("v=1&m=llama-3.1-8b&c=16");
    assert!(["H200 SXM", "MI300X", "L40S"].iter().all(|gpu| of(&small, gpu)), "{small:?}");
    let large = offers("v=1&m=llama-3.1-70b&g=h200-sxm&tp=2&c=16");
    assert!(of(&large, "MI300X") && !of(&large, "L40S"), "{large:?}");
}

#[test]
fn a_comparison_starts_with_another_gpu_and_another_engine() {
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
fn compared_formats_have_their_names_and_a_copy_is_no_suggestion() {
    let document = study(
        Topic::Compare,
        "",
        "v=1&m=llama-3.1-8b&g=h100-sxm&vs=v~1~m~llama-3.1-8b~g~h100-sxm~w~fp8~kv~fp8",
    );
    let [table] = tables(&document)[..] else { panic!("one table") };
    let cells = |name: &str| {
        let row = table.rows.iter().find(|row| row.cells[0].text == name).expect("a row");
        row.cells[1..].iter().map(|cell| cell.text.clone()).collect::<Vec<_>>()
    };
    for field in [Field::Weights, Field::Kv] {
        assert_eq!(cells(field.input().label), ["BF16", "FP8"], "{field:?}");
    }
    let all = spans(&document);
    let at = |text: &str| all.iter().position(|span| span.text.contains(text)).expect("a span");
    let between = &all[at("eep a copy") + 1..at("H200 SXM")];
    assert!(between.iter().any(|span| span.text.contains('.')), "a sentence ends in between: {between:?}");
}

#[test]
fn compared_models_may_have_published_names() {
    let document = study(Topic::Compare, "", "v=1&m=qwen3-8b&vs=m~Qwen%2FQwen3-14B-AWQ");
    let [table] = tables(&document)[..] else { panic!("one table") };
    let row = |name: &str| table.rows.iter().find(|row| row.cells[0].text == name).expect("a row");
    assert_eq!(row("Weights").cells[2].text, "INT4 (W4A16)");
    assert!(row("TPOT").cells[2].text.ends_with("%)"), "{:?}", row("TPOT"));
}

#[test]
fn bars_add_up_to_the_step_time() {
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
fn degrees_that_do_not_fit_are_named_together() {
    let document = study(Topic::Tradeoff, "", "v=1&m=qwen3-235b-a22b&g=h100-sxm&tp=8&w=fp8_block");
    let without = document.blocks.iter().find(|block| block.id == "without").expect("what does not fit");
    let text: String = spans_of(without).into_iter().map(|span| &*span.text).collect();
    assert!(text.starts_with("TP 1 and 2 do not fit."), "{text}");
}
