//! The latency limits that requests have to meet.

use super::Field;

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

    /// The limits that are set, by input, in seconds.
    pub fn limits(&self) -> impl Iterator<Item = (Field, f64)> {
        let all =
            [(Field::SloTtft, self.ttft_ms), (Field::SloTpot, self.tpot_ms), (Field::SloE2e, self.e2e_ms)];
        all.into_iter().filter_map(|(field, limit)| Some((field, limit? * 1e-3)))
    }

    /// With the limits on tokens of `other` where there are none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let (ttft_ms, tpot_ms) = (self.ttft_ms.or(other.ttft_ms), self.tpot_ms.or(other.tpot_ms));
        Self { ttft_ms, tpot_ms, ..self }
    }

    /// What the limit of an input is on.
    pub fn metric(limit: Field) -> &'static str {
        match limit {
            Field::SloTtft => "TTFT",
            Field::SloTpot => "TPOT",
            _ => "E2E",
        }
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
