//! Start-up memory from engine logs compared with predictions: weights, KV cache room, and whether the server
//! starts.

mod case;
pub mod report;
#[cfg(test)]
mod tests;
mod version;

use crate::config::Version;
use serde::{Deserialize, Serialize};

pub use case::compare;

/// One start as reported by its log.
#[derive(Debug, Clone, Deserialize)]
pub struct StartCase {
    pub id: String,
    /// The thread or repository the log is from.
    pub source: String,
    pub engine: String,
    pub engine_version: Option<Version>,
    pub model: String,
    pub gpu: String,
    pub tp: u32,
    pub pp: u32,
    pub dp: u32,
    /// Format of the weights as the source names it.
    pub weights: String,
    pub kv_dtype: Option<String>,
    pub memory_share: Option<f64>,
    pub max_model_len: Option<u32>,
    pub max_num_seqs: Option<u32>,
    pub max_num_batched_tokens: Option<u32>,
    #[serde(flatten)]
    pub logged: Sizes,
    /// Whether the logged tokens are derived, because layers keep different lengths.
    pub hybrid_kv: bool,
    pub failed_start: bool,
    #[serde(default)]
    pub enforce_eager: bool,
    #[serde(default)]
    pub note: String,
}

/// The figures that a log prints, or their prediction: for the fullest GPU, with the tokens of a replica.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    pub weights_gib: Option<f64>,
    pub activation_gib: Option<f64>,
    #[serde(alias = "non_torch_gib")]
    pub reserve_gib: Option<f64>,
    /// Negative if nothing is left.
    pub available_kv_gib: Option<f64>,
    pub kv_tokens: Option<f64>,
    #[serde(skip_deserializing)]
    pub starts: bool,
}

/// One start and its prediction.
#[derive(Debug, Clone, Serialize)]
pub struct ComparedStart {
    pub id: String,
    pub engine: String,
    pub model: String,
    pub gpu: String,
    /// What the log leaves open and was assumed, one sentence each.
    pub assumed: Vec<String>,
    /// Why the logged parts cannot all be true, if they cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<String>,
    pub hybrid_kv: bool,
    /// Whether the prediction says that it may be wrong about the start.
    pub near_edge: bool,
    pub predicted: Sizes,
    pub logged: Sizes,
}

/// Reads one case a line.
pub fn read(text: &str) -> Result<Vec<StartCase>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1)))
        .collect()
}
