//! How certain it is that one configuration beats another, in studies and with regard to limits.
#![cfg(all(feature = "tools", feature = "chart"))]

#[path = "support/learned.rs"]
mod learned;

use learned::learned;
use rooflight::study::{Block, Content, Document, Row, Study, Table, Topic};

const FORM: &str = "v=1&m=qwen3-32b&tp=2&c=32";

fn study(topic: Topic, link: &str) -> Document {
    let mut study = Study::new(topic, "", link, "");
    while study.step(learned).expect("the models answer") {}
    study.document()
}

#[test]
fn an_answer_says_what_it_rests_on() {
    let document = study(Topic::Evidence, FORM);
    let tables: Vec<&Table> = document.blocks.iter().filter_map(Block::as_table).collect();
    let [doubts, nearest] = tables[..] else { panic!("two tables") };
    let share = |row: &Row| {
        let text = row.cells[1].text.split(|letter: char| letter != '.' && !letter.is_ascii_digit());
        text.take(1).collect::<String>().parse::<f64>().expect("a share")
    };
    let all: f64 = doubts.rows.iter().map(share).sum();
    assert!((all - 100.0).abs() < 1.0, "{all} %");
    let is_like = |row: &Row| {
        row.cells[0].text == "like Qwen3-32B, BF16 on H100 SXM" && row.cells[5].text.starts_with("vLLM ")
    };
    assert!(nearest.rows.iter().any(is_like), "{nearest:?}");
    assert!(nearest.rows.iter().all(|row| row.cells[0].link.starts_with("#v=1")));
}

/// What the study says about the configuration compared with the form.
fn ranked(other: &str) -> String {
    let document = study(Topic::Compare, &format!("{FORM}&vs={other}"));
    let text = document.blocks.iter().find(|block| block.id == "ranked");
    let Content::Text(spans) = &text.expect("what is said of the comparison").content else { panic!() };
    spans.iter().map(|span| &*span.text).collect()
}

#[test]
fn clear_differences_are_decided() {
    let said = ranked("v~1~m~qwen3-32b~g~b200~tp~2~c~32");
    let (better, rest) = said.split_once(';').expect("parts");
    assert!(better.starts_with("A against This: better in") && better.contains("TPOT"), "{said}");
    assert!(rest.contains("worse in Cost per M output tokens"), "{said}");
}

#[test]
fn undecided_comparisons_say_what_to_measure() {
    let other = "v~1~m~qwen3-32b~tp~2~c~32~e~trtllm";
    let said = ranked(other);
    assert!(said.contains("too close to call"), "{said}");
    // Which is ahead, too.
    assert!(["that A is better)", "that This is better)"].iter().any(|ahead| said.contains(ahead)), "{said}");
    let document = study(Topic::Compare, &format!("{FORM}&vs={other}"));
    let fold = document.blocks.iter().find_map(|block| match &block.content {
        Content::Fold(inside) => Some((&block.name, inside)),
        _ => None,
    });
    let (name, inside) = fold.expect("the run that settles it");
    assert!(name.starts_with("Measuring ") && name.contains("of the uncertainty in"), "{name}");
    let commands = inside.iter().filter_map(|block| match &block.content {
        Content::Code(code) => Some(&*code.text),
        _ => None,
    });
    let all = commands.collect::<Vec<_>>().join("\n");
    assert!(all.contains("serve") && all.contains("vllm bench serve"), "{all}");
}

#[test]
fn a_sure_answer_is_not_traded_for_an_even_chance() {
    let better = study(Topic::Better, "v=1&m=qwen3-32b&tp=2&r=3&st=1500&sp=30").to_markdown("");
    assert!(!better.contains("even"), "{better}");
}

#[test]
fn a_configuration_does_not_beat_itself() {
    let said = ranked("v~1~m~qwen3-32b~tp~2~c~32");
    assert!(said.starts_with("A against This: too close to call in TTFT (50 %), TPOT (50 %)"), "{said}");
}

/// The first table of changes to the form with these inputs too.
fn changes(more: &str) -> Table {
    let document = study(Topic::Change, &format!("{FORM}&{more}"));
    document.blocks.iter().find_map(Block::as_table).expect("a table of changes").clone()
}

fn column(table: &Table, name: &str) -> usize {
    table.head.iter().position(|head| head == name).expect("the column")
}

/// The same GPU costs nothing either.
#[test]
fn nothing_is_likely_cheaper_than_what_costs_nothing() {
    let table = changes("usd=0");
    for name in ["Cost per M output tokens", "Likely cheaper"] {
        let column = column(&table, name);
        assert!(table.rows.iter().all(|row| row.cells[column].text == "–"), "{name}: {table:?}");
    }
}

#[test]
fn changes_have_chances() {
    let table = changes("st=1000&sp=30");
    let column = |name: &str| column(&table, name);
    let (cheaper, meets) = (column("Likely cheaper"), column("Meets limits"));
    assert!(table.rows.iter().any(|row| row.cells[cheaper].text.ends_with('%')));
    // Pools are not calibrated, and say so.
    let unknown = table.rows.iter().filter(|row| !row.cells[meets].text.contains('%'));
    for row in unknown {
        assert!(
            row.cells[0].text.starts_with("Disaggregated")
                && row.cells[column("Runs on its GPU")].text == "–",
            "{row:?}"
        );
    }
}

#[test]
fn rows_that_do_not_keep_up_come_last_and_are_not_called_cheaper() {
    let document = study(Topic::Change, "v=1&m=qwen3-32b&tp=2&r=8");
    let table = document.blocks.iter().find_map(Block::as_table).expect("a table of changes");
    let is_overloaded = |row: &Row| row.cells[column(table, "Meets limits")].text.contains("overloaded");
    let overloaded: Vec<bool> = table.rows.iter().map(is_overloaded).collect();
    assert!(overloaded.is_sorted() && overloaded.contains(&false) && overloaded.contains(&true), "{table:?}");
    for row in table.rows.iter().filter(|row| is_overloaded(row)) {
        assert_eq!(row.cells[column(table, "Likely cheaper")].text, "–");
        assert!(!row.cells[column(table, "Cost per M output tokens")].text.contains('%'), "{row:?}");
    }
}

/// A setting before another checkpoint, where both cost the same.
#[test]
fn weights_are_not_converted_where_a_setting_gains_as_much() {
    let document = study(Topic::Better, "v=1&m=granite-4.0-h-small&e=sglang&g=h200-sxm&r=8");
    let Content::Text(spans) = &document.blocks[0].content else { panic!("{document:?}") };
    let apply = &spans.last().expect("a link").link;
    assert!(apply.starts_with('#') && !apply.contains("&w="), "{apply}");
}
