//! The configurations looked at last, kept in the browser where it keeps anything.

use serde::{Deserialize, Serialize};
use wasm_bindgen::JsCast;
use web_sys::{Document, Element, HtmlSelectElement, Storage, window};

use crate::config::json;
use crate::ui::canvas::element::{append, new, put, with};

const KEPT_AS: &str = "rooflight-recent";
const MOST: usize = 8;

#[derive(Default, Serialize, Deserialize)]
struct Recent {
    all: Vec<Looked>,
}

#[derive(Default, Serialize, Deserialize)]
struct Looked {
    link: String,
    name: String,
}

/// None where the browser refuses.
fn storage() -> Option<Storage> {
    window()?.local_storage().ok().flatten()
}

/// What another version or another page left there is no list.
fn kept() -> Recent {
    let text = storage().and_then(|storage| storage.get_item(KEPT_AS).ok().flatten());
    text.and_then(|text| json::read(&text).ok()).unwrap_or_default()
}

/// The newest first, each once.
pub fn remember(link: &str) {
    let (Some(storage), Some(name)) = (storage(), name()) else { return };
    let mut recent = kept();
    recent.all.retain(|looked| looked.link != link && looked.name != name);
    recent.all.insert(0, Looked { link: link.to_owned(), name });
    recent.all.truncate(MOST);
    // A full storage forgets.
    let _ = storage.set_item(KEPT_AS, &serde_json::to_string(&recent).unwrap_or_default());
}

/// What the form says, in short; none while it is being built.
fn name() -> Option<String> {
    let document = window()?.document()?;
    let chosen = |id: &str| -> Option<String> {
        let select: HtmlSelectElement = found(&document, id)?.dyn_into().ok()?;
        let option: Element = select.selected_options().item(0)?;
        let text = option.text_content()?;
        let id = select.value();
        // What no catalog holds is called by its id: what is said behind it is said in the language of the page.
        let unknown =
            text.strip_prefix(&id).is_some_and(|rest| rest.trim_start().starts_with(['(', '\u{ff08}']));
        Some(if unknown { id } else { text.trim().to_owned() })
    };
    let typed = |id: &str| {
        let input = found(&document, id).and_then(|input| input.dyn_into::<web_sys::HtmlInputElement>().ok());
        input.map(|input| input.value())
    };
    let mut name = format!("{} on {}, {}", chosen("model")?, chosen("gpu")?, chosen("engine")?);
    for (id, of) in [("tp", "TP"), ("pp", "PP"), ("gpus", "replicas"), ("isl", "in"), ("osl", "out")] {
        if let Some(value) = typed(id).filter(|value| !value.is_empty()) {
            name += &if matches!(id, "tp" | "pp") {
                format!(", {of} {value}")
            } else {
                format!(", {value} {of}")
            };
        }
    }
    for (id, of) in [("concurrency", "clients"), ("rate", "requests/s"), ("batch", "prompts")] {
        if let Some(value) = typed(id).filter(|value| !value.is_empty()) {
            name += &format!(", {value} {of}");
        }
    }
    Some(name)
}

fn found(document: &Document, id: &str) -> Option<Element> {
    document.query_selector(&format!("[data-testid={id}]")).ok().flatten()
}

/// A list of links to them but the one that is shown; none where nothing else is kept.
pub fn section() -> Option<Element> {
    let (mut recent, shown) = (kept(), super::link()?);
    recent.all.retain(|looked| looked.link != shown);
    if recent.all.is_empty() {
        return None;
    }
    let section = new("section", "recent");
    append(&section, &put(new("h2", ""), "Recent"));
    let list = new("ul", "");
    for looked in &recent.all {
        let item = new("li", "");
        append(&item, &with(put(new("a", ""), &looked.name), &[("href", &format!("#{}", looked.link))]));
        append(&list, &item);
    }
    append(&section, &list);
    Some(section)
}
