//! Documents as Markdown, for the command line and for export.

use super::document::{Block, Content, Document, Fact, Span, Table};

impl Document {
    /// As Markdown with links relative to `page`, the page's address without a fragment. Charts become their
    /// summaries.
    pub fn to_markdown(&self, page: &str) -> String {
        let mut text = String::new();
        blocks(&mut text, &self.blocks, page);
        text.trim_start().to_owned()
    }
}

fn blocks(text: &mut String, all: &[Block], page: &str) {
    for block in all {
        let name = plain(&block.name);
        let written = match &block.content {
            Content::Text(spans) => spans.iter().map(|each| span(each, page)).collect::<String>(),
            Content::Heading => format!("## {name}"),
            Content::Table(all) => table(all, page),
            Content::Figure(figure) => format!("*{name}*: {}", plain(&figure.words)),
            Content::Code(code) => format!("{name}:\n\n{}", fenced(&code.text)),
            Content::Facts(facts) => facts.iter().map(fact).collect::<Vec<_>>().join("\n"),
            Content::Fold(inside) => {
                *text += &format!("\n### {name}\n");
                blocks(text, inside, page);
                continue;
            }
        };
        *text += &format!("\n{written}\n");
    }
}

fn fact(fact: &Fact) -> String {
    format!("* {}: {}", plain(&fact.name), plain(&fact.value))
}

/// Without the columns of boxes that only the page has.
fn table(table: &Table, page: &str) -> String {
    let is_box = |at: usize| {
        let cells = table.rows.iter().filter_map(|row| row.cells.get(at));
        cells.clone().count() > 0 && cells.into_iter().all(|cell| cell.link.starts_with("mark:"))
    };
    let line = |cells: &mut dyn Iterator<Item = String>| {
        let shown = cells.enumerate().filter(|(at, _)| !is_box(*at)).map(|(_, cell)| cell);
        format!("| {} |", shown.collect::<Vec<_>>().join(" | "))
    };
    let head = line(&mut table.head.iter().map(|name| plain(name)));
    let aligned = |at: usize| if at == 0 { "---" } else { "---:" };
    let marks = line(&mut (0..table.head.len()).map(|at| aligned(at).to_owned()));
    let rows = table.rows.iter().map(|row| line(&mut row.cells.iter().map(|cell| span(cell, page))));
    [head, marks].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

fn span(span: &Span, page: &str) -> String {
    let is_address = span.text.starts_with("http") && span.text.contains("://");
    let text = match is_address && !span.text.contains([' ', '<', '>']) {
        true => format!("<{}>", span.text),
        false => plain(&span.text),
    };
    if !span.link.starts_with('#') { text } else { format!("[{text}]({page}{})", span.link) }
}

/// Escapes text for Markdown: model names come from third-party files.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' => plain.extend(['\\', letter]),
            '\n' | '\r' => plain.push(' '),
            _ => plain.push(letter),
        }
    }
    plain
}

/// A fence longer than any run of backticks inside.
fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::super::document::Row;
    use super::*;

    #[test]
    fn text_is_escaped() {
        let row = Row::new(vec![Span::link("a|b", "#v=1"), "<i>*".into()]);
        let blocks = vec![
            Block::table("", &["Name", "x_y"], vec![row]),
            Block::text("https://example.org/#v=1&w=fp8_block"),
            Block::code("Run", "", "a\n```\nb"),
        ];
        let text = Document { blocks, ..Document::default() }.to_markdown("https://example.org/");
        let wanted = "| Name | x\\_y |\n| --- | ---: |\n| [a\\|b](https://example.org/#v=1) | \\<i\\>\\* |\n\n\
                      <https://example.org/#v=1&w=fp8_block>\n\nRun:\n\n````\na\n```\nb\n````\n";
        assert_eq!(text, wanted);
    }
}
