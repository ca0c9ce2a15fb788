//! A study's result: a document made of a few kinds of blocks, shown by the page and written as Markdown.

use serde::{Deserialize, Serialize};

use super::glossary;
use crate::chart::{Bars, Chart};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Alternative questions; empty if there is only one.
    pub choices: Vec<Choice>,
    pub chosen: String,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    pub id: String,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The page and tests find it by this: unique in a page, or empty.
    pub id: String,
    /// The block's title; empty for texts and facts.
    pub name: String,
    pub content: Content,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Text(Vec<Span>),
    /// Nothing but the block's name.
    Heading,
    Table(Table),
    Figure(Plot),
    Code(Code),
    /// Names and values in a line that wraps.
    Facts(Vec<Fact>),
    /// Initially collapsed.
    Fold(Vec<Block>),
}

/// A piece of text, or the content of a cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    pub text: String,
    /// A configuration's fragment with its `#`; a view of the page, as `view:explain`, or a fold in it, as
    /// `view:explain/ttft`; a form input, as `input:tp`; `mark:` and a fragment for a checkbox that marks that
    /// configuration for comparison; `class:` and a page colour for coloured text; `term:` and the text's meaning; empty for
    /// plain text.
    pub link: String,
}

/// The first cell of each row names it; the others hold numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub head: Vec<String>,
    /// The meaning of each; empty for plain words.
    pub help: Vec<String>,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub cells: Vec<Span>,
    /// The configuration on the form, highlighted.
    pub own: bool,
}

/// A chart, and a summary in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    pub chart: Chart,
    /// Height in CSS pixels, and the number of panels: stacked if they do not fit side by side.
    pub height: u32,
    pub panels: u32,
    pub words: String,
}

/// Text to copy or save.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Code {
    /// The file name to save as; empty for copy only.
    pub file: String,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    pub name: String,
    pub value: String,
    /// The fact's meaning, as a tooltip.
    pub help: String,
}

impl Document {
    /// A document with a single paragraph.
    pub fn saying(text: impl Into<String>) -> Self {
        Self { blocks: vec![Block::text(text)], ..Self::default() }
    }
}

impl Block {
    fn new(name: String, content: Content) -> Self {
        Self { id: String::new(), name, content }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::spans(vec![Span::plain(text)])
    }

    pub fn spans(spans: Vec<Span>) -> Self {
        Self::new(String::new(), Content::Text(spans))
    }

    pub fn heading(text: impl Into<String>) -> Self {
        Self::new(text.into(), Content::Heading)
    }

    pub fn table(
        name: impl Into<String>,
        head: &[&str],
        rows: impl IntoIterator<Item = impl Into<Row>>,
    ) -> Self {
        Self::of_rows(name.into(), head, rows.into_iter().map(Into::into).collect())
    }

    /// What does not depend on the type of row, so that it is compiled once.
    fn of_rows(name: String, head: &[&str], rows: Vec<Row>) -> Self {
        let help = head.iter().map(|name| glossary::meaning(name).into()).collect();
        let head = head.iter().map(|&name| name.into()).collect();
        Self::new(name, Content::Table(Table { head, help, rows }))
    }

    /// A chart as high as its bars need.
    pub fn bars(name: &str, chart: Bars, words: impl Into<String>) -> Self {
        const BAR: u32 = 24;
        const AROUND: u32 = 32;
        let height = AROUND + BAR * chart.bars.len() as u32;
        Self::figure(name, height, Chart::Bars(chart), words)
    }

    pub fn figure(name: impl Into<String>, height: u32, chart: Chart, words: impl Into<String>) -> Self {
        let panels = match &chart {
            Chart::Curves(curves) => curves.panels.len() as u32,
            Chart::Roofline(_) | Chart::Bars(_) => 1,
        };
        Self::new(name.into(), Content::Figure(Plot { chart, height, panels, words: words.into() }))
    }

    pub fn code(name: &str, file: &str, text: impl Into<String>) -> Self {
        Self::new(name.into(), Content::Code(Code { file: file.into(), text: text.into() }))
    }

    pub fn facts(facts: Vec<Fact>) -> Self {
        Self::new(String::new(), Content::Facts(facts))
    }

    pub fn fold(id: impl Into<String>, name: impl Into<String>, blocks: Vec<Self>) -> Self {
        Self::new(name.into(), Content::Fold(blocks)).called(id)
    }

    /// The block with this id.
    #[must_use]
    pub fn called(self, id: impl Into<String>) -> Self {
        Self { id: id.into(), ..self }
    }

    /// The block's table, if it is one.
    pub fn as_table(&self) -> Option<&Table> {
        if let Content::Table(table) = &self.content { Some(table) } else { None }
    }
}

impl Span {
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), link: String::new() }
    }

    /// A text with its meaning, if the glossary has one.
    pub fn term(text: impl Into<String>) -> Self {
        let text = text.into();
        let meaning = glossary::meaning(&text);
        let link = if meaning.is_empty() { String::new() } else { format!("term:{meaning}") };
        Self { text, link }
    }

    /// `link` is a fragment with its `#`.
    pub fn link(text: impl Into<String>, link: impl Into<String>) -> Self {
        Self { text: text.into(), link: link.into() }
    }
}

impl Fact {
    pub fn new(name: &str, value: impl Into<String>, help: &str) -> Self {
        Self { name: name.into(), value: value.into(), help: help.into() }
    }
}

impl<T: Into<String>> From<T> for Span {
    fn from(text: T) -> Self {
        Self::plain(text)
    }
}

impl Row {
    pub fn new(cells: Vec<Span>) -> Self {
        Self { cells, own: false }
    }

    pub fn texts(cells: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(cells.into_iter().map(Span::plain).collect())
    }
}

impl From<Vec<Span>> for Row {
    fn from(cells: Vec<Span>) -> Self {
        Self::new(cells)
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for Row {
    fn from(cells: [T; N]) -> Self {
        Self::texts(cells)
    }
}

/// A name and its value.
impl From<(&str, String)> for Row {
    fn from((name, value): (&str, String)) -> Self {
        Self::texts([name.to_owned(), value])
    }
}
