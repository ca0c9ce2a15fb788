//! A model of one's own: its `config.json`, pasted, dropped or opened.

use leptos::ev::DragEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, FileList};

use crate::config::model::import::import;
use crate::config::{Field, Issue, ModelChoice};
use crate::ui::state::State;

/// A longer file is no `config.json`; the largest published ones have some tens of kilobytes.
const LONGEST: f64 = 1_000_000.0;

#[component]
pub fn ConfigJson() -> impl IntoView {
    let state = State::get();
    let text = RwSignal::new(String::new());
    let issues = RwSignal::new(Vec::<Issue>::new());
    let apply = move || {
        let (model, found) = import(&text.get_untracked(), None);
        issues.set(found);
        if let Some(model) = model {
            let choice = ModelChoice::Custom(Box::new(model));
            state.choose("config-json", |form| form.choose(Field::Model, |scenario| scenario.model = choice));
        }
    };
    let read = move |files: Option<FileList>| {
        let Some(file) = files.and_then(|files| files.get(0)) else { return };
        spawn_local(async move {
            match contents(&file).await {
                Ok(contents) => {
                    text.try_set(contents);
                    apply();
                }
                Err(issue) => {
                    issues.try_set(vec![issue]);
                }
            }
        });
    };
    let dropped = move |event: DragEvent| {
        event.prevent_default();
        read(event.data_transfer().and_then(|data| data.files()));
    };
    let found = move || issues.get().into_iter().map(super::issues::entry).collect_view();
    view! {
        <details class="own" data-testid="config-json-panel">
            <summary>"Use your own config.json"</summary>
            <div class="drop" on:dragover=|event| event.prevent_default() on:drop=dropped>
                <label for="config-json">"Paste it, or drop the file here. It stays in your browser and in the link."</label>
                <textarea
                    id="config-json" data-testid="config-json" rows="6" spellcheck="false" autocomplete="off"
                    aria-describedby="config-json-issues"
                    prop:value=move || text.get()
                    on:input:target=move |event| text.set(event.target().value())
                ></textarea>
                <ul class="issues" id="config-json-issues" aria-live="polite">{found}</ul>
                <div class="actions">
                    <button type="button" class="action" data-testid="config-json-use" on:click=move |_| apply()>
                        "Use this model"
                    </button>
                    <label class="action" for="config-json-file">"Open a file"</label>
                    <input
                        type="file" id="config-json-file" class="unseen" data-testid="config-json-file"
                        accept=".json,application/json"
                        on:change:target=move |event| read(event.target().files())
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
