//! The answer in a bar that stays visible: verdict, TTFT, TPOT, output, cost. Then rates and queue.

use leptos::prelude::*;

use super::gauge::Gauge;
use super::status::{FIX, Refused, Status, basis_label};
use crate::serving::report::Basis;
use crate::ui::document::DocumentView;
use crate::ui::state::{State, frame};
use crate::worker::protocol::Verdict;

#[component]
pub fn HeadlineView() -> impl IntoView {
    let state = State::get();
    // On phones the numbers stay visible while verdict and status do not: what they are must be seen beside them.
    let verdict = move || {
        let verdict = state.of_answer(|answer| Some(answer.verdict.clone()));
        verdict.filter(|verdict| verdict.id != "none").unwrap_or_default()
    };
    let bound = move || {
        let basis = state.answer.with(|shown| shown.as_ref().map(|shown| shown.basis.clone()));
        match basis.filter(|basis| *basis == Basis::Roofline) {
            Some(basis) => basis_label(Some(&basis)),
            None if state.has_errors() => FIX.into(),
            None => verdict().words,
        }
    };
    let judged = move || if state.has_errors() { "misses".into() } else { verdict().id };
    let calibration = move || state.of_answer(|answer| Some(answer.calibration.clone())).unwrap_or_default();
    let better = Memo::new(move |_| state.study.with(|study| study.suggestion.document.clone()));
    // Where one is needed, its line is there before it is found.
    let is_needed = move || {
        let needs = |verdict: &Verdict| matches!(&*verdict.id, "misses" | "unfit");
        frame::view().is_none() && state.of_answer(|answer| Some(needs(&answer.verdict))).unwrap_or_default()
    };
    let nothing = move || better.with(|better| better.blocks.is_empty()) && !is_needed();
    view! {
        <div class="lead"><Refused /><VerdictView /><Status /></div>
        <section class="headline" aria-live="polite" aria-label="Headline numbers">
            <p class="bound" aria-hidden="true" data-judged=judged>{bound}</p>
            <dl class="gauges">
                <Gauge
                    id="ttft" name="TTFT" plain="First token" spread=true
                    help="Time to first token: request arrival to first output token, queueing included, mean"
                />
                <Gauge
                    id="tpot" name="TPOT" plain="Each token" spread=true
                    help="Time per output token after the first: (E2E - TTFT) / (OSL - 1), mean over requests"
                />
                <Gauge
                    id="throughput" name="Output" spread=true
                    help="Output tokens per second of the whole system, while the load lasts. If the number of requests is stated or clients start together: over the whole run. Goodput: requests per second that meet all limits"
                />
                <Gauge
                    id="cost" name="Cost per M output" plain="$ per M output" spread=true
                    help="Dollars per million output tokens, at the price per GPU-hour and this load"
                />
            </dl>
        </section>
        <p class="calibration" data-testid="calibration">{calibration}</p>
        <div class="suggestion" data-testid="suggestion" prop:hidden=nothing><DocumentView id="suggested" document=better /></div>
    }
}

/// Whether the configuration fits and meets the limits, in a sentence.
#[component]
fn VerdictView() -> impl IntoView {
    let state = State::get();
    let verdict = move || {
        let Verdict { id, words, reason } =
            state.of_answer(|answer| Some(answer.verdict.clone())).unwrap_or_default();
        view! {
            <p class="verdict" data-testid="verdict" data-verdict=id><span class="judgement">{words}</span><span>{reason}</span></p>
        }
        .into_any()
    };
    view! { <div class="judged" aria-live="polite">{verdict}</div> }
}

#[component]
pub fn RatesView() -> impl IntoView {
    let state = State::get();
    let is_job = Memo::new(move |_| state.reading("job").is_some());
    let job = move || {
        is_job.get().then(|| {
            view! {
                <Gauge
                    id="job" name="Job takes" spread=true
                    help="From the first prompt to the last answer; and what all GPUs cost meanwhile"
                />
            }
        })
    };
    view! {
        <section class="panel rates" aria-label="Rates and queue">
            <dl class="gauges minor">
                {job}
                <Gauge id="e2e" name="E2E" spread=true help="Request arrival to last output token, mean" />
                <Gauge id="per-gpu" name="Output per GPU" help="Output tokens per second and GPU" />
                <Gauge id="per-user" name="Output per user" spread=true help="1 / TPOT" />
                <Gauge
                    id="total" name="Input and output"
                    help="Prompt and output tokens per second, whole system"
                />
                <Gauge id="request-rate" name="Requests" help="Requests completed per second, whole system" />
                <Gauge
                    id="power" name="Power per GPU" spread=true help="Average watts, without host and \
                        cooling"
                />
                <Gauge
                    id="energy" name="Energy per token" spread=true help="Energy of all GPUs over output tokens; \
                        output tokens per MWh, with any power overhead"
                />
                <Gauge
                    id="running" name="Running"
                    help="Requests in prefill or decode, per replica, on average"
                />
                <Gauge id="waiting" name="Waiting" help="Queued requests per replica, on average" />
            </dl>
        </section>
    }
}
