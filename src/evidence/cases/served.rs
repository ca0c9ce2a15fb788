//! Runs of a server: requests sent somehow, and the means of what clients saw.

use serde::Deserialize;
use serde_json::Value;
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::dtype;
use crate::config::ids::ids;
use crate::config::names::Resolved;
use crate::config::{Dtype, Version};
use crate::evidence::compared::{ComparedCase, ErrorMetric, Times};

/// How the requests of a run were sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum LoadKind {
    /// Clients that each send their next request when the previous one ends.
    #[default]
    ClosedLoop,
    /// All sent at once and none later; TTFT and TPOT were measured.
    Burst,
    /// All queued at once; only throughput was measured.
    Offline,
    /// At a rate, independent of answers.
    OpenLoop,
    /// A saturated server: throughput and ITL during that time.
    SteadyState,
}

ids!(LoadKind);

/// A run of a server. Read from a [`Line`], which supplies the skipped fields.
///
/// The layout is the one the source states; [`crate::evidence::launch::launch`] finds the one that really ran.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ServedCase {
    pub id: String,
    #[serde(skip)]
    pub kind: LoadKind,
    /// Who measured it: the table and its part.
    pub source: String,
    pub model: String,
    pub engine: String,
    pub engine_version: Option<Version>,
    pub gpu: String,
    pub gpus: u32,
    pub tp: u32,
    pub pp: u32,
    pub ep: u32,
    pub dp_attention: u32,
    pub precision: String,
    pub moe_precision: Option<String>,
    /// Nominal prompt, in tokens: the longest where lengths are drawn.
    #[serde(skip)]
    pub isl: u32,
    /// Nominal answer, in tokens.
    #[serde(skip)]
    pub osl: u32,
    /// Shares of the nominal lengths between which each length is drawn uniformly; `None` if all are equal.
    #[serde(skip)]
    pub length_range: Option<[f64; 2]>,
    /// Clients; 0 if their number is unknown.
    #[serde(skip)]
    pub concurrency: u32,
    /// Day of the run, `YYYY-MM-DD`.
    pub measured_on: Option<String>,
    /// Container image or, where it is unknown, something else that identifies the run.
    pub image: Option<String>,
    /// What the source publishes about how server and clients were started; `None` if nothing.
    #[serde(skip)]
    pub published: Option<Published>,
    /// Whether its file is outside every fit of constants.
    #[serde(skip)]
    pub outside: bool,
    #[serde(skip)]
    pub measured: Times,
    /// Whether its TPOT is derived from means: (E2E - TTFT) / (output tokens - 1). A client that merged the chunks of a
    /// stream knows no other. Only for open loops.
    #[serde(skip)]
    pub tpot_of_means: bool,
}

/// What a source publishes about how a run was started.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Published {
    /// The server's command or configuration file.
    pub launch: String,
    pub client: String,
    pub note: String,
    pub kv_dtype: Option<String>,
    /// Mean prompt and answer in tokens, if lengths differ.
    pub means: [f64; 2],
    pub lengths: LengthSource,
    /// Requests of the run.
    pub prompts: Option<u32>,
    /// Requests per second; infinite if all come at once.
    pub rate: Option<f64>,
    pub max_num_seqs: Option<u32>,
    /// Tokens that a step with drafts yields, including the newest one.
    pub accept_length: Option<f64>,
}

/// How the lengths of requests vary, if a source says so.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum LengthSource {
    /// Lengths do not vary, or within the case's `length_range`.
    #[default]
    Nominal,
    /// Conversations of ShareGPT, as the benchmarks of vLLM and SGLang choose them.
    ShareGpt,
    /// Prompts of a data set whose lengths are not published, and a histogram of answers: its edges in tokens, and the
    /// number of requests in each bin.
    Histogram { task: String, edges: Vec<f64>, counts: Vec<u32> },
}

impl ServedCase {
    pub const METRICS: [ErrorMetric; 7] = [
        ErrorMetric::Ttft,
        ErrorMetric::Tpot,
        ErrorMetric::Throughput,
        ErrorMetric::JoulesPerOutputToken,
        ErrorMetric::JoulesAtMeasuredRate,
        ErrorMetric::Power,
        ErrorMetric::TtftMedian,
    ];

    /// The case as a comparison, still without predictions.
    pub fn compared(&self) -> ComparedCase {
        ComparedCase {
            outside: self.outside,
            concurrency: Some(self.concurrency),
            measured: self.measured,
            ..super::compared([&self.id, &self.model, &self.engine, &self.gpu, &self.source])
        }
    }

    /// The checkpoint's format: that of its name, or else the source's label. Sources give FP8 checkpoints the same label
    /// whatever their scales, and label 4-bit integers by their use.
    ///
    /// # Errors
    /// A label that is no format.
    pub fn weights(&self, named: &Resolved) -> Result<Dtype, String> {
        let of_experts = self.moe_precision.as_deref();
        let scaled_by_block = match named.weights {
            Some(weights) => weights == Dtype::Fp8Block,
            None => named.model.weights == Dtype::Fp8Block,
        };
        match self.precision.as_str() {
            "fp8" if of_experts == Some("fp8_block") || scaled_by_block => Ok(Dtype::Fp8Block),
            other => dtype(other),
        }
    }

    /// The source; if some of its runs are in the fits and others are not, also which of these this run is.
    pub fn source_label(&self) -> String {
        match self.outside && self.published.is_none() {
            true => format!("{} (not fitted on)", self.source),
            false => self.source.clone(),
        }
    }
}

/// A line of the tables.
#[derive(Debug, Deserialize)]
pub(super) struct Line {
    #[serde(flatten)]
    case: ServedCase,
    kind: String,
    kv_dtype: Option<String>,
    #[serde(default)]
    isl: f64,
    osl: f64,
    isl_mean: Option<f64>,
    osl_mean: Option<f64>,
    length_range: Option<Value>,
    #[serde(default)]
    task: String,
    output_length_histogram: Option<HistogramLine>,
    concurrency: Option<u32>,
    prompts: Option<u32>,
    request_rate: Option<Value>,
    max_num_seqs: Option<u32>,
    launch: Option<String>,
    client: Option<String>,
    note: Option<String>,
    #[serde(default)]
    section: String,
    ttft_ms: Option<f64>,
    tpot_ms: Option<f64>,
    itl_median_ms: Option<f64>,
    throughput_tok_s: Option<f64>,
    joules_per_output_token: Option<f64>,
    avg_power_w_per_gpu: Option<f64>,
    measured: MeasuredLine,
}

#[derive(Debug, Deserialize)]
struct HistogramLine {
    bins: Vec<f64>,
    counts: Vec<u32>,
}

#[derive(Debug, Deserialize)]
pub(super) struct MeasuredLine {
    pub ttft_ms: Option<f64>,
    ttft_median_ms: Option<f64>,
    pub tpot_ms: Option<f64>,
    e2e_ms: Option<f64>,
    accept_length: Option<f64>,
}

impl TryFrom<Line> for ServedCase {
    type Error = String;

    fn try_from(line: Line) -> Result<Self, String> {
        let kind = match line.kind.as_str() {
            "open_loop_constant" => LoadKind::OpenLoop,
            name => LoadKind::from_id(name).ok_or("not a run of a server")?,
        };
        let shares = |value: &Value| -> Option<[f64; 2]> { serde_json::from_value(value.clone()).ok() };
        let length_range = line.length_range.as_ref().and_then(shares);
        let of_share_gpt = line.length_range.as_ref().and_then(Value::as_str) == Some("ShareGPT");
        let means = [line.isl_mean.unwrap_or(line.isl), line.osl_mean.unwrap_or(line.osl)];
        // SGLang's benchmark uses ShareGPT if no data set is named, whatever lengths are given.
        let other = line.isl_mean.is_some() && length_range.is_none();
        let lengths = match line.output_length_histogram {
            Some(HistogramLine { bins, counts }) => {
                LengthSource::Histogram { task: line.task, edges: bins, counts }
            }
            None if of_share_gpt || other => LengthSource::ShareGpt,
            None => LengthSource::Nominal,
        };
        // Sections named by a rate hold runs at that rate, whatever the column says: their throughput agrees.
        let of_section = line.section.strip_prefix("Rate ").and_then(|rate| rate.parse().ok());
        let rate = line.request_rate.as_ref().and_then(|rate| match rate.as_str() {
            Some("inf") => Some(f64::INFINITY),
            _ => of_section.or(rate.as_f64()),
        });
        let constant = line.kind == "open_loop_constant";
        let published = line.launch.map(|launch| Published {
            launch,
            client: line.client.unwrap_or_default() + if constant { " constant" } else { "" },
            note: line.note.unwrap_or_default(),
            kv_dtype: line.kv_dtype,
            means,
            lengths,
            prompts: line.prompts,
            rate,
            max_num_seqs: line.max_num_seqs,
            accept_length: line.measured.accept_length,
        });
        let (ttft_ms, tpot_ms) = match published {
            // What of these can be trusted stands outside of what was printed.
            Some(_) => (line.ttft_ms, line.tpot_ms.or(line.itl_median_ms)),
            None => (line.measured.ttft_ms, line.measured.tpot_ms),
        };
        let later = means[1] - 1.0;
        let of_means =
            || Some((line.measured.e2e_ms? - ttft_ms?) / later).filter(|tpot| *tpot > 0.0 && later > 0.0);
        let derived = if kind == LoadKind::OpenLoop && tpot_ms.is_none() { of_means() } else { None };
        let (tpot_ms, tpot_of_means) = (tpot_ms.or(derived), derived.is_some());
        let joules_per_output_token = line.joules_per_output_token;
        let measured = Times {
            ttft_ms,
            ttft_median_ms: line.measured.ttft_median_ms,
            tpot_ms,
            output_per_s: line.throughput_tok_s,
            joules_per_output_token,
            joules_at_measured_rate: joules_per_output_token,
            power_w_per_gpu: line.avg_power_w_per_gpu,
            ..Times::default()
        };
        Ok(Self {
            kind,
            isl: line.isl.round() as u32,
            osl: line.osl.round() as u32,
            length_range,
            concurrency: line.concurrency.unwrap_or(0),
            published,
            outside: true,
            measured,
            tpot_of_means,
            ..line.case
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A published run whose client knows no TPOT.
    fn tpot(kind: &str, output: f64) -> (Option<f64>, bool) {
        let line = serde_json::json!({
            "kind": kind, "id": "", "source": "", "model": "", "engine": "", "gpu": "", "gpus": 1, "tp": 1, "pp": 1,
            "ep": 1, "dp_attention": 1, "precision": "bf16", "isl": 100, "osl": output, "launch": "", "ttft_ms": 50.0,
            "measured": {"ttft_ms": 50.0, "tpot_ms": 0.1, "e2e_ms": 1050.0},
        });
        let case: ServedCase =
            serde_json::from_value::<Line>(line).expect("a line").try_into().expect("a run");
        (case.measured.tpot_ms, case.tpot_of_means)
    }

    #[test]
    fn tpot_of_an_open_loop_follows_from_e2e_where_the_client_knows_none() {
        assert_eq!(tpot("open_loop", 101.0), (Some(10.0), true));
        assert_eq!(tpot("open_loop_constant", 101.0), (Some(10.0), true));
        assert_eq!(tpot("burst", 101.0), (None, false));
        assert_eq!(tpot("open_loop", 1.0), (None, false));
    }
}
