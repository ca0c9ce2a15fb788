//! A text of one's own: pasted, dropped or opened.

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

/// What is asked for, and what becomes of it.
#[derive(Clone, Copy)]
pub struct Own {
    pub id: &'static str,
    pub field: Field,
    pub summary: &'static str,
    pub hint: &'static str,
    /// On the button that takes the text.
    pub take: &'static str,
    /// Files that are offered.
    pub accept: &'static str,
    /// Bytes of a file at most.
    pub longest: f64,
    pub too_long: &'static str,
    pub taken: fn(State, String),
    /// What was found in it.
    pub found: fn(State) -> RwSignal<Vec<Issue>>,
}

#[derive(Clone, Copy)]
struct Panel {
    own: &'static Own,
    state: State,
    text: RwSignal<String>,
}

impl Panel {
    fn apply(self) {
        (self.own.taken)(self.state, self.text.get_untracked());
    }

    fn read(self, files: Option<FileList>) {
        let Some(file) = files.and_then(|files| files.get(0)) else { return };
        spawn_local(async move {
            match self.contents(&file).await {
                Ok(contents) => {
                    self.text.set(contents);
                    self.apply();
                }
                Err(issue) => (self.own.found)(self.state).set(vec![issue]),
            }
        });
    }

    async fn contents(self, file: &File) -> Result<String, Issue> {
        let issue = |text| Issue::error(self.own.field, text);
        if file.size() > self.own.longest {
            return Err(issue(self.own.too_long));
        }
        let unreadable = || issue("this file cannot be read as text");
        let text = JsFuture::from(file.text()).await.map_err(|_| unreadable())?;
        text.as_string().ok_or_else(unreadable)
    }
}

#[component]
pub fn OwnText(own: &'static Own) -> impl IntoView {
    let state = State::get();
    let panel = Panel { own, state, text: RwSignal::new(String::new()) };
    let dropped = listen(move |event: DragEvent| {
        event.prevent_default();
        panel.read(event.data_transfer().and_then(|data| data.files()));
    });
    let opened = listen(move |event: Event| {
        let input: Option<HtmlInputElement> = event.target().and_then(|target| target.dyn_into().ok());
        panel.read(input.and_then(|input| input.files()));
    });
    let (id, issues, file) = (own.id, format!("{}-issues", own.id), format!("{}-file", own.id));
    view! {
        <details class="own" data-testid=format!("{id}-panel")>
            <summary>{own.summary}</summary>
            <div class="drop" on:dragover=listen(|event: DragEvent| event.prevent_default()) on:drop=dropped>
                <label for=id>{own.hint}</label>
                <textarea
                    id=id data-testid=id rows="6" spellcheck="false" autocomplete="off"
                    aria-describedby=issues.clone()
                    prop:value=text(move || panel.text.get())
                    on:input=on_value(move |typed| panel.text.set(typed))
                ></textarea>
                {issue_list(issues, move || (own.found)(state).get())}
                <div class="actions">
                    <button type="button" class="action" data-testid=format!("{id}-use") on:click=listen(move |_| panel.apply())>
                        {own.take}
                    </button>
                    <label class="action" for=file.clone()>"Open a file"</label>
                    <input
                        type="file" id=file.clone() class="unseen" data-testid=file
                        accept=own.accept on:change=opened
                    />
                </div>
            </div>
        </details>
    }
}
