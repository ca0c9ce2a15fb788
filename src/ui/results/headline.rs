//! TTFT, TPOT, E2E, throughput.

use leptos::prelude::*;

use super::gauge::{Gauge, Reading, rate};
use crate::serving::report::Headline;
use crate::ui::state::State;
use crate::units::Seconds;

#[component]
pub fn HeadlineView() -> impl IntoView {
    let state = State::get();
    let headline = Memo::new(move |_| {
        state.answer.with(|answer| answer.as_ref().and_then(|answer| answer.report.headline.clone()))
    });
    let read = move |pick: fn(&Headline) -> Reading| {
        Signal::derive(move || headline.with(|headline| headline.as_ref().and_then(pick)))
    };
    view! {
        <section class="panel headline" aria-live="polite" aria-label="Headline numbers">
            <dl class="gauges">
                <Gauge id="ttft" name="TTFT" help="Time to first token: request arrival to first output token, queueing included, mean" reading=read(|h| seconds(h.ttft)) />
                <Gauge id="tpot" name="TPOT" help="Time per output token after the first: (E2E - TTFT) / (OSL - 1), mean over requests" reading=read(|h| h.tpot.and_then(seconds)) />
                <Gauge id="e2e" name="E2E" help="Request arrival to last output token, mean" reading=read(|h| seconds(h.e2e)) />
                <Gauge id="throughput" name="Output" help="Output tokens per second, whole system" reading=read(|h| rate(h.output_per_s, "tok/s")) />
            </dl>
        </section>
        <section class="panel" aria-label="Rates and queue">
            <dl class="gauges minor">
                <Gauge id="per-gpu" name="Output per GPU" help="Output tokens per second and GPU" reading=read(|h| rate(h.output_per_s_per_gpu, "tok/s")) />
                <Gauge id="per-user" name="Output per user" help="1 / TPOT" reading=read(|h| h.output_per_s_per_user.and_then(|value| rate(value, "tok/s"))) />
                <Gauge id="total" name="Input and output" help="Prompt and output tokens per second, whole system" reading=read(|h| rate(h.total_per_s, "tok/s")) />
                <Gauge id="requests" name="Requests" help="Requests completed per second, whole system" reading=read(|h| rate(h.requests_per_s, "/s")) />
                <Gauge id="cost" name="Per M output tokens" help="At the price per GPU and hour, at this load" reading=read(|h| h.dollars_per_million.map(|d| (d.0, d.print()))) />
                <Gauge id="running" name="Running" help="Requests in prefill or decode at once, per replica" reading=read(|h| rate(h.running, "")) />
                <Gauge id="waiting" name="Waiting" help="Requests that queue, per replica" reading=read(|h| rate(h.waiting, "")) />
            </dl>
        </section>
    }
}

fn seconds(value: Seconds) -> Reading {
    Some((value.0, value.print()))
}
