//! Issues next to their controls.

use leptos::prelude::*;

use crate::config::{Field, Issue, Severity};
use crate::ui::state::State;

/// The id of the list of issues for `field`, for `aria-describedby`.
pub fn list_id(field: Field) -> String {
    format!("{}-issues", field.id())
}

/// All issues of `fields`, under the first one's id.
#[component]
pub fn Issues(fields: &'static [Field]) -> impl IntoView {
    let state = State::get();
    let id = fields.first().map(|field| list_id(*field)).unwrap_or_default();
    issue_list(id, move || fields.iter().flat_map(|field| state.issues_of(*field)).collect())
}

/// A list of issues. It always exists, so that changes are announced.
pub fn issue_list(id: String, found: impl Fn() -> Vec<Issue> + Send + 'static) -> AnyView {
    let entries = move || found().into_iter().map(entry).collect_view().into_any();
    view! { <ul class="issues" id=id aria-live="polite">{entries}</ul> }.into_any()
}

fn entry(issue: Issue) -> AnyView {
    let (severity, mark, name) = match issue.severity {
        Severity::Error => ("error", "✕", "Error: "),
        Severity::Warning => ("warning", "▲", "Warning: "),
        Severity::Note => ("note", "•", "Note: "),
    };
    use Field::{Compared, Data, Histogram, Link, Plans, Runs, Vary, Version};
    // These have no control.
    let shown = !matches!(issue.field, Compared | Data | Histogram | Link | Plans | Runs | Vary | Version);
    let show = shown.then(|| {
        view! { <button type="button" class="go">{format!("Show {}", issue.field.input().label)}</button> }
    });
    view! {
        <li class="issue" data-testid="issue" data-field=issue.field.id() data-severity=severity>
            <span class="mark" aria-hidden="true">{mark}</span>
            <span><span class="unseen">{name}</span>{quoted(&issue.sentence())}</span>
            {show}
        </li>
    }
    .into_any()
}

/// Text with what stands between backticks as code.
pub fn quoted(text: &str) -> AnyView {
    let part = |(index, part): (usize, &str)| match index % 2 {
        1 => view! { <code>{part.to_owned()}</code> }.into_any(),
        _ => part.to_owned().into_any(),
    };
    text.split('`').enumerate().map(part).collect::<Vec<_>>().into_any()
}

/// Whether `field` has an error, for `aria-invalid`.
pub fn invalid(state: State, field: Field) -> bool {
    state.issues_of(field).iter().any(Issue::is_error)
}
