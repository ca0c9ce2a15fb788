//! Search over the page: a dialog that asks for what is called so, and shows the findings as links.

use std::cell::Cell;

use gloo::events::{EventListener, EventListenerOptions};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    CustomEvent, CustomEventInit, Element, Event, HtmlDialogElement, HtmlElement, HtmlInputElement,
    KeyboardEvent, Window, window,
};

use super::history;
use crate::ui::canvas::element::{all, append, new, with};

/// Asks the page for what is called so; without words, when the search has ended.
const FIND: &str = "rooflight:find";
/// The element that the page puts the findings into.
const FOUND: &str = "found";
/// The element of the configurations looked at last, shown until words are given.
const RECENT: &str = "recent";

thread_local! {
    static INSTALLED: Cell<bool> = const { Cell::new(false) };
}

/// Puts the dialog into the page, once, and listens for its keys and its button.
pub fn install() {
    let Some(window) = window() else { return };
    let Some(body) = window.document().and_then(|document| document.body()) else { return };
    if INSTALLED.replace(true) {
        return;
    }
    let dialog = with(new("dialog", "search"), &[("aria-label", "Search"), ("data-testid", "search")]);
    let input = with(
        new("input", ""),
        &[
            ("type", "search"),
            ("data-testid", "search-words"),
            ("aria-label", "Search"),
            ("placeholder", "Model, GPU, engine, workload, limits, view, or a link"),
            ("autocomplete", "off"),
            ("spellcheck", "false"),
        ],
    );
    append(&dialog, &input);
    append(&dialog, &with(new("div", ""), &[("id", RECENT)]));
    append(&dialog, &with(new("div", "study"), &[("id", FOUND)]));
    append(&body, &dialog);
    let (Ok(dialog), Ok(input)) =
        (dialog.dyn_into::<HtmlDialogElement>(), input.dyn_into::<HtmlInputElement>())
    else {
        return;
    };
    let search = Search { window, dialog, input };
    search.listen();
}

#[derive(Clone)]
struct Search {
    window: Window,
    dialog: HtmlDialogElement,
    input: HtmlInputElement,
}

impl Search {
    fn listen(&self) {
        on(&self.input, "input", self, |search, _| search.ask(Some(&search.input.value())));
        on(&self.dialog, "keydown", self, |search, event| search.steer(event));
        on(&self.dialog, "close", self, |search, _| search.ask(None));
        // What was found is chosen: a configuration, which comes with its address, or a view.
        on(&self.window, "popstate", self, |search, _| search.dialog.close());
        on(&self.dialog, "rooflight:choose", self, |search, _| search.dialog.close());
        on(&self.window, "keydown", self, |search, event| search.key(event));
        on(&self.window, "click", self, |search, event| {
            let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
            if target.is_some_and(|target| matches!(target.closest("[data-find]"), Ok(Some(_)))) {
                search.open();
            }
        });
    }

    fn open(&self) {
        if self.dialog.open() || self.dialog.show_modal().is_err() {
            return;
        }
        self.input.set_value("");
        self.ask(Some(""));
        if let Some(holder) = self.recent() {
            holder.set_text_content(None);
            if let Some(section) = history::section() {
                append(&holder, &section);
            }
        }
    }

    fn recent(&self) -> Option<Element> {
        self.dialog.query_selector(&format!("#{RECENT}")).ok().flatten()
    }

    fn ask(&self, words: Option<&str>) {
        if let Some(recent) = self.recent() {
            recent.toggle_attribute_with_force("hidden", words.is_some_and(|words| !words.is_empty())).ok();
        }
        let init = CustomEventInit::new();
        init.set_detail(&words.map_or(JsValue::NULL, JsValue::from_str));
        if let Ok(event) = CustomEvent::new_with_event_init_dict(FIND, &init) {
            let _ = self.window.dispatch_event(&event);
        }
    }

    /// Keys that open it: those of a text are its own.
    fn key(&self, event: &Event) {
        let Some(key) = event.dyn_ref::<KeyboardEvent>() else { return };
        let writing = super::is_writing(event);
        let asked = match key.key().as_str() {
            "k" | "K" => key.ctrl_key() || key.meta_key(),
            "/" | "?" => !writing && !key.ctrl_key() && !key.meta_key() && !key.alt_key(),
            _ => false,
        };
        if asked {
            event.prevent_default();
            self.open();
        }
    }

    /// Arrows go through the findings, Enter takes the first.
    fn steer(&self, event: &Event) {
        let Some(key) = event.dyn_ref::<KeyboardEvent>() else { return };
        if key.key() == "Escape" {
            // Browsers clear a search first.
            event.prevent_default();
            return self.dialog.close();
        }
        let of = self.dialog.query_selector(&format!("#{FOUND}")).ok().flatten();
        let answered = of.and_then(|found| found.get_attribute("data-chosen")) == Some(self.input.value());
        if !answered && matches!(key.key().as_str(), "Enter" | "ArrowDown") {
            // The findings still are those of other words.
            return event.prevent_default();
        }
        let found = all(&self.dialog, &format!("#{RECENT}:not([hidden]) a, #{FOUND} tbody a"));
        let link =
            |index: usize| found.get(index).cloned().and_then(|link| link.dyn_into::<HtmlElement>().ok());
        let focused = self.window.document().and_then(|document| document.active_element());
        let at = found.iter().position(|link| focused.as_ref() == Some(link));
        let to: Option<HtmlElement> = match (key.key().as_str(), at) {
            ("ArrowDown", None) => link(0),
            ("ArrowDown", Some(at)) => link(at + 1),
            ("ArrowUp", Some(0)) => Some(self.input.clone().into()),
            ("ArrowUp", Some(at)) => link(at - 1),
            ("Enter", None) => {
                event.prevent_default();
                if let Some(first) = link(0) {
                    first.click();
                }
                return;
            }
            _ => return,
        };
        if let Some(to) = to {
            event.prevent_default();
            let _ = to.focus();
        }
    }
}

/// As long as the page lives.
fn on(
    target: &web_sys::EventTarget,
    event: &'static str,
    search: &Search,
    hear: impl Fn(&Search, &Event) + 'static,
) {
    let search = search.clone();
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(target, event, options, move |event| hear(&search, event)).forget();
}
