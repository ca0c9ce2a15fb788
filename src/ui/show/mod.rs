//! Documents as elements of the page.

mod figure;
mod history;
mod kept;
mod search;

use std::cell::RefCell;

use gloo::events::{EventListener, EventListenerOptions};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CustomEvent, CustomEventInit, Element, Event, HtmlElement, window};

use crate::study::{Block, Choice, Code, Document, Facts, Fold, Row, Span, Table};
use crate::ui::canvas::element::{append, button, called, new, put, with};
use crate::ui::clipboard::copy as take;
use crate::ui::state::State;
use figure::Figures;
use kept::Kept;

/// Told of the choice made, by an event that bubbles up from the document.
const CHOSE: &str = "rooflight:choose";

/// What stands in an element, as long as it does.
struct Shown {
    root: HtmlElement,
    _figures: Figures,
    /// Of its buttons and choices.
    _listeners: Vec<EventListener>,
}

thread_local! {
    static SHOWN: RefCell<Vec<Shown>> = const { RefCell::new(Vec::new()) };
}

/// A document being built.
#[derive(Default)]
struct Builder {
    listeners: Vec<EventListener>,
    figures: Figures,
    /// Folds that stand open.
    open: Vec<String>,
}

/// Adds to the page, once: search, undo and redo, with their keys. Inside another
/// page the past is that page's, and views of one panel have nothing to search.
pub fn install(state: State) {
    let Some(window) = window() else { return };
    kept::install(&window);
    let root = window.document().and_then(|document| document.document_element());
    let view = root.and_then(|root| root.get_attribute("data-view"));
    if view.is_none() {
        history::install(&window, state);
    }
    if view.is_none_or(|view| view == "full") {
        search::install();
    }
}

/// Whether the event is a key of a text being written.
fn is_writing(event: &Event) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    target.is_some_and(|target| {
        matches!(target.closest("input:not([type=radio]):not([type=range]), textarea, select"), Ok(Some(_)))
    })
}

/// Puts `document` into the element with this id, in place of what is there, once nothing of that is being pressed. What
/// a visitor held of it is [`Kept`]; the fold that is `sought` opens and comes into view.
pub fn show(id: &str, document: Document, dark: bool, sought: String) {
    let root = window().and_then(|window| window.document()?.get_element_by_id(id)?.dyn_into().ok());
    if let Some(root) = root {
        show_in(root, document, dark, sought);
    }
}

fn show_in(root: HtmlElement, document: Document, dark: bool, sought: String) {
    if kept::is_pressed(&root) {
        return kept::when_lifted(move || show_in(root, document, dark, sought));
    }
    let kept = Kept::of(&root);
    let mut builder = Builder { open: kept.open.clone(), ..Builder::default() };
    if !sought.is_empty() {
        builder.open.push(format!("fold-{sought}"));
    }
    let fresh = new("div", "document");
    builder.choices(&fresh, &document);
    builder.blocks(&fresh, &document.blocks);
    builder.listen(&fresh, "click", |event| {
        if tell(event, "data-choose") {
            event.prevent_default();
        }
    });
    root.set_text_content(None);
    // What the document answers: the search takes no finding of other words.
    let _ = root.set_attribute("data-chosen", &document.chosen);
    append(&root, &fresh);
    builder.figures.start(dark);
    let _ = root.set_attribute("data-drawn", "");
    SHOWN.with_borrow_mut(|all| {
        all.retain(|shown| !shown.root.is_same_node(Some(&root)));
        all.push(Shown { root: root.clone(), _figures: builder.figures, _listeners: builder.listeners });
    });
    kept.restore(&root);
    if !sought.is_empty() {
        bring_into_view(&root, &sought);
    }
}

/// Tells of the choice that the attribute of the event's target names. Whether there is one.
fn tell(event: &Event, attribute: &str) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let Some((target, chosen)) =
        target.and_then(|target| Some((target.clone(), target.get_attribute(attribute)?)))
    else {
        return false;
    };
    let init = CustomEventInit::new();
    init.set_bubbles(true);
    init.set_detail(&JsValue::from_str(&chosen));
    if let Ok(chose) = CustomEvent::new_with_event_init_dict(CHOSE, &init) {
        let _ = target.dispatch_event(&chose);
    }
    true
}

fn bring_into_view(root: &Element, fold: &str) {
    let Ok(Some(fold)) = root.query_selector(&format!("#fold-{fold}")) else { return };
    fold.scroll_into_view();
    if let Some(summary) = fold.first_element_child().and_then(|child| child.dyn_into::<HtmlElement>().ok()) {
        // An element that takes no focus stays without.
        let _ = summary.focus();
    }
}

impl Builder {
    fn listen(&mut self, to: &Element, event: &'static str, hear: impl FnMut(&Event) + 'static) {
        // Some must be able to keep what they are told of.
        let options = EventListenerOptions::enable_prevent_default();
        self.listeners.push(EventListener::new_with_options(to, event, options, hear));
    }

    /// A row of radio buttons.
    fn choices(&mut self, into: &Element, document: &Document) {
        if document.choices.is_empty() {
            return;
        }
        let group =
            with(new("div", "segments wraps"), &[("role", "radiogroup"), ("aria-label", "What of it")]);
        for Choice { id, name } in &document.choices {
            let of = format!("of-{id}");
            let input = with(
                new("input", ""),
                &[("type", "radio"), ("name", "of"), ("id", &of), ("data-testid", &of), ("value", id)],
            );
            if *id == document.chosen {
                with(input.clone(), &[("checked", "")]);
            }
            self.listen(&input, "change", |event| {
                tell(event, "value");
            });
            append(&group, &input);
            append(&group, &with(put(new("label", ""), name), &[("for", &of)]));
        }
        append(into, &group);
    }

    fn blocks(&mut self, into: &Element, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Text(text) => {
                    let line = called(new("p", ""), &text.id);
                    text.spans.iter().for_each(|each| append(&line, &span(each)));
                    append(into, &line);
                }
                Block::Heading(heading) => append(into, &put(new("h2", ""), &heading.text)),
                Block::Table(of) => append(into, &table(of)),
                Block::Figure(of) => append(into, &self.figures.add(of)),
                Block::Code(of) => self.code(into, of),
                Block::Facts(of) => append(into, &facts(of)),
                Block::Fold(of) => self.fold(into, of),
            }
        }
    }

    fn fold(&mut self, into: &Element, fold: &Fold) {
        let id = format!("fold-{}", fold.id);
        let details = with(new("details", ""), &[("id", &id), ("data-testid", &fold.id)]);
        if self.open.contains(&id) {
            with(details.clone(), &[("open", "")]);
        }
        append(&details, &put(new("summary", ""), &fold.name));
        if self.open.contains(&id) || !fold.blocks.iter().all(is_still) {
            self.blocks(&details, &fold.blocks);
        } else {
            // Thousands of rows in closed folds would hold the page up for what few open.
            let (inside, blocks) = (details.clone(), fold.blocks.clone());
            self.listen(&details, "toggle", move |_| {
                if inside.child_element_count() == 1 {
                    Self::default().blocks(&inside, &blocks);
                }
            });
        }
        append(into, &details);
    }

    /// A text to be copied, and saved where it is a file.
    fn code(&mut self, into: &Element, code: &Code) {
        let head = new("div", "command");
        append(&head, &put(new("h3", ""), &code.name));
        if !code.file.is_empty() {
            let data = String::from(js_sys::encode_uri_component(&code.text));
            let link = format!("data:text/plain;charset=utf-8,{data}");
            let save = with(
                new("a", "action"),
                &[("href", &link), ("download", &code.file), ("data-testid", "save")],
            );
            append(&head, &put(save, "Save"));
        }
        let copy = button("Copy");
        if !code.id.is_empty() {
            with(copy.clone(), &[("data-testid", &format!("copy-{}", code.id))]);
        }
        let text = code.text.clone();
        let said = copy.clone();
        self.listen(&copy, "click", move |_| {
            let said = said.clone();
            take(text.clone(), "Select it", move |words| said.set_text_content(words.or(Some("Copy"))));
        });
        append(&head, &copy);
        append(into, &head);
        let block =
            with(called(new("pre", "scroll"), &code.id), &[("tabindex", "0"), ("aria-label", &code.name)]);
        append(into, &put(block, &code.text));
    }
}

/// Whether a block needs neither drawing nor listeners.
fn is_still(block: &Block) -> bool {
    matches!(block, Block::Text(_) | Block::Heading(_) | Block::Table(_) | Block::Facts(_))
}

fn facts(of: &Facts) -> Element {
    let list = called(new("dl", "facts"), &of.id);
    for fact in &of.facts {
        let pair = new("div", "");
        append(&pair, &with(put(new("dt", ""), &fact.name), &[("title", &fact.help)]));
        append(&pair, &put(new("dd", ""), &fact.value));
        append(&list, &pair);
    }
    list
}

fn span(span: &Span) -> Element {
    match span.link.as_str() {
        "" => put(new("span", ""), &span.text),
        link if link.starts_with('#') => with(put(new("a", ""), &span.text), &[("href", link)]),
        // A view of the page: what hears of choices knows it.
        view => with(put(new("a", ""), &span.text), &[("href", ""), ("data-choose", view)]),
    }
}

/// The first cell of each row names it.
fn table(of: &Table) -> Element {
    let table = called(new("table", "numbers"), &of.id);
    let (head, body) = (new("thead", ""), new("tbody", ""));
    let names = new("tr", "");
    for name in &of.head {
        append(&names, &with(put(new("th", ""), name), &[("scope", "col")]));
    }
    append(&head, &names);
    for Row { cells, own } in &of.rows {
        let row = new("tr", if *own { "own" } else { "" });
        for (index, cell) in cells.iter().enumerate() {
            let (tag, scope) = if index == 0 { ("th", "row") } else { ("td", "") };
            let holder = new(tag, "");
            if !scope.is_empty() {
                with(holder.clone(), &[("scope", scope)]);
            }
            append(&holder, &span(cell));
            append(&row, &holder);
        }
        append(&body, &row);
    }
    append(&table, &head);
    append(&table, &body);
    let scroll =
        with(new("div", "scroll"), &[("tabindex", "0"), ("role", "region"), ("aria-label", &of.name)]);
    append(&scroll, &table);
    scroll
}
