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

/// What the cases of a group share, or whose errors they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grouping {
    #[default]
    All,
    Engine,
    Gpu,
    Model,
    Clients,
    /// Closed loops whose launch is recorded, with nothing inferred.
    #[serde(rename = "known launch")]
    KnownLaunch,
    #[serde(rename = "few clients")]
    FewClients,
    /// Errors without calibration.
    Physics,
    /// Errors of the plain roofline.
    Roofline,
    /// Errors of another predictor.
    Peer,
    /// Our errors on the cases of that predictor.
    Ours,
    /// Errors without runs of the same engine version, in addition to those of the same configuration.
    #[serde(rename = "without version")]
    WithoutVersion,
    #[serde(rename = "without model")]
    WithoutModel,
    #[serde(rename = "without gpu")]
    WithoutGpu,
    /// Runs that nothing was fitted on.
    Outside,
}

/// Errors of some cases.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorGroup {
    pub of: Grouping,
    /// The engine, GPU, model, predictor or source; empty where the grouping says it all.
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

/// The kind of a measured case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseKind {
    #[default]
    Loop,
    Batch,
    Trace,
}

/// One measured case: times in milliseconds, output in tokens per second, in the order of its kind's metrics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CasePoint {
    /// The id in its source table; the page is built without it.
    #[serde(default)]
    pub id: String,
    pub kind: CaseKind,
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

impl Accuracy {
    pub fn parse(text: &str) -> Result<Self, String> {
        from_json(text).map_err(|fault| fault.to_string())
    }

    /// One record per line, for readable diffs.
    pub fn print(&self) -> String {
        serde_json::to_string(self).unwrap_or_default().replace("},{", "},\n{") + "\n"
    }

    /// The group of this kind and name.
    pub fn closed_loops(&self, of: Grouping, name: &str) -> Option<&ErrorGroup> {
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
            of: Grouping::Engine,
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
        assert_eq!(accuracy.closed_loops(Grouping::Engine, "vllm").map(|group| group.cases), Some(3));
        assert_eq!(accuracy.closed_loops(Grouping::Gpu, "vllm"), None);
    }
}
