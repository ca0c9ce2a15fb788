//! TTFT, TPOT, E2E, throughput; then rates, cost and queue.

use leptos::prelude::*;

use super::gauge::{Gauge, Reading, rate};
use crate::units::Seconds;

#[component]
pub fn HeadlineView() -> impl IntoView {
    view! {
        <section class="panel headline" aria-live="polite" aria-label="Headline numbers">
            <dl class="gauges">
                <Gauge
                    id="ttft" name="TTFT" read=|headline| seconds(headline.ttft)
                    help="Time to first token: request arrival to first output token, queueing included, mean"
                />
                <Gauge
                    id="tpot" name="TPOT" read=|headline| headline.tpot.and_then(seconds)
                    help="Time per output token after the first: (E2E - TTFT) / (OSL - 1), mean over requests"
                />
                <Gauge
                    id="e2e" name="E2E" read=|headline| seconds(headline.e2e)
                    help="Request arrival to last output token, mean"
                />
                <Gauge
                    id="throughput" name="Output" read=|headline| rate(headline.output_per_s, "tok/s")
                    help="Output tokens per second, whole system"
                />
            </dl>
        </section>
        <section class="panel" aria-label="Rates and queue">
            <dl class="gauges minor">
                <Gauge
                    id="per-gpu" name="Output per GPU" read=|headline| rate(headline.output_per_s_per_gpu, "tok/s")
                    help="Output tokens per second and GPU"
                />
                <Gauge
                    id="per-user" name="Output per user" help="1 / TPOT"
                    read=|headline| headline.output_per_s_per_user.and_then(|value| rate(value, "tok/s"))
                />
                <Gauge
                    id="total" name="Input and output" read=|headline| rate(headline.total_per_s, "tok/s")
                    help="Prompt and output tokens per second, whole system"
                />
                <Gauge
                    id="requests" name="Requests" read=|headline| rate(headline.requests_per_s, "/s")
                    help="Requests completed per second, whole system"
                />
                <Gauge
                    id="cost" name="Per M output tokens" help="At the price per GPU and hour, at this load"
                    read=|headline| headline.dollars_per_million.map(|dollars| (dollars.0, dollars.print()))
                />
                <Gauge
                    id="running" name="Running" read=|headline| rate(headline.running, "")
                    help="Requests in prefill or decode at once, per replica"
                />
                <Gauge
                    id="waiting" name="Waiting" read=|headline| rate(headline.waiting, "")
                    help="Requests that queue, per replica"
                />
            </dl>
        </section>
    }
}

fn seconds(value: Seconds) -> Reading {
    Some((value.0, value.print()))
}
