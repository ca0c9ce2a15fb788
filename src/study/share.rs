//! Snippets that show a configuration elsewhere.

use super::markdown::plain;
use super::{Block, Document, Row, Span, Study, measured};
use crate::config::link;
use crate::serving::words;

/// How an embedded page may look, and its height in CSS pixels before it says its own.
const VIEWS: [(&str, &str, u32); 3] =
    [("card", "Headline numbers", 290), ("roofline", "The roofline", 680), ("curve", "Over loads", 540)];

pub fn blocks(study: &Study) -> Vec<Block> {
    let fragment = study.link_to(&study.own().scenario);
    let address = format!("{}{fragment}", study.page);
    let title = study.own().setup().map_or_else(|| "Rooflight".into(), words::title);
    let mut blocks = vec![
        Block::spans(vec![
            "The whole configuration is in the link. Nothing of it reaches a server: ".into(),
            Span::link("this configuration", &fragment),
            ".".into(),
        ]),
        Block::code("Link", "", &address),
        Block::code("Markdown", "", format!("[{}]({address})", plain(&title))),
    ];
    let rows = measured::rows(study);
    if !rows.is_empty() {
        let table = Block::table("", &measured::HEAD, rows.into_iter().map(Row::texts).collect());
        let table = Document { blocks: vec![table], ..Document::default() }.to_markdown(&study.page);
        let snippet = format!("[{}]({address})\n\n{}", plain(&title), table.trim());
        blocks.push(Block::code("What was measured, beside what is predicted, as Markdown", "", snippet));
    }
    blocks.push(Block::heading("Live in a page of yours"));
    for (view, name, height) in VIEWS {
        let source = escaped(&format!("{}embed.html?view={view}{fragment}", study.page));
        let snippet = format!(
            "<iframe src=\"{source}\" title=\"{}\" width=\"100%\" height=\"{height}\" style=\"border:0\" loading=\"lazy\" \
             sandbox=\"allow-scripts allow-popups allow-popups-to-escape-sandbox\"></iframe>",
            escaped(&title),
        );
        blocks.push(Block::code(name, "", snippet));
    }
    let link = escaped(fragment.trim_start_matches('#'));
    let element = format!(
        "<script type=\"module\" src=\"{}roof-light.js\"></script>\n<roof-light link=\"{link}\" view=\"card\">{}</roof-light>",
        escaped(&study.page),
        escaped(&title),
    );
    blocks.push(Block::code("As an element, with text for where no script runs", "", element));
    let name = "On the command line, or as JSON from a program";
    blocks.push(Block::code(name, "", format!("predict '{}'", link::encode(&study.own().scenario))));
    blocks
}

/// As the value of an attribute, or text between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}
