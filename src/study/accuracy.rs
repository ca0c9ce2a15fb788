//! Prediction errors against measurements: the report of `evaluate evidence`, shipped with the models.

use serde::{Deserialize, Serialize};

use crate::config::objects::from_json;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Release of the models it was measured with.
    pub release: String,
    /// SHA-256 of each model by family: other models make the report stale.
    pub models: Vec<Weights>,
    /// Errors of closed loops: TTFT, TPOT.
    pub loops: Vec<ErrorGroup>,
    /// Errors of offline batches: prefill, decode step, total.
    pub batches: Vec<ErrorGroup>,
    /// Errors of traces: TTFT, TPOT, output per second.
    pub traces: Vec<ErrorGroup>,
    /// Errors of served runs that nothing was fitted on, by kind and source: TTFT, TPOT, output per second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<ErrorGroup>,
    /// Errors of kernel times.
    pub kernels: Vec<Kernels>,
    /// Percentage of closed loops within their 80 % bands: TTFT, TPOT.
    pub covered: Vec<f64>,
    /// Pairs of closed loops that differ in one thing, predicted without runs of either configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<Ranked>,
    /// Confidence in which of such a pair is faster, and how often that was correct.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reliability: Vec<Reliability>,
    /// Cases left out, by reason.
    pub skipped: Vec<Skipped>,
    pub points: Vec<CasePoint>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    pub family: String,
    pub sha256: String,
}

/// Cases of a kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorGroup {
    /// The grouping: `all`, `engine`, `gpu`, `model`, `clients`; whose errors: `physics` alone, `roofline`, a
    /// `peer`'s, or `ours` on that peer's cases; or what was left out in addition to the configuration: `without
    /// version`, `without model`, `without gpu`.
    pub of: String,
    pub name: String,
    pub cases: u32,
    /// One per metric; `None` if not measured.
    pub errors: Vec<Option<Error>>,
}

/// An error in % of the measured value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Error {
    pub mean: f64,
    pub median: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Kernels {
    pub family: String,
    pub rows: u32,
    pub error: Error,
    /// Mean error of the plain roofline on the same rows, in %.
    pub roofline: f64,
}

/// Pairs measured more than 10 % apart, and how often the faster run was identified.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The difference: `gpu`, `layout`, `format`, `engine`, `version`.
    pub difference: String,
    /// TTFT or TPOT.
    pub metric: String,
    pub pairs: u32,
    /// Share of pairs ranked correctly with calibration, in %; `physics` is that of the physics alone.
    pub right: f64,
    pub physics: f64,
}

/// Pairs with similar confidence: means in %.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    pub metric: String,
    pub said: f64,
    pub came_true: f64,
    pub pairs: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub cases: u32,
    pub reason: String,
}

/// One measured case: times in milliseconds, output in tokens per second, in the order of its kind's metrics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CasePoint {
    /// The id in its source table; the page is built without it.
    #[serde(default)]
    pub id: String,
    /// `loop`, `batch` or `trace`.
    pub kind: String,
    pub model: String,
    pub engine: String,
    pub gpu: String,
    /// Parts of its link; the page is built without them.
    #[serde(default)]
    pub clients: Option<u32>,
    /// The configuration, as closely as a link can describe its launch.
    pub link: String,
    pub predicted: Vec<Option<f64>>,
    pub measured: Vec<Option<f64>>,
}

/// Start of the simulator's message when not even one prompt fits (`serving::sim`).
const NO_ROOM: &str = "request 0 needs ";

impl Accuracy {
    pub fn parse(text: &str) -> Result<Self, String> {
        from_json(text).map_err(|fault| fault.to_string())
    }

    /// One record per line, for readable diffs.
    pub fn print(&self) -> String {
        serde_json::to_string(self).unwrap_or_default().replace("},{", "},\n{") + "\n"
    }

    /// Reasons for leaving out cases, with counts.
    pub fn reasons(&self) -> impl Iterator<Item = (&str, u32)> {
        let mut reasons: Vec<(&str, u32)> = Vec::new();
        for Skipped { reason, cases } in &self.skipped {
            // Merges messages that differ only in size.
            let reason =
                if reason.starts_with(NO_ROOM) { "the weights leave no room for a prompt" } else { reason };
            match reasons.iter_mut().find(|(held, _)| *held == reason) {
                Some((_, held)) => *held += cases,
                None => reasons.push((reason, *cases)),
            }
        }
        reasons.into_iter()
    }

    /// The group of this kind and name.
    pub fn closed_loops(&self, of: &str, name: &str) -> Option<&ErrorGroup> {
        self.loops.iter().find(|group| group.of == of && group.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_documents_read_back() {
        let error = Error { mean: 12.5, median: 8.0 };
        let group = ErrorGroup {
            of: "engine".into(),
            name: "vllm".into(),
            cases: 3,
            errors: vec![Some(error), None],
        };
        let point = CasePoint {
            id: "a".into(),
            predicted: vec![Some(1.5)],
            measured: vec![None],
            ..CasePoint::default()
        };
        let loops = vec![group; 2];
        let accuracy =
            Accuracy { loops, points: vec![point; 2], covered: vec![81.5, 79.25], ..Accuracy::default() };
        assert_eq!(Accuracy::parse(&accuracy.print()), Ok(accuracy.clone()));
        assert_eq!(accuracy.closed_loops("engine", "vllm").map(|group| group.cases), Some(3));
        assert_eq!(accuracy.closed_loops("gpu", "vllm"), None);
    }
}
