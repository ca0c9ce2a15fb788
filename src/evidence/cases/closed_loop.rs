//! Servers under clients that each send their next request when the last one ends.

use serde::Deserialize;

use crate::evidence::compared::Metric;

/// A server under clients that each send their next request when the last one ends.
///
/// The layout is what the source says; [`crate::evidence::launch::launch`] says what really ran.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ClosedLoopCase {
    pub id: String,
    /// Who measured it: the table and its part.
    pub source: String,
    pub model: String,
    pub engine: String,
    pub engine_version: Option<String>,
    pub gpu: String,
    pub gpus: u32,
    pub tp: u32,
    pub pp: u32,
    pub ep: u32,
    pub dp_attention: u32,
    pub precision: String,
    pub moe_precision: Option<String>,
    /// Nominal prompt, in tokens: the longest where lengths are drawn.
    pub isl: u32,
    /// Nominal answer, in tokens.
    pub osl: u32,
    /// Shares of the nominal lengths between which each length is drawn, evenly; none if all are equal.
    pub length_range: Option<[f64; 2]>,
    /// Clients.
    pub concurrency: u32,
    /// Day of the run, `YYYY-MM-DD`.
    pub measured_on: Option<String>,
    /// Container image, or where that is lost, what else names the run.
    pub image: Option<String>,
    pub measured: LoopTimes,
}

/// Means over the requests of a closed loop, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct LoopTimes {
    pub ttft_ms: f64,
    pub tpot_ms: f64,
}

impl ClosedLoopCase {
    pub const METRICS: [Metric; 2] = [Metric::Ttft, Metric::Tpot];
}
