//! Text provided by the visitor: pasted, dropped or opened.

use leptos::ev::DragEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Event, File, FileList, HtmlInputElement};

use super::issues::issue_list;
use crate::config::{Field, Issue};
use crate::ui::state::State;

/// The kind of text.
#[derive(Clone, Copy)]
pub struct TextInput {
    pub id: &'static str,
    pub field: Field,
    pub summary: &'static str,
    pub hint: &'static str,
    /// Label of the button that applies the text.
    pub take: &'static str,
    /// Accepted file types.
    pub accept: &'static str,
    /// Maximum file size in bytes.
    pub longest: f64,
    pub too_long: &'static str,
    /// Status of a text in use; empty if there is none, or another control shows it.
    pub held: fn(State) -> String,
    /// Test ids of the status, and of the button that removes the text.
    pub holds: [&'static str; 2],
    /// A link to the configuration that it is of, if the form has another.
    pub open: fn(State) -> Option<String>,
    pub end: fn(State),
}

#[derive(Clone, Copy)]
struct Panel {
    own: &'static TextInput,
    state: State,
    text: RwSignal<String>,
}

impl Panel {
    fn apply(self) {
        self.state.read(self.own.field, self.text.get_untracked());
    }

    fn read(self, files: Option<FileList>) {
        // The list itself is emptied with the input.
        let files = files.map(|all| (0..all.length()).filter_map(|at| all.get(at)).collect::<Vec<File>>());
        let Some(files) = files.filter(|files| !files.is_empty()) else { return };
        spawn_local(async move {
            match self.contents(&files).await {
                Ok(contents) => {
                    self.text.set(contents);
                    self.apply();
                }
                Err(issue) => self.state.found(self.own.field, vec![issue]),
            }
        });
    }

    /// The texts of all files, such as a model's `config.json` and its quantization.
    async fn contents(self, files: &[File]) -> Result<String, Issue> {
        let issue = |text| Issue::error(self.own.field, text);
        if files.iter().map(|file| file.size()).sum::<f64>() > self.own.longest {
            return Err(issue(self.own.too_long));
        }
        let unreadable = || issue("this file cannot be read as text");
        let mut all = Vec::new();
        for file in files {
            let text = JsFuture::from(file.text()).await.map_err(|_| unreadable())?;
            all.push(text.as_string().ok_or_else(unreadable)?);
        }
        Ok(all.join("\n"))
    }
}

#[component]
pub fn OwnText(own: &'static TextInput) -> impl IntoView {
    let state = State::get();
    let panel = Panel { own, state, text: RwSignal::new(String::new()) };
    let dropped = move |event: DragEvent| {
        event.prevent_default();
        panel.read(event.data_transfer().and_then(|data| data.files()));
    };
    let opened = move |event: Event| {
        let input: HtmlInputElement = event_target(&event);
        panel.read(input.files());
        // Otherwise the same file, once corrected, would be no change.
        input.set_value("");
    };
    let found = move || {
        let mut texts = state.texts.get();
        texts.retain(|issue| issue.field == own.field);
        if own.field == Field::Measured {
            // What became of the runs.
            texts.extend(state.issues_of(Field::Runs));
        }
        texts
    };
    let (id, issues, file) = (own.id, format!("{}-issues", own.id), format!("{}-file", own.id));
    view! {
        <details class="own" data-testid=format!("{id}-panel")>
            <summary>{own.summary}</summary>
            <div class="drop" on:dragover=|event: DragEvent| event.prevent_default() on:drop=dropped>
                <label for=id>{own.hint}</label>
                <textarea
                    id=id data-testid=id rows="6" spellcheck="false" autocomplete="off"
                    aria-describedby=issues.clone()
                    prop:value=move || panel.text.get()
                    on:input=move |event| panel.text.set(event_target_value(&event))
                ></textarea>
                {issue_list(issues, found)}
                <div class="actions">
                    <button type="button" class="action" data-testid=format!("{id}-use") on:click=move |_| panel.apply()>
                        {own.take}
                    </button>
                    <label class="action" for=file.clone()>"Open a file"</label>
                    <input
                        type="file" multiple id=file.clone() class="unseen" data-testid=file
                        accept=own.accept on:change=opened
                    />
                </div>
            </div>
        </details>
        <p class="traced" prop:hidden=move || (own.held)(state).is_empty()>
            <span>
                <span data-testid=own.holds[0]>{move || (own.held)(state)}</span>
                " "
                {move || (own.open)(state).map(|link| {
                    view! { <a href=link data-testid=format!("{id}-open")>"Show it as it was measured"</a> }
                })}
            </span>
            <button type="button" class="action" data-testid=own.holds[1] on:click=move |_| (own.end)(state)>
                "Remove"
            </button>
        </p>
    }
}
