//! Snippets that show a configuration elsewhere.

use super::markdown::plain;
use super::{Block, Document, Span, Study, against_measured};
use crate::study::words;
use crate::units::escaped;

/// Embeddable views, and their height in CSS pixels before they report their own, as in docs/embedding.md.
const EMBEDDED: [(&str, &str, u32); 3] =
    [("card", "Headline numbers", 440), ("roofline", "Roofline", 740), ("curve", "Latency by load", 590)];

pub fn blocks(study: &Study) -> Vec<Block> {
    let fragment = study.link_to(&study.own().scenario);
    let address = study.address();
    let title = study.own().setup().map_or_else(|| "Rooflight".into(), words::title);
    let markdown = format!("[{}]({address})", plain(&title));
    let mut blocks = vec![
        Block::spans(vec![
            Span::link("The link", &fragment),
            " holds the whole configuration. Browsers never send the part after # to a server.".into(),
        ]),
        Block::code("Link", "", &address),
        Block::code("Markdown", "", &markdown),
    ];
    if let Some(table) = against_measured::table(study) {
        let table = Document { blocks: vec![table], ..Document::default() }.to_markdown(&study.page);
        let snippet = format!("{markdown}\n\n{}", table.trim());
        blocks.push(Block::code("Measured and predicted, as Markdown", "", snippet));
    }
    blocks.push(Block::heading("Embed it in a page"));
    let title = escaped(&title);
    for (view, name, height) in EMBEDDED {
        let source = escaped(&format!("{}embed.html?view={view}{fragment}", study.page));
        let snippet = format!(
            "<iframe src=\"{source}\" title=\"{title}\" width=\"100%\" height=\"{height}\" style=\"border:0\" loading=\"lazy\" \
             sandbox=\"allow-scripts allow-popups allow-popups-to-escape-sandbox\"></iframe>",
        );
        blocks.push(Block::code(name, "", snippet));
    }
    let link = escaped(fragment.trim_start_matches('#'));
    let element = format!(
        "<script type=\"module\" src=\"{}roof-light.js\"></script>\n<roof-light link=\"{link}\" view=\"card\">{title}</roof-light>",
        escaped(&study.page),
    );
    blocks.push(Block::code("Custom element, with fallback text", "", element));
    let command = format!("predict '{}'", study.predicted());
    blocks.push(Block::code("Command line", "", command));
    blocks
}
