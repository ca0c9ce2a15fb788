//! Servers with separate prefill and decode workers.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::config::Version;

use super::served::{LoadKind, MeasuredLine, ServedCase};
use crate::evidence::compared::Times;

/// A closed loop against two pools of workers.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Line")]
pub struct PoolCase {
    /// What the case has in common with a run of a single server; the layout is that of a decode replica.
    pub served: ServedCase,
    pub prefill: Workers,
    pub decode: Workers,
    /// Whether tokens are drafted; `None` if unknown.
    pub drafting: Option<bool>,
    /// The workers and layouts are ambiguous.
    pub ambiguous: bool,
    /// Requests in the run; `None` for ten per client.
    pub prompts: Option<u32>,
    /// What routed requests: Dynamo, or `None` for the engine's own router.
    pub runtime: Option<String>,
}

/// Workers of one pool, as labelled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Workers {
    #[serde(rename = "workers")]
    pub count: Option<u32>,
    /// Per worker.
    #[serde(rename = "gpus_per_worker")]
    pub gpus: Option<u32>,
    pub tp: u32,
    pub pp: u32,
    #[serde(rename = "moe_ep")]
    pub ep: u32,
    pub attention_dp: u32,
    /// The layout according to the recipe, if known: EP, and whether attention is data parallel.
    #[serde(rename = "layout", default, deserialize_with = "recipe_layout")]
    pub recipe_layout: Option<(u32, bool)>,
    /// Maximum sequences of the worker or of a rank; some values are placeholders.
    pub max_batch: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct Line {
    kind: String,
    id: String,
    source: String,
    model: String,
    engine: String,
    runtime: Option<String>,
    runtime_version: Option<Version>,
    gpu: String,
    precision: String,
    moe_precision: Option<String>,
    isl: f64,
    osl: f64,
    length_range: Option<[f64; 2]>,
    concurrency: u32,
    prompts: Option<u32>,
    measured_on: Option<String>,
    image: Option<String>,
    prefill: Option<Workers>,
    decode: Option<Workers>,
    prefill_workers: Option<u32>,
    decode_workers: Option<u32>,
    tp: Option<u32>,
    drafting_mtp: Option<bool>,
    layout_confidence: Option<String>,
    ttft_ms: Option<f64>,
    tpot_ms: Option<f64>,
    throughput_tok_s: Option<f64>,
    measured: MeasuredLine,
}

#[derive(Debug, Deserialize)]
struct LayoutLine {
    ep: u32,
    /// True, false, or a number of ranks.
    attention_dp: Option<Value>,
    dp: Option<Value>,
}

fn recipe_layout<'de, D: Deserializer<'de>>(line: D) -> Result<Option<(u32, bool)>, D::Error> {
    let parallel = |value: Value| value.as_bool().or(value.as_u64().map(|ranks| ranks > 1));
    let layout = Option::<LayoutLine>::deserialize(line)?;
    Ok(layout.map(|layout| {
        let said = layout.attention_dp.or(layout.dp);
        (layout.ep, said.and_then(parallel).unwrap_or(false))
    }))
}

impl TryFrom<Line> for PoolCase {
    type Error = String;

    fn try_from(line: Line) -> Result<Self, String> {
        // In the other kind of label all workers are equal and counted separately.
        let alike = |count: Option<u32>| {
            let tp = line.tp.ok_or("neither layouts nor TP are given")?;
            Ok::<_, String>(Workers {
                count,
                gpus: Some(tp),
                tp,
                pp: 1,
                ep: 1,
                attention_dp: 1,
                ..Workers::default()
            })
        };
        let prefill = line.prefill.map_or_else(|| alike(line.prefill_workers), Ok)?;
        let decode = line.decode.map_or_else(|| alike(line.decode_workers), Ok)?;
        let of_others = line.kind == "disaggregated_closed_loop";
        let measured = Times {
            ttft_ms: line.ttft_ms.or(line.measured.ttft_ms),
            tpot_ms: line.tpot_ms.or(line.measured.tpot_ms),
            output_per_s: line.throughput_tok_s,
            ..Times::default()
        };
        let served = ServedCase {
            id: line.id,
            kind: LoadKind::ClosedLoop,
            source: line.source,
            model: line.model,
            engine: line.engine,
            engine_version: line.runtime_version,
            gpu: line.gpu,
            pp: 1,
            precision: line.precision,
            moe_precision: line.moe_precision,
            isl: line.isl.round() as u32,
            osl: line.osl.round() as u32,
            length_range: line.length_range,
            concurrency: line.concurrency,
            measured_on: line.measured_on,
            image: line.image,
            outside: true,
            measured,
            ..ServedCase::default()
        };
        Ok(Self {
            served,
            prefill,
            decode,
            drafting: if of_others { Some(false) } else { line.drafting_mtp },
            ambiguous: line.layout_confidence.as_deref() == Some("ambiguous"),
            prompts: line.prompts,
            runtime: line.runtime,
        })
    }
}
