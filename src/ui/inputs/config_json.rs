//! A model of one's own: its `config.json`, pasted, dropped or opened.

use leptos::ev::DragEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Event, File, FileList, HtmlInputElement};

use super::issues::issue_list;
use crate::config::{Field, Issue};
use crate::ui::erased::{listen, on_value, text};
use crate::ui::state::State;

/// A longer file is no `config.json`; the largest published ones have some tens of kilobytes.
const LONGEST: f64 = 1_000_000.0;

/// What the panel holds.
#[derive(Clone, Copy)]
struct Panel {
    state: State,
    text: RwSignal<String>,
}

impl Panel {
    fn apply(self) {
        self.state.import(self.text.get_untracked());
    }

    fn read(self, files: Option<FileList>) {
        let Some(file) = files.and_then(|files| files.get(0)) else { return };
        spawn_local(async move {
            match contents(&file).await {
                Ok(contents) => {
                    self.text.set(contents);
                    self.apply();
                }
                Err(issue) => self.state.imported.set(vec![issue]),
            }
        });
    }
}

#[component]
pub fn ConfigJson() -> impl IntoView {
    let state = State::get();
    let panel = Panel { state, text: RwSignal::new(String::new()) };
    let dropped = listen(move |event: DragEvent| {
        event.prevent_default();
        panel.read(event.data_transfer().and_then(|data| data.files()));
    });
    let opened = listen(move |event: Event| {
        let input: Option<HtmlInputElement> = event.target().and_then(|target| target.dyn_into().ok());
        panel.read(input.and_then(|input| input.files()));
    });
    view! {
        <details class="own" data-testid="config-json-panel">
            <summary>"Use your own config.json"</summary>
            <div class="drop" on:dragover=listen(|event: DragEvent| event.prevent_default()) on:drop=dropped>
                <label for="config-json">"Paste it, or drop the file here. It stays in your browser and in the link."</label>
                <textarea
                    id="config-json" data-testid="config-json" rows="6" spellcheck="false" autocomplete="off"
                    aria-describedby="config-json-issues"
                    prop:value=text(move || panel.text.get())
                    on:input=on_value(move |typed| panel.text.set(typed))
                ></textarea>
                {issue_list("config-json-issues".into(), move || state.imported.get())}
                <div class="actions">
                    <button type="button" class="action" data-testid="config-json-use" on:click=listen(move |_| panel.apply())>
                        "Use this model"
                    </button>
                    <label class="action" for="config-json-file">"Open a file"</label>
                    <input
                        type="file" id="config-json-file" class="unseen" data-testid="config-json-file"
                        accept=".json,application/json" on:change=opened
                    />
                </div>
            </div>
        </details>
    }
}

async fn contents(file: &File) -> Result<String, Issue> {
    if file.size() > LONGEST {
        return Err(Issue::error(Field::Model, "this file is too large for a config.json"));
    }
    let unreadable = || Issue::error(Field::Model, "this file cannot be read as text");
    let text = JsFuture::from(file.text()).await.map_err(|_| unreadable())?;
    text.as_string().ok_or_else(unreadable)
}
