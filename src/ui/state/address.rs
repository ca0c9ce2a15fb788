//! The scenario in the address: read at start-up and on navigation, written on every edit.

use gloo::events::EventListener;
use gloo::utils::window;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::{Form, State, frame};
use crate::config::Field;
use crate::config::link::names_nothing;
use crate::study::Topic;
use crate::study::panel::Panel;

/// The full address. The scenario is read from its fragment, and from its query for keys not in the fragment.
pub fn address() -> String {
    window().location().href().unwrap_or_default()
}

/// The form for the address. A frame has a link's defaults rather than the example.
pub fn form() -> Form {
    match frame::view() {
        Some(_) => Form::from_link(&address()),
        None => Form::opened(&address()),
    }
}

/// The fragment, without its `#`.
pub fn fragment() -> String {
    window().location().hash().unwrap_or_default().trim_start_matches('#').to_string()
}

/// The page's folder: its address without file, query and fragment.
pub fn page() -> String {
    let address = address();
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.rsplit_once('/').map_or(path, |(folder, _)| folder).to_owned() + "/"
}

/// Updates the form on back, forward, and edits of the address.
pub fn follow(state: State) {
    // Links within the page name only the fragment.
    if !address().split('#').next().is_none_or(names_nothing) {
        state.replace();
    }
    state.kept().keep();
    let listener = EventListener::new(&window(), "popstate", move |_| {
        // A link within the page adds an entry that says nothing: what is shown stays.
        if let Some(kept) = Kept::read().filter(|kept| state.trace.with_untracked(|own| *own != kept.trace)) {
            state.trace.set(kept.trace);
        }
        // A form with issues holds more than its link: invalid text.
        if state.form.with_untracked(|form| form.link() != fragment() || !form.issues().is_empty()) {
            // Leftover issues of a pasted text are not about this configuration.
            state.texts.update(|texts| texts.retain(|issue| issue.field == Field::Vary));
            state.form.set(form());
            state.last_pushed.set_value(None);
        }
        state.kept().keep();
    });
    listener.forget();
}

/// Follows a link within the page: a fragment with its `#`.
pub fn open(link: &str) {
    // The browser reports this like a click on a link.
    let _ = window().location().set_hash(link);
}

/// What a history entry holds beside its link, and a reload keeps.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// The description of the trace that replaces the link's load; empty if none does.
    pub trace: String,
    /// The panel below the answer.
    pub panel: Panel,
}

impl Kept {
    /// What is kept in the current history entry, if the page wrote it.
    pub fn read() -> Option<Self> {
        let text = window().history().and_then(|history| history.state()).ok()?.as_string()?;
        let (panel, trace) = text.split_once(' ').unwrap_or((&text, ""));
        Some(Self { trace: trace.into(), panel: Panel::from_id(panel) })
    }

    /// What is kept in the current history entry, or what a freshly opened link shows: a comparison if it holds one.
    pub fn opened(form: &Form) -> Self {
        let is_whole = frame::view().is_none_or(|view| view == "full");
        let compares = is_whole && !form.compared().is_empty();
        let panel = if compares { Panel::Study(Topic::Compare) } else { Panel::default() };
        Self::read().unwrap_or(Self { trace: String::new(), panel })
    }

    /// Updates the current entry.
    pub fn keep(self) {
        let _ = window().history().and_then(|history| history.replace_state(&self.write(), ""));
    }

    fn write(&self) -> JsValue {
        [self.panel.id(), " ", &self.trace].concat().into()
    }
}

/// Replaces the current history entry.
pub fn replace(link: &str, kept: Kept) {
    // Frames without an origin may be refused history access; the page works without.
    let _ = window()
        .history()
        .and_then(|history| history.replace_state_with_url(&kept.write(), "", Some(&url(link))));
}

/// Adds a history entry; false if the address is unchanged, or the browser refuses.
pub fn push(link: &str, kept: Kept) -> bool {
    if fragment() == link {
        return false;
    }
    window()
        .history()
        .is_ok_and(|history| history.push_state_with_url(&kept.write(), "", Some(&url(link))).is_ok())
}

/// The address with this link as its fragment, and without a link's keys in its query: there they would stand in for
/// the defaults that links leave out.
pub fn url(link: &str) -> String {
    let address = address();
    let page = address.split('#').next().unwrap_or_default();
    let Some((path, query)) = page.split_once('?') else { return format!("{page}#{link}") };
    let others: Vec<&str> = query.split('&').filter(|pair| names_nothing(&format!("?{pair}"))).collect();
    let mark = if others.is_empty() { "" } else { "?" };
    format!("{path}{mark}{}#{link}", others.join("&"))
}
