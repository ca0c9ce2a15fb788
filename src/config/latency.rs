//! The times of a request that users notice, each of which may have a limit.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::Field;

/// A time of a request. JSON names it by the input of its limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum LatencyMetric {
    /// To the first token.
    #[default]
    #[serde(rename = "slo_ttft")]
    Ttft,
    /// Per output token after the first; of a single token there is none.
    #[serde(rename = "slo_tpot")]
    Tpot,
    /// To the last token.
    #[serde(rename = "slo_e2e")]
    E2e,
}

impl LatencyMetric {
    pub const ALL: [Self; 3] = [Self::Ttft, Self::Tpot, Self::E2e];

    /// The stable name: in figures and in the page.
    pub fn id(self) -> &'static str {
        self.into()
    }

    pub fn name(self) -> &'static str {
        self.choose(["TTFT", "TPOT", "E2E"])
    }

    /// Whether it contains the wait in a queue.
    pub fn queues(self) -> bool {
        self != Self::Tpot
    }

    /// The input of its limit.
    pub fn limit(self) -> Field {
        self.choose([Field::SloTtft, Field::SloTpot, Field::SloE2e])
    }

    /// What the limit of an input is on; `None` for other inputs.
    pub fn of_limit(field: Field) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.limit() == field)
    }

    /// Its own of the values for TTFT, TPOT and E2E.
    pub fn choose<T>(self, [ttft, tpot, e2e]: [T; 3]) -> T {
        match self {
            Self::Ttft => ttft,
            Self::Tpot => tpot,
            Self::E2e => e2e,
        }
    }
}
