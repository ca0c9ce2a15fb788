//! One plan: a layout and its replicas, with what was simulated of it.

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::Value;

use crate::config::link::{Link, encode};
use crate::config::{Dtype, Field, Issue, Scenario, Setup};
use crate::serving::run::{Bands, Power, Run};
use crate::serving::sim::{Kept, Stats};

/// What plans are ranked by: dollars per hour; those without a known price come last, by GPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Worth {
    Dollars(f64),
    Gpus(f64),
}

impl Worth {
    /// Of so many replicas.
    pub fn of(setup: &Setup, replicas: u32) -> Self {
        let gpus = f64::from(setup.gpus_per_replica()) * f64::from(replicas);
        setup.price.map_or(Self::Gpus(gpus), |price| Self::Dollars(price * gpus))
    }

    pub fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Dollars(one), Self::Dollars(other)) | (Self::Gpus(one), Self::Gpus(other)) => {
                one.total_cmp(&other)
            }
            (Self::Dollars(_), Self::Gpus(_)) => Ordering::Less,
            (Self::Gpus(_), Self::Dollars(_)) => Ordering::Greater,
        }
    }
}

/// The limit that breaks furthest, or the load that is not kept up with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "BrokenLimit"))]
pub struct Broken {
    /// `slo_ttft`, `slo_tpot`, `slo_e2e` or `slo_share`; the field of the load where more arrives than is served.
    pub field: Field,
    /// What came of it, in seconds; a share of requests for `slo_share`, requests per second served for a load.
    pub at: f64,
    /// What was asked for, likewise.
    pub limit: f64,
    pub text: String,
}

/// A configuration that serves the load, all figures those of its simulated run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Plan {
    /// The fragment of a link that opens it.
    pub link: String,
    /// The same as a scenario in the JSON form.
    #[cfg_attr(test, ts(type = "Config"))]
    pub config: Value,
    /// In a few words: `3 x B200, NVFP4, vLLM, TP 1`.
    pub name: String,
    pub gpu: String,
    pub gpus: u32,
    pub replicas: u32,
    /// Of all GPUs, where their price is known; as are the next five.
    pub dollars_per_hour: Option<f64>,
    /// What the price of a GPU is: on demand or reserved with the source of the catalog, given, or of own hardware.
    pub price_from: Option<String>,
    /// With a spare replica, so that the limits hold while one is down (N+1).
    pub dollars_per_hour_with_spare: Option<f64>,
    /// All of the cost over the prompt tokens alone.
    pub dollars_per_million_input: Option<f64>,
    /// The same over the output tokens alone.
    pub dollars_per_million_output: Option<f64>,
    /// Prompt and output tokens together.
    pub dollars_per_million_total: Option<f64>,
    /// Seconds.
    pub ttft: Stats,
    /// None for one output token.
    pub tpot: Option<Stats>,
    pub e2e: Stats,
    /// All replicas together.
    pub requests_per_s: f64,
    pub output_per_s: f64,
    pub total_per_s: f64,
    /// Watts and joules; none if the power of the GPU is unknown.
    pub power: Option<Power>,
    /// What 80 % of measurements are expected between; none without calibration, or as long as that is not known.
    pub bands: Option<Bands>,
    /// The probability that measurements keep to every limit; none without limits, or as long as `bands` is not known.
    pub keeps_with: Option<f64>,
    /// Every limit with what came of it, at the percentile that is asked for.
    pub limits: Vec<Kept>,
    /// Share of requests that keep to all limits; none without limits.
    pub goodput_share: Option<f64>,
    /// Times the load that these replicas take before a limit breaks; none where that is not known yet.
    pub headroom: Option<f64>,
    /// Whether more than `headroom` times the load was not tried.
    pub headroom_is_least: bool,
    /// What breaks with one replica less; none if that was not simulated, or there is one alone.
    pub one_less: Option<Broken>,
    /// Why it comes after the first; none for that.
    pub behind: Option<String>,
    /// What is to know about it: estimates, and what was not measured.
    pub issues: Vec<Issue>,
}

/// A layout with its replicas, as the search keeps it.
#[derive(Debug, Clone)]
pub struct Found {
    pub scenario: Scenario,
    pub setup: Setup,
    pub issues: Vec<Issue>,
    pub replicas: u32,
    pub run: Run,
    pub one_less: Option<Broken>,
    /// Times the load, and whether more was not tried.
    pub headroom: Option<(f64, bool)>,
    pub bands: Option<Bands>,
}

impl Found {
    pub fn worth(&self) -> Worth {
        Worth::of(&self.setup, self.replicas)
    }

    /// Share of requests that keep to all limits.
    pub fn share(&self) -> Option<f64> {
        share(&self.run)
    }

    /// The better first: by cost, then by GPUs, then by how many requests keep to the limits and how fast they are.
    pub fn order(&self, other: &Self) -> Ordering {
        let gpus = |found: &Self| u64::from(found.setup.gpus_per_replica()) * u64::from(found.replicas);
        self.worth()
            .order(other.worth())
            .then(gpus(self).cmp(&gpus(other)))
            .then(other.share().unwrap_or(1.0).total_cmp(&self.share().unwrap_or(1.0)))
            .then(self.run.metrics.e2e.mean.total_cmp(&other.run.metrics.e2e.mean))
            .then_with(|| encode(&self.scenario).cmp(&encode(&other.scenario)))
    }

    pub fn scenario(&self) -> Scenario {
        Scenario { replicas: self.replicas, ..self.scenario.clone() }
    }

    /// As it is shown, `behind` saying why it is not the first.
    pub fn plan(&self, name: String, behind: Option<String>) -> Plan {
        let link = Link::new(self.scenario());
        let metrics = &self.run.metrics;
        let gpus = self.setup.gpus_per_replica() * self.replicas;
        let hourly = self.setup.price.map(|price| price * f64::from(gpus));
        let per_million = |tokens_per_s: f64| hourly.map(|dollars| dollars / 3600.0 / tokens_per_s * 1e6);
        Plan {
            link: link.encode(),
            config: link.to_json(),
            name,
            gpu: self.setup.gpu.id.clone(),
            gpus,
            replicas: self.replicas,
            dollars_per_hour: hourly,
            price_from: None,
            dollars_per_hour_with_spare: hourly.map(|dollars| dollars + dollars / f64::from(self.replicas)),
            dollars_per_million_input: per_million(metrics.total_per_s - metrics.output_per_s),
            dollars_per_million_output: per_million(metrics.output_per_s),
            dollars_per_million_total: per_million(metrics.total_per_s),
            ttft: metrics.ttft,
            tpot: metrics.tpot,
            e2e: metrics.e2e,
            requests_per_s: metrics.requests_per_s,
            output_per_s: metrics.output_per_s,
            total_per_s: metrics.total_per_s,
            power: self.run.power,
            bands: self.bands.clone(),
            keeps_with: self.bands.as_ref().and_then(|bands| bands.keep(&self.run)),
            limits: self.run.limits.clone(),
            goodput_share: self.share(),
            headroom: self.headroom.map(|(times, _)| times),
            headroom_is_least: self.headroom.is_some_and(|(_, least)| least),
            one_less: self.one_less.clone(),
            behind,
            issues: self.issues.clone(),
        }
    }
}

/// What charts show of a plan that was simulated, whether it is among the best or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    pub gpu: String,
    pub engine: String,
    pub weights: Dtype,
    /// Output tokens per second.
    pub per_gpu: f64,
    /// None for one output token.
    pub per_user: Option<f64>,
    /// Where a price is known.
    pub dollars_per_million_output: Option<f64>,
    /// Seconds, on average.
    pub e2e: f64,
}

impl Tried {
    pub fn of(found: &Found) -> Self {
        let Found { setup, run, replicas, .. } = found;
        let gpus = f64::from(setup.gpus_per_replica() * replicas);
        let output = run.metrics.output_per_s;
        Self {
            gpu: setup.gpu.name.clone(),
            engine: setup.engine.name.clone(),
            weights: setup.weights,
            per_gpu: output / gpus,
            per_user: run.metrics.tpot.map(|tpot| 1.0 / tpot.mean),
            dollars_per_million_output: setup.price.map(|price| price * gpus / 3600.0 / output * 1e6),
            e2e: run.metrics.e2e.mean,
        }
    }
}

/// Share of requests that keep to all limits.
pub fn share(run: &Run) -> Option<f64> {
    run.goodput_per_s.map(|good| good / run.metrics.requests_per_s)
}

/// Whether a run keeps to its limits; where there are none, whether it keeps up with its load.
pub fn keeps(run: &Run) -> bool {
    run.keeps().unwrap_or(run.saturation.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_price_comes_first_then_the_cheaper() {
        let mut all = [Worth::Gpus(1.0), Worth::Dollars(9.0), Worth::Gpus(0.5), Worth::Dollars(2.0)];
        all.sort_by(|a, b| a.order(*b));
        assert_eq!(all, [Worth::Dollars(2.0), Worth::Dollars(9.0), Worth::Gpus(0.5), Worth::Gpus(1.0)]);
    }
}
