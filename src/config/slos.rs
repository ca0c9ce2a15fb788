//! The latency limits that requests have to meet.

use super::LatencyMetric;

/// Latency limits, and how many requests must meet them; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Slos {
    /// Milliseconds to the first token.
    pub ttft_ms: Option<f64>,
    /// Milliseconds per output token after the first.
    pub tpot_ms: Option<f64>,
    /// Milliseconds to the last token.
    pub e2e_ms: Option<f64>,
    /// Percentile at which each limit applies separately, if any.
    pub percentile: Option<f64>,
    /// Share of requests that meet all limits at once, 0..1.
    pub share: Option<f64>,
}

impl Slos {
    /// Required share of requests that meet all limits if neither a share nor a percentile is given.
    pub const SHARE: f64 = 0.99;

    /// The limits that are set, in seconds.
    pub fn limits(&self) -> impl Iterator<Item = (LatencyMetric, f64)> {
        let all = [self.ttft_ms, self.tpot_ms, self.e2e_ms];
        LatencyMetric::ALL.into_iter().zip(all).filter_map(|(metric, limit)| Some((metric, limit? * 1e-3)))
    }

    /// With the limits on tokens of `other` where there are none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let (ttft_ms, tpot_ms) = (self.ttft_ms.or(other.ttft_ms), self.tpot_ms.or(other.tpot_ms));
        Self { ttft_ms, tpot_ms, ..self }
    }

    /// The limit on a time, in milliseconds.
    pub fn limit_ms(&mut self, metric: LatencyMetric) -> &mut Option<f64> {
        metric.choose([&mut self.ttft_ms, &mut self.tpot_ms, &mut self.e2e_ms])
    }

    /// Required share of requests that meet all limits at once: 0 if only a percentile is given.
    pub fn share(&self) -> f64 {
        self.share.unwrap_or(if self.percentile.is_some() { 0.0 } else { Self::SHARE })
    }

    /// Required share of requests that meet each limit separately.
    pub fn share_of_each(&self) -> f64 {
        self.percentile.map_or(0.0, |percentile| percentile * 1e-2).max(self.share())
    }
}
