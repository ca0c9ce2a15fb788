//! The page's other mode: plans that serve a load within limits.

use leptos::ev::{Event, MouseEvent};
use leptos::prelude::*;

use super::document::DocumentView;
use super::inputs::issue_list;
use super::parts::renewed;
use super::results::{FIX, LAST_VALID};
use super::state::{Finding, Form, PLANS, Progress, State, WorkerStatus};
use crate::config::{Field, Issue};
use crate::study::Topic;
use crate::study::panel::Panel;

/// The right column in Find mode.
#[component]
pub fn Plans() -> impl IntoView {
    let state = State::get();
    let document = Signal::derive(move || state.plans.with(|plans| plans.studied.document.clone()));
    let away = Signal::derive(move || !state.finding.get());
    let status = renewed(move || state.plans.with(|plans| status(state, plans)));
    let marked = renewed(move || marked(state));
    view! {
        <section class="results plans" data-testid="plans" aria-label="Plans" prop:hidden=away>
            <section class="panel study" aria-label="Plans found">
                {request_line(state)}
                <div class="key" role="status">{status}</div>
                <div aria-live="polite">{marked}</div>
                <DocumentView id=PLANS document=document />
            </section>
        </section>
    }
}

/// A line that describes what to serve, applied with Enter.
fn request_line(state: State) -> AnyView {
    let changed: Box<dyn Fn(Event)> = Box::new(move |event| state.say(event_target_value(&event)));
    // It says nothing about another configuration.
    let value = move || {
        let link = state.form.with(Form::link);
        state.said.with(|said| if said.link == link { said.text.clone() } else { String::new() })
    };
    let of_it = move || state.texts.get().into_iter().filter(|issue| issue.field == Field::Vary).collect();
    view! {
        <h2><label for="say">"What to serve, in words"</label></h2>
        <input
            type="text" class="say" id="say" data-testid="say" autocomplete="off" spellcheck="false"
            aria-describedby="say-issues"
            placeholder="Llama-3.3-70B, 20 requests/s, TTFT 1 s, TPOT 30 ms" prop:value=value on:change=changed
        />
        {issue_list("say-issues".into(), of_it)}
    }
    .into_any()
}

/// Progress, and a button to stop or continue.
fn status(state: State, plans: &Finding) -> AnyView {
    let (id, text, act) = match plans.progress {
        Progress::None => ("none", String::new(), ""),
        Progress::Due => ("due", "The search starts when you stop editing".into(), ""),
        Progress::Running => ("running", settled("Searching: ", plans), "Stop"),
        Progress::Stopped => ("stopped", settled("Stopped: ", plans), "Continue"),
        Progress::Done if plans.studied.total == 0 => ("done", String::new(), ""),
        Progress::Done => ("done", settled("", plans), ""),
    };
    let text = match state.worker.get() {
        WorkerStatus::Starting if plans.progress == Progress::Running => "Loading the learned models".into(),
        WorkerStatus::Failed { reason } => {
            format!("{text}. Roofline only, no learned numbers: {reason}. Reload to try again")
        }
        worker => worker.ended().unwrap_or(text),
    };
    let lost = |issue: &Issue| issue.field == Field::Vary && issue.is_error();
    let text = match state.texts.with(|texts| texts.iter().any(lost)) {
        true => format!("The plans are for the form as it stands, not for the line above. {text}"),
        false if state.has_errors() => match plans.studied.total {
            0 => FIX.into(),
            // That nothing meets the limits is marked too.
            _ if state.form.with(|form| !form.has_bad_draft() && form.link() == plans.of) => text,
            _ => format!("{LAST_VALID} {text}"),
        },
        false => text,
    };
    let stops = plans.progress == Progress::Running;
    let act_on: Box<dyn Fn(MouseEvent)> =
        Box::new(move |_| if stops { state.stop_plans() } else { state.resume_plans() });
    let button = (!act.is_empty())
        .then(|| view! { <button type="button" class="action" data-testid="plans-act" on:click=act_on>{act}</button> });
    view! { <span data-testid="plans-status" data-progress=id>{text}</span>{button} }.into_any()
}

fn settled(before: &str, plans: &Finding) -> String {
    match plans.studied.total {
        0 => format!("{before}listing layouts"),
        total => format!("{before}{} of {total} layouts done", plans.studied.done),
    }
}

/// A link that compares the marked plans.
fn marked(state: State) -> AnyView {
    let Some((count, link)) = state.plans.with(Finding::comparison) else { return ().into_any() };
    let open: Box<dyn Fn(MouseEvent)> = Box::new(move |_| state.open_panel(Panel::Study(Topic::Compare), ""));
    let text = format!("Compare the {count} marked plans");
    view! { <p><a href=link data-testid="plans-compare" on:click=open>{text}</a></p> }.into_any()
}
