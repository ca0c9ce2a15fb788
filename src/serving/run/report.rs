//! Results of a simulated run, and a point of a load curve.

use serde::{Deserialize, Serialize};

use super::count::requests_of;
use super::{Bands, Power};
use crate::calibration::Band;
use crate::config::{Load, Setup, Slos, Start};
use crate::serving::sim::metrics::ROUNDING;
use crate::serving::sim::{
    LimitResult, Metrics, Outcome, Saturation, Stats, goodput, limit_results, metrics,
};

/// The run of one load. Rates are for all replicas together, the timeline for one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Run {
    /// Clients, requests per second or prompts.
    pub load: f64,
    /// Simulated requests, of one replica.
    pub requests: u32,
    pub metrics: Metrics,
    /// Requests per second while the load lasts: at a rate those that arrive, or the capacity if that is less; of clients that
    /// start one after another, while all are there. The rates in `metrics` are the same, unless a number of requests is
    /// stated or arrivals exceed capacity: then, as in `vllm bench serve`, they are those of the whole run, with the time of
    /// the last answers.
    pub sustained_per_s: f64,
    /// Requests per second that meet all SLOs, if there are any.
    pub goodput_per_s: Option<f64>,
    /// Each SLO separately.
    pub limits: Vec<LimitResult>,
    /// Required shares of requests that meet all SLOs at once, and each separately.
    pub required: [f64; 2],
    /// Times a sequence lost its KV cache and was recomputed.
    pub preemptions: u32,
    /// Share of the sessions' history that was still in the prefix cache when a turn needed it; `None` without sessions,
    /// and with pools.
    pub history_found: Option<f64>,
    /// Set if arrivals exceed capacity: TTFT then depends on the length of the run.
    pub saturation: Option<Saturation>,
    pub timeline: Timeline,
    /// `None` if a GPU's power is unknown.
    pub power: Option<Power>,
    /// When its clients began.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub start: Start,
    /// What the figures become while the load lasts, if nobody ends it; until then they are those of the whole run.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub lasting: Option<Lasting>,
    /// Whether rates, requests in flight and energy are those while the load lasts.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub lasts: bool,
    /// Whether the number of requests in flight still grows at the end: more may arrive than can be served.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub fills: bool,
    /// Whether it is too short to show the load after its ramp.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub ends_in_ramp: bool,
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
    /// Fraction of the KV cache in use, 0..1.
    pub kv: Vec<f64>,
}

impl Timeline {
    /// Share of the time in which more than `most` requests run.
    pub fn share_above(&self, most: f64) -> f64 {
        self.mean(|at| f64::from(u8::from(self.running[at] > most)))
    }

    /// Mean fraction of the KV cache in use.
    pub fn mean_kv(&self) -> f64 {
        self.mean(|at| self.kv[at])
    }

    /// Mean over time of what lasts from each moment to the next; 0 without a timeline.
    fn mean(&self, of: impl Fn(usize) -> f64) -> f64 {
        let spans = self.time.windows(2).map(|span| span[1] - span[0]);
        let sum: f64 = spans.clone().enumerate().map(|(at, span)| span * of(at)).sum();
        let all: f64 = spans.sum();
        if all > 0.0 { sum / all } else { 0.0 }
    }
}

/// A load that nobody ends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lasting {
    /// Requests per second.
    pub per_s: f64,
    pub power: Option<Power>,
}

/// One load on a curve.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Point {
    /// Clients or requests per second.
    pub load: f64,
    pub ttft: Stats,
    pub tpot: Option<Stats>,
    pub output_per_s: f64,
    pub saturated: bool,
    /// `None` without calibration.
    pub bands: Option<PointBands>,
}

/// 80 % bands of a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PointBands {
    /// Bands of the means.
    pub ttft: Band,
    pub tpot: Option<Band>,
    pub output_per_s: Option<Band>,
    /// The probability that measurements meet all limits; `None` without limits.
    pub chance_within_limits: Option<f64>,
}

impl Run {
    /// `outcome` is for one of `replicas`, with this many KV cache tokens.
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
            sustained_per_s: one.requests_per_s * replicas,
            goodput_per_s: slos.limits().next().map(|_| goodput(outcome, &slos) * replicas),
            limits: limit_results(outcome, &slos),
            required: [slos.share(), slos.percentile.unwrap_or(0.0) * 1e-2],
            preemptions: u32::try_from(outcome.counts.preemptions).unwrap_or(u32::MAX),
            history_found: None,
            saturation,
            lasting: None,
            lasts: false,
            fills: false,
            ends_in_ramp: false,
            timeline: Timeline {
                time: column(&|moment| moment.time),
                running: column(&|moment| f64::from(moment.running)),
                waiting: column(&|moment| f64::from(moment.waiting)),
                kv: column(&|moment| moment.kv_tokens as f64 / kv_tokens.max(1) as f64),
            },
            power: None,
            start: Start::AtOnce,
        })
    }

    /// The setup with the number of requests that this run of it needed, so that the commands measure the same.
    pub fn repeated(&self, setup: &Setup) -> Setup {
        let all = self.requests.saturating_mul(setup.copies());
        let is_longer =
            setup.workload.load.is_rate() || self.requests > requests_of(setup, setup.workload.load);
        setup.under(|workload| workload.requests = workload.requests.or(is_longer.then_some(all)))
    }

    /// The run with the rates, the requests in it and the energy while the load lasts, if nobody ends it and it is served: those of
    /// the whole run depend on the number of requests that stands for it.
    #[must_use]
    pub(super) fn while_it_lasts(mut self) -> Self {
        let Some(Lasting { per_s, power }) = self.lasting.take().filter(|_| self.saturation.is_none()) else {
            return self;
        };
        let times = per_s / self.metrics.requests_per_s;
        let Metrics { requests_per_s, output_per_s, total_per_s, in_flight, waiting, running, .. } =
            &mut self.metrics;
        *requests_per_s = per_s;
        for figure in [output_per_s, total_per_s, in_flight, waiting, running] {
            *figure *= times;
        }
        let goodput_per_s = self.goodput_per_s.map(|good| good * times);
        Self { sustained_per_s: per_s, goodput_per_s, power, lasts: true, ..self }
    }

    /// Output tokens per second while the load lasts.
    pub(super) fn lasting_output(&self) -> f64 {
        let lasting = self.lasting.as_ref().filter(|_| self.saturation.is_none());
        let times = lasting.map_or(1.0, |lasting| lasting.per_s / self.metrics.requests_per_s);
        self.metrics.output_per_s * times
    }

    /// A rate of the run, converted to the time while the load lasts.
    pub fn sustained(&self, per_s: f64) -> f64 {
        if self.lasts { per_s } else { per_s * (self.sustained_per_s / self.metrics.requests_per_s) }
    }

    /// The goodput, unless arrivals exceed capacity: a run shows only the start of an overload.
    pub fn steady_goodput(&self) -> Option<f64> {
        self.goodput_per_s.filter(|_| self.saturation.is_none())
    }

    /// Share of requests that meet all SLOs. `None` without SLOs.
    pub fn share_within_limits(&self) -> Option<f64> {
        self.goodput_per_s.map(|good| good / self.metrics.requests_per_s)
    }

    /// Whether the required share of requests meets the SLOs. `None` without SLOs.
    pub fn meets_limits(&self) -> Option<bool> {
        let good = self.goodput_per_s?;
        let [all, each] = self.required;
        // Rates are quotients of the same duration.
        let enough = good >= all * self.metrics.requests_per_s * (1.0 - ROUNDING);
        let each = self.limits.iter().all(|kept| kept.share >= each * (1.0 - ROUNDING));
        Some(self.saturation.is_none() && enough && each)
    }

    /// The run as a point of a curve, with its bands.
    pub fn point(&self, bands: Option<&Bands>) -> Point {
        let bands = bands.map(|bands| PointBands {
            ttft: bands.ttft.mean,
            tpot: bands.tpot.as_ref().map(|tpot| tpot.mean),
            output_per_s: bands.output_per_s,
            chance_within_limits: bands.keep(self),
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
