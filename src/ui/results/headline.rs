//! TTFT, TPOT, E2E, throughput; then rates, cost and queue.

use leptos::prelude::*;

use super::gauge::Gauge;
use super::status::basis_label;
use crate::ui::state::{Basis, State};

#[component]
pub fn HeadlineView() -> impl IntoView {
    let state = State::get();
    // On a phone the numbers stay in view and the status does not: bounds must not pass for predictions there.
    let bound = move || {
        state.answer.with(|shown| {
            let basis = shown.as_ref().map(|shown| &shown.basis);
            basis
                .filter(|basis| **basis == Basis::Roofline)
                .map(|basis| basis_label(Some(basis)))
                .unwrap_or_default()
        })
    };
    let calibration = move || {
        state
            .answer
            .with(|shown| shown.as_ref().map(|shown| shown.answer.calibration.clone()).unwrap_or_default())
    };
    view! {
        <section class="panel headline" aria-live="polite" aria-label="Headline numbers">
            <p class="bound" aria-hidden="true">{bound}</p>
            <dl class="gauges">
                <Gauge
                    id="ttft" name="TTFT" spread=true
                    help="Time to first token: request arrival to first output token, queueing included, mean"
                />
                <Gauge
                    id="tpot" name="TPOT" spread=true
                    help="Time per output token after the first: (E2E - TTFT) / (OSL - 1), mean over requests"
                />
                <Gauge id="e2e" name="E2E" spread=true help="Request arrival to last output token, mean" />
                <Gauge
                    id="throughput" name="Output" spread=true
                    help="Output tokens per second, whole system; goodput: requests per second that keep to all limits"
                />
            </dl>
            <p class="calibration" data-testid="calibration">{calibration}</p>
        </section>
        <section class="panel" aria-label="Rates and queue">
            <dl class="gauges minor">
                <Gauge id="per-gpu" name="Output per GPU" help="Output tokens per second and GPU" />
                <Gauge id="per-user" name="Output per user" help="1 / TPOT" />
                <Gauge
                    id="total" name="Input and output"
                    help="Prompt and output tokens per second, whole system"
                />
                <Gauge id="request-rate" name="Requests" help="Requests completed per second, whole system" />
                <Gauge
                    id="cost" name="Per M output tokens" help="At the price per GPU and hour, at this load"
                />
                <Gauge
                    id="running" name="Running"
                    help="Requests in prefill or decode at once, per replica, on average"
                />
                <Gauge id="waiting" name="Waiting" help="Requests that queue, per replica, on average" />
            </dl>
        </section>
    }
}
