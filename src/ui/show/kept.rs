//! What a visitor holds of a document while another takes its place: open folds, the focus, how far a table is scrolled, and
//! what a pointer is pressing.

use std::cell::RefCell;

use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{Element, FocusOptions, HtmlElement, Node, Window};

use crate::ui::canvas::element::all;

/// A press becomes a click this long after the pointer is lifted, or sooner: by touch it is an event of its own.
const CLICK_MS: u32 = 50;

/// Shows the document that had to wait.
type Late = Box<dyn FnOnce()>;

#[derive(Default)]
struct Press {
    on: Option<Node>,
    /// Ends it; another press in between goes on.
    lifted: Option<Timeout>,
    waiting: Option<Late>,
}

thread_local! {
    static PRESS: RefCell<Press> = RefCell::default();
}

/// Watches the pointer, as long as the page lives.
pub fn install(window: &Window) {
    let down = EventListener::new(window, "pointerdown", |event| {
        let on = event.target().and_then(|target| target.dyn_into().ok());
        PRESS.with_borrow_mut(|press| (press.on, press.lifted) = (on, None));
    });
    down.forget();
    for end in ["pointerup", "pointercancel"] {
        let up = EventListener::new(window, end, |_| {
            PRESS.with_borrow_mut(|press| press.lifted = Some(Timeout::new(CLICK_MS, lifted)));
        });
        up.forget();
    }
}

fn lifted() {
    let waiting = PRESS.with_borrow_mut(std::mem::take).waiting;
    if let Some(show) = waiting {
        show();
    }
}

/// Whether something within `root` is being pressed: what is lifted off another element than it was pressed on is no click.
pub fn is_pressed(root: &Node) -> bool {
    PRESS.with_borrow(|press| press.on.as_ref().is_some_and(|on| root.contains(Some(on))))
}

/// Has `show` called when that is over. Only the newest is.
pub fn when_lifted(show: impl FnOnce() + 'static) {
    PRESS.with_borrow_mut(|press| press.waiting = Some(Box::new(show)));
}

/// What the document in an element is left with.
pub struct Kept {
    /// Ids of the folds that stand open.
    pub open: Vec<String>,
    focus: Option<Focus>,
    /// How far each table is scrolled to the side, in CSS pixels.
    scrolled: Vec<i32>,
}

/// Which element has the focus: the one with this id, or else the one of several alike.
struct Focus {
    id: String,
    tag: String,
    words: Option<String>,
    among: usize,
}

const SCROLLED: &str = ".scroll";

impl Kept {
    pub fn of(root: &Element) -> Self {
        let active = root.owner_document().and_then(|document| document.active_element());
        Self {
            open: all(root, "details[open]").iter().map(Element::id).collect(),
            focus: active.filter(|active| root.contains(Some(active))).map(|active| Focus::of(root, &active)),
            scrolled: all(root, SCROLLED).iter().map(Element::scroll_left).collect(),
        }
    }

    /// Gives what now stands in `root` the same focus, and scrolls it as far.
    pub fn restore(&self, root: &Element) {
        for (table, &left) in all(root, SCROLLED).iter().zip(&self.scrolled) {
            table.set_scroll_left(left);
        }
        let found = self.focus.as_ref().and_then(|focus| focus.find(root));
        if let Some(element) = found.and_then(|found| found.dyn_into::<HtmlElement>().ok()) {
            let options = FocusOptions::new();
            options.set_prevent_scroll(true);
            // What takes no focus stays without.
            let _ = element.focus_with_options(&options);
        }
    }
}

impl Focus {
    fn of(root: &Element, element: &Element) -> Self {
        let (tag, words) = (element.tag_name(), element.text_content());
        let among = alike(root, &tag, words.as_deref()).take_while(|other| other != element).count();
        Self { id: element.id(), tag, words, among }
    }

    fn find(&self, root: &Element) -> Option<Element> {
        if self.id.is_empty() {
            return alike(root, &self.tag, self.words.as_deref()).nth(self.among);
        }
        all(root, "[id]").into_iter().find(|element| element.id() == self.id)
    }
}

/// Elements of `root` with this tag that read so.
fn alike(root: &Element, tag: &str, words: Option<&str>) -> impl Iterator<Item = Element> {
    let words = words.map(str::to_owned);
    all(root, tag).into_iter().filter(move |element| element.text_content() == words)
}
