//! What a simulated run amounts to, and a point of a curve over loads.

use serde::{Deserialize, Serialize};

use super::{Bands, Power};
use crate::calibration::Band;
use crate::config::{Load, Slos};
use crate::serving::sim::{Kept, Metrics, Outcome, Saturation, Stats, goodput, kept, metrics};

/// Shares are equal within this.
const ROUNDING: f64 = 1e-9;

/// A run of one load. Rates are of all replicas together, the timeline is of one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Run {
    /// Clients, requests per second or prompts.
    pub load: f64,
    /// Requests simulated, of one replica.
    pub requests: u32,
    pub metrics: Metrics,
    /// Requests per second that keep to all SLOs; none if there is none.
    pub goodput_per_s: Option<f64>,
    /// Each SLO by itself.
    pub limits: Vec<Kept>,
    /// Shares of requests that must keep to all SLOs at once, and to each by itself.
    pub asked: [f64; 2],
    /// Times that a sequence lost its KV cache and was computed anew.
    pub preemptions: u32,
    /// Arrivals exceed capacity: times until the first token then say how long the run was.
    pub saturation: Option<Saturation>,
    pub timeline: Timeline,
    /// None if the power of a GPU is unknown.
    pub power: Option<Power>,
}

/// One replica over time, as columns of equal length.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Timeline {
    /// Seconds from the start.
    pub time: Vec<f64>,
    /// Requests in prefill or decode.
    pub running: Vec<f64>,
    pub waiting: Vec<f64>,
    /// Share of the KV cache taken, 0..1.
    pub kv: Vec<f64>,
}

/// One load of a curve.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Point {
    /// Clients or requests per second.
    pub load: f64,
    pub ttft: Stats,
    pub tpot: Option<Stats>,
    pub output_per_s: f64,
    pub saturated: bool,
    /// None without calibration.
    pub bands: Option<Around>,
}

/// What 80 % of measurements of a load are expected between.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Around {
    /// Of the means.
    pub ttft: Band,
    pub tpot: Option<Band>,
    pub output_per_s: Option<Band>,
    /// The probability that measurements keep to all limits; none without limits.
    pub keeps_with: Option<f64>,
}

impl Timeline {
    /// Share of the requests in the system that waits for a slot, on average over time.
    pub fn share_waiting(&self) -> f64 {
        let (mut waiting, mut all) = (0.0, 0.0);
        for (index, span) in self.time.windows(2).enumerate() {
            let seconds = span[1] - span[0];
            waiting += self.waiting[index] * seconds;
            all += (self.waiting[index] + self.running[index]) * seconds;
        }
        if all > 0.0 { waiting / all } else { 0.0 }
    }
}

impl Run {
    /// `outcome` is that of one of `replicas`, with so many tokens of KV cache.
    pub(super) fn of(
        load: Load,
        outcome: &Outcome,
        replicas: f64,
        kv_tokens: u64,
        slos: Slos,
    ) -> Option<Self> {
        let one = metrics(outcome)?;
        let moments = &outcome.timeline;
        let column = |of: &dyn Fn(&crate::serving::sim::Moment) -> f64| moments.iter().map(of).collect();
        let saturation = outcome.saturation.map(|one| Saturation {
            offered_per_s: one.offered_per_s * replicas,
            served_per_s: one.served_per_s * replicas,
            ..one
        });
        Some(Self {
            load: load.amount(),
            requests: u32::try_from(outcome.requests.len()).unwrap_or(u32::MAX),
            metrics: Metrics {
                requests_per_s: one.requests_per_s * replicas,
                output_per_s: one.output_per_s * replicas,
                total_per_s: one.total_per_s * replicas,
                ..one
            },
            goodput_per_s: slos.limits().next().map(|_| goodput(outcome, &slos) * replicas),
            limits: kept(outcome, &slos),
            asked: [slos.share(), slos.percentile.unwrap_or(0.0) * 1e-2],
            preemptions: u32::try_from(outcome.counts.preemptions).unwrap_or(u32::MAX),
            saturation,
            timeline: Timeline {
                time: column(&|moment| moment.time),
                running: column(&|moment| f64::from(moment.running)),
                waiting: column(&|moment| f64::from(moment.waiting)),
                kv: column(&|moment| moment.kv_tokens as f64 / kv_tokens.max(1) as f64),
            },
            power: None,
        })
    }

    /// Whether as many requests as are asked for keep to the SLOs. None if there is no SLO.
    pub fn keeps(&self) -> Option<bool> {
        let good = self.goodput_per_s?;
        let [all, each] = self.asked;
        // Rates are quotients of the same duration.
        let enough = good >= all * self.metrics.requests_per_s * (1.0 - ROUNDING);
        let each = self.limits.iter().all(|kept| kept.share >= each * (1.0 - ROUNDING));
        Some(self.saturation.is_none() && enough && each)
    }

    /// With what is expected of measurements of it.
    pub fn point(&self, bands: Option<&Bands>) -> Point {
        let bands = bands.map(|bands| Around {
            ttft: bands.ttft.mean,
            tpot: bands.tpot.as_ref().map(|tpot| tpot.mean),
            output_per_s: bands.output_per_s,
            keeps_with: bands.keep(self),
        });
        Point {
            load: self.load,
            ttft: self.metrics.ttft,
            tpot: self.metrics.tpot,
            output_per_s: self.metrics.output_per_s,
            saturated: self.saturation.is_some(),
            bands,
        }
    }
}
