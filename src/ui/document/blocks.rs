//! The blocks of a document.

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use web_sys::{Element, Event};

use crate::study::panel::Panel;
use crate::study::{Block, Code, Content, Fact, Plot, Row, Span, Table};
use crate::ui::charts::ChartView;
use crate::ui::copy::Copy;
use crate::ui::inputs::issues::quoted;
use crate::ui::parts::Tick;
use crate::ui::parts::term;
use crate::ui::state::{Finding, State};

/// Ids of the open folds of a document.
#[derive(Clone, Copy)]
pub struct Folds(RwSignal<Vec<String>>);

impl Default for Folds {
    fn default() -> Self {
        Self(RwSignal::new(Vec::new()))
    }
}

impl Folds {
    /// Opens a fold of the document; returns its element id.
    pub fn open(self, fold: &str) -> String {
        let id = format!("fold-{fold}");
        self.set(&id, true);
        id
    }

    fn set(self, id: &str, open: bool) {
        if self.0.with_untracked(|all| all.iter().any(|one| one == id)) != open {
            self.0.update(|all| {
                all.retain(|one| one != id);
                all.extend(open.then(|| id.to_owned()));
            });
        }
    }
}

/// Blocks are re-rendered only if they change.
pub fn blocks(all: Signal<Vec<Block>>, folds: Folds) -> impl IntoView {
    let block = move |index: usize| {
        let block = Memo::new(move |_| all.with(|all| all.get(index).cloned()));
        let is_heading = |block: &Block| matches!(block.content, Content::Heading);
        let below = Memo::new(move |_| all.with(|all| all.iter().take(index).any(is_heading)));
        move || block.get().map(|block| of_block(block, folds, below.get()))
    };
    view! { <For each=move || 0..all.with(Vec::len) key=|index| *index children=block /> }
}

/// `below` a heading of the document, the names of charts and texts are headings of the next level.
fn of_block(block: Block, folds: Folds, below: bool) -> AnyView {
    let Block { id, name, content } = block;
    match content {
        Content::Text(spans) => {
            let spans = spans.into_iter().map(span).collect_view();
            view! { <p data-testid=id>{spans}</p> }.into_any()
        }
        Content::Heading => heading(name, false),
        Content::Table(of) => table(id, name, of),
        Content::Figure(of) => figure(id, name, of, below),
        Content::Code(of) => code(id, name, of, below),
        Content::Facts(of) => facts(id, of),
        Content::Fold(inside) => fold(id, name, inside, folds, below),
    }
}

/// The document itself is below the second level: its region is named there.
fn heading(name: String, below: bool) -> AnyView {
    if below { view! { <h4>{name}</h4> }.into_any() } else { view! { <h3>{name}</h3> }.into_any() }
}

fn span(span: Span) -> AnyView {
    let Span { text, link } = span;
    if link.starts_with('#') {
        return view! { <a href=link>{text}</a> }.into_any();
    }
    if let Some(meaning) = link.strip_prefix("term:") {
        return term(text, meaning.into());
    }
    let class = link.strip_prefix("class:").map(str::to_owned);
    if link.is_empty() || class.is_some() {
        return view! { <span class=class>{quoted(&text)}</span> }.into_any();
    }
    if let Some(plan) = link.strip_prefix("mark:") {
        return mark(text, plan.to_owned());
    }
    if let Some(input) = link.strip_prefix("input:") {
        // `press.js` shows the input.
        return view! { <a href="" class="go" data-field=input.to_owned() on:click=|event| event.prevent_default()>{text}</a> }.into_any();
    }
    // A view of the page.
    let state = State::get();
    let show = move |event: MouseEvent| {
        event.prevent_default();
        let to = link.split_once(':').map_or("", |(_, to)| to);
        let (panel, fold) = to.split_once('/').unwrap_or((to, ""));
        state.show(Panel::from_id(panel), fold);
    };
    view! { <a href="" on:click=show>{text}</a> }.into_any()
}

/// A checkbox that marks a plan for comparison.
fn mark(name: String, plan: String) -> AnyView {
    let state = State::get();
    let (id, own) = (format!("mark-{plan}"), plan.clone());
    let on = Signal::derive(move || state.plans.with(|plans| plans.is_marked(&own)));
    let fixed = Signal::derive(move || state.plans.with(Finding::is_full) && !on.get());
    let changed = Box::new(move || state.plans.update(|plans| plans.toggle(&plan)));
    let text = format!("Compare {name}");
    Tick { id, text, on, fixed, changed }.view()
}

/// The first cell of each row names it.
fn table(id: String, title: String, of: Table) -> AnyView {
    let names = of.head.clone();
    // Sighted readers need no name in this header cell.
    let head = of.head.into_iter().zip(of.help).map(|(name, help)| {
        let name = if name.is_empty() {
            view! { <span class="unseen">"Name"</span> }.into_any()
        } else if help.is_empty() {
            name.into_any()
        } else {
            term(name, help)
        };
        view! { <th scope="col">{name}</th> }
    });
    let head = head.collect_view();
    let row = |Row { cells, own }: Row| {
        let mut cells = cells.into_iter().map(span);
        let name = cells.next().map(|name| view! { <th scope="row">{name}</th> });
        // On a phone the cells of plans stand below one another.
        let cells = cells.enumerate().map(|(index, cell)| {
            let name = names.get(index + 1).cloned();
            view! { <td data-of=name>{cell}</td> }
        });
        let cells = cells.collect_view();
        view! { <tr class:own=own>{name}{cells}</tr> }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=title>
            <table class="numbers" data-testid=id>
                <thead><tr>{head}</tr></thead>
                <tbody>{of.rows.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn figure(id: String, name: String, of: Plot, below: bool) -> AnyView {
    let (chart, words) = (Signal::stored(Some(of.chart)), Signal::stored(of.words));
    view! {
        <div
            class="figure" style=("--height", format!("{}px", of.height))
            style=("--panels", of.panels.to_string())
        >
            {heading(name.clone(), below)}
            <ChartView id=id label=name chart=chart words=words />
        </div>
    }
    .into_any()
}

fn facts(id: String, of: Vec<Fact>) -> AnyView {
    let fact = |Fact { name, value, help }: Fact| {
        view! { <div><dt>{term(name, help)}</dt><dd>{value}</dd></div> }
    };
    view! { <dl class="facts" data-testid=id>{of.into_iter().map(fact).collect_view()}</dl> }.into_any()
}

/// Text to copy, or to save if it is a file.
fn code(id: String, name: String, of: Code, below: bool) -> AnyView {
    let data = String::from(js_sys::encode_uri_component(&of.text));
    let save = (!of.file.is_empty()).then(|| {
        let link = format!("data:text/plain;charset=utf-8,{data}");
        view! { <a class="action" href=link download=of.file data-testid="save">"Save"</a> }
    });
    let text = of.text.clone();
    view! {
        <div class="command">
            {heading(name.clone(), below)}
            {save}
            <Copy id=format!("copy-{id}") label="Copy" refused="Select it" read=move || text.clone() />
        </div>
        <pre class="scroll" tabindex="0" data-testid=id aria-label=name>{of.text}</pre>
    }
    .into_any()
}

/// Closed folds are empty: thousands of rows that few people open would slow the page down.
fn fold(name: String, title: String, blocks: Vec<Block>, folds: Folds, below: bool) -> AnyView {
    let id = format!("fold-{name}");
    let open = folds.0.with(|all| all.contains(&id));
    let own = id.clone();
    let toggle = move |event: Event| {
        folds.set(&own, event_target::<Element>(&event).has_attribute("open"));
    };
    let inside = open.then(|| blocks.into_iter().map(|block| of_block(block, folds, below)).collect_view());
    view! {
        <details id=id data-testid=name prop:open=open on:toggle=toggle>
            <summary>{title}</summary>
            {inside}
        </details>
    }
    .into_any()
}
