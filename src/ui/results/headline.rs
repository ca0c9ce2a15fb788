//! TTFT, TPOT, E2E, throughput; then rates, cost and queue.

use leptos::prelude::*;

use super::gauge::Gauge;
use super::reading;
use super::status::basis_label;
use crate::serving::report::Basis;
use crate::ui::state::{Answer, State};

#[component]
pub fn HeadlineView() -> impl IntoView {
    let state = State::get();
    // On a phone the numbers stay in view and the status does not: bounds must not pass for predictions there.
    let bound = move || {
        let label = |answer: &Answer| {
            let basis = &answer.report.basis;
            (*basis == Basis::Roofline).then(|| basis_label(Some(basis)))
        };
        state.of_answer(label).unwrap_or_default()
    };
    view! {
        <section class="panel headline" aria-live="polite" aria-label="Headline numbers">
            <p class="bound" aria-hidden="true">{bound}</p>
            <dl class="gauges">
                <Gauge
                    id="ttft" name="TTFT" read=reading::ttft
                    help="Time to first token: request arrival to first output token, queueing included, mean"
                />
                <Gauge
                    id="tpot" name="TPOT" read=reading::tpot
                    help="Time per output token after the first: (E2E - TTFT) / (OSL - 1), mean over requests"
                />
                <Gauge id="e2e" name="E2E" read=reading::e2e help="Request arrival to last output token, mean" />
                <Gauge
                    id="throughput" name="Output" read=reading::output
                    help="Output tokens per second, whole system"
                />
            </dl>
        </section>
        <section class="panel" aria-label="Rates and queue">
            <dl class="gauges minor">
                <Gauge
                    id="per-gpu" name="Output per GPU" read=reading::output_per_gpu
                    help="Output tokens per second and GPU"
                />
                <Gauge id="per-user" name="Output per user" read=reading::output_per_user help="1 / TPOT" />
                <Gauge
                    id="total" name="Input and output" read=reading::total
                    help="Prompt and output tokens per second, whole system"
                />
                <Gauge
                    id="requests" name="Requests" read=reading::requests
                    help="Requests completed per second, whole system"
                />
                <Gauge
                    id="cost" name="Per M output tokens" read=reading::cost
                    help="At the price per GPU and hour, at this load"
                />
                <Gauge
                    id="running" name="Running" read=reading::running
                    help="Requests in prefill or decode at once, per replica"
                />
                <Gauge id="waiting" name="Waiting" read=reading::waiting help="Requests that queue, per replica" />
            </dl>
        </section>
    }
}
