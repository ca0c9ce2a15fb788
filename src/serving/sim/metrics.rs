//! The metrics of `vllm bench serve`, with the same definitions.

use serde::{Deserialize, Serialize};

use super::outcome::{FinishedRequest, Gap, Outcome};
use crate::config::{LatencyMetric, Slos};
use crate::units::quantile;

/// Mean and quantiles, in seconds. Quantiles are interpolated linearly, as in NumPy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Stats {
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
}

impl Stats {
    /// `None` without values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values = ascending(values);
        let at = |share| quantile(&values, share);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (!values.is_empty()).then(|| Self { mean, p50: at(0.5), p90: at(0.9), p99: at(0.99) })
    }

    /// Statistics of values with the number of times that each occurs.
    pub fn weighted(mut values: Vec<Gap>) -> Option<Self> {
        values.retain(|gap| gap.count > 0);
        values.sort_unstable_by_key(|gap| gap.seconds.to_bits());
        let count: u64 = values.iter().map(|gap| gap.count).sum();
        let last = count.checked_sub(1)?;
        let sum: f64 = values.iter().map(|gap| gap.seconds * gap.count as f64).sum();
        let mut ends = Vec::with_capacity(values.len());
        let mut end = 0;
        for gap in &values {
            end += gap.count;
            ends.push(end);
        }
        let at = |position: u64| {
            let index = ends.partition_point(|&end| end <= position);
            values.get(index).map_or(f64::NAN, |gap| gap.seconds)
        };
        let quantile = |share: f64| {
            let position = share * last as f64;
            let below = position.floor();
            let (low, high) = (at(below as u64), at((below as u64 + 1).min(last)));
            low + (high - low) * (position - below)
        };
        Some(Self { mean: sum / count as f64, p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99) })
    }
}

/// Latencies in seconds, throughput per second over the duration; infinite if steps take no time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Metrics {
    /// Seconds from the first arrival to the last token.
    pub duration: f64,
    pub ttft: Stats,
    /// TPOT over requests with more than one output token, one value each; `None` without any.
    pub tpot: Option<Stats>,
    /// Inter-token latency (ITL) over all gaps between outputs of a sequence.
    pub itl: Option<Stats>,
    pub e2e: Stats,
    pub requests_per_s: f64,
    pub output_per_s: f64,
    /// Prompt and output tokens.
    pub total_per_s: f64,
    /// Time-averaged requests in the system; where replicas share a load, in one of them, as the next two.
    pub in_flight: f64,
    /// Time-averaged requests waiting for a slot.
    pub waiting: f64,
    /// Time-averaged requests that have one. The rest are on their way to the scheduler, or from it.
    pub running: f64,
}

impl Metrics {
    /// `None` for TPOT if no request has a second token.
    pub fn latency(&self, metric: LatencyMetric) -> Option<Stats> {
        metric.choose([Some(self.ttft), self.tpot, Some(self.e2e)])
    }
}

/// The metrics of a run; `None` without requests.
pub fn metrics(outcome: &Outcome) -> Option<Metrics> {
    let requests = &outcome.requests;
    let duration = outcome.duration();
    let per_s =
        |of: fn(&FinishedRequest) -> f64| outcome.each * requests.iter().map(of).sum::<f64>() / duration;
    let prompts_per_s = per_s(|served| f64::from(served.prompt));
    let output_per_s = per_s(|served| f64::from(served.output));
    Some(Metrics {
        duration,
        ttft: Stats::of(requests.iter().map(FinishedRequest::ttft))?,
        tpot: Stats::of(requests.iter().filter_map(FinishedRequest::tpot)),
        itl: Stats::weighted(outcome.gaps.as_slice().to_vec()),
        e2e: Stats::of(requests.iter().map(FinishedRequest::e2e))?,
        requests_per_s: per_s(|_| 1.0),
        output_per_s,
        total_per_s: prompts_per_s + output_per_s,
        in_flight: outcome.in_flight(),
        waiting: outcome.queued / duration,
        running: outcome.held_slots / duration,
    })
}

/// Requests per second that meet all limits, over the duration of the run. A request with one output token meets any
/// TPOT limit.
pub fn goodput(outcome: &Outcome, limits: &Slos) -> f64 {
    let good = outcome.requests.iter().filter(|served| {
        limits.limits().all(|(metric, limit)| served.latency(metric).is_none_or(|seconds| seconds <= limit))
    });
    outcome.each * good.count() as f64 / outcome.duration()
}

/// A limit and its result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LimitResult {
    /// `slo_ttft`, `slo_tpot` or `slo_e2e`.
    #[serde(rename = "field")]
    #[cfg_attr(test, ts(as = "crate::config::Field"))]
    pub metric: LatencyMetric,
    /// Seconds.
    pub limit: f64,
    /// Share of requests within it.
    pub share: f64,
    /// Seconds that the required share of requests stays below: the quantile as in [`Stats`], but on the same side of
    /// the limit as the share.
    pub at: f64,
}

/// Each limit separately. TPOT is over requests with more than one output token.
pub fn limit_results(outcome: &Outcome, slos: &Slos) -> Vec<LimitResult> {
    let one = |(metric, limit)| {
        let all = ascending(outcome.requests.iter().filter_map(|served| served.latency(metric)));
        let within = all.partition_point(|&seconds| seconds <= limit);
        let share = if all.is_empty() { 1.0 } else { within as f64 / all.len() as f64 };
        let asked = slos.share_of_each();
        let at = quantile(&all, asked);
        let is_kept = share >= asked * (1.0 - ROUNDING);
        LimitResult { metric, limit, share, at: if is_kept { at.min(limit) } else { at.max(limit) } }
    };
    slos.limits().map(one).collect()
}

/// Shares within this are equal.
pub const ROUNDING: f64 = 1e-9;

/// Times in ascending order, which is that of their bits: none is negative.
pub(super) fn ascending(times: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut bits: Vec<u64> = times.into_iter().map(f64::to_bits).collect();
    bits.sort_unstable();
    bits.into_iter().map(f64::from_bits).collect()
}
