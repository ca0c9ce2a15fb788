//! Measured end-to-end cases, one JSON object a line.

use serde::Deserialize;

use crate::config::catalog::Catalog;
use crate::config::{Dtype, Lengths, Load, Model, ModelChoice, Overrides, Scenario, Workload};

/// A case of any kind.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Case {
    Batch(BatchCase),
    ClosedLoop(ClosedLoopCase),
    Trace(TraceCase),
    /// A kind of a later table, which none of the comparisons here can use.
    #[serde(other)]
    Unknown,
}

/// One offline batch: all prompts at once, no server.
#[derive(Debug, Clone, Deserialize)]
pub struct BatchCase {
    pub id: String,
    pub model: String,
    pub engine: String,
    pub gpu: String,
    pub tp: u32,
    pub pp: u32,
    pub precision: String,
    /// Tokens of each prompt.
    #[serde(default)]
    pub prompt_lens: Vec<u32>,
    /// Tokens of each answer.
    #[serde(default)]
    pub output_len: u32,
    #[serde(default)]
    pub measured: Measured,
}

/// What was measured of a batch, in milliseconds.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct Measured {
    pub prefill_ms: Option<f64>,
    pub decode_step_ms: Option<f64>,
    pub total_ms: Option<f64>,
}

/// A server under clients that each send their next request when the last one ends.
///
/// The layout is what the source says; [`super::launch::launch`] says what really ran.
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
    /// Shares of the nominal lengths between which each length is drawn, evenly; none where all are equal.
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

/// A server under requests that arrive when they arrive.
#[derive(Debug, Clone, Deserialize)]
pub struct TraceCase {
    pub id: String,
    pub model: String,
    pub engine: String,
    pub engine_version: Option<String>,
    pub gpu: String,
    pub tp: u32,
    pub pp: u32,
    /// Ranks of attention that each hold requests of their own.
    #[serde(default = "one")]
    pub dp_attention: u32,
    /// GPUs over which the experts are dealt.
    #[serde(default = "one")]
    pub ep: u32,
    pub precision: String,
    pub requests: Vec<TracedRequest>,
}

fn one() -> u32 {
    1
}

/// One request of a trace: when it came, its lengths in tokens, and how long it took.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct TracedRequest {
    pub arrival_s: f64,
    pub prompt: u32,
    pub output: u32,
    pub ttft_ms: f64,
    pub e2e_ms: f64,
}

/// Reads the lines of a case file.
///
/// # Errors
/// The first line that is not a case, by number.
pub fn read_cases(text: &str) -> Result<Vec<Case>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1))
        })
        .collect()
}

/// The catalog's record of a published model, whichever of its names a table uses; a later tuning of the same
/// architecture stands for it.
///
/// # Errors
/// That there is none.
pub(super) fn model<'a>(catalog: &'a Catalog, published: &str) -> Result<&'a Model, String> {
    const TUNINGS: [&str; 2] = ["-2507", "-instruct"];
    let plain = |name: &str| {
        let mut name = name.replace("Meta-Llama", "Llama").to_lowercase();
        for tuning in TUNINGS {
            name.truncate(name.strip_suffix(tuning).map_or(name.len(), str::len));
        }
        name
    };
    let exact = catalog.models.models.iter().find(|model| model.name == published);
    let wanted = plain(published);
    exact
        .or_else(|| catalog.models.models.iter().find(|model| plain(&model.name) == wanted))
        .ok_or_else(|| format!("{published} is not among the models of the catalog"))
}

/// A format by the tables' name.
///
/// # Errors
/// That there is none.
pub(super) fn dtype(precision: &str) -> Result<Dtype, String> {
    Dtype::from_id(precision).ok_or_else(|| format!("unknown precision {precision}"))
}

impl Case {
    pub fn batch(&self) -> Option<&BatchCase> {
        match self {
            Self::Batch(case) => Some(case),
            _ => None,
        }
    }

    pub fn trace(&self) -> Option<&TraceCase> {
        match self {
            Self::Trace(case) => Some(case),
            _ => None,
        }
    }

    pub fn closed_loop(&self) -> Option<&ClosedLoopCase> {
        match self {
            Self::ClosedLoop(case) => Some(case),
            _ => None,
        }
    }
}

impl BatchCase {
    /// The scenario of the batch.
    ///
    /// # Errors
    /// Why this case cannot be asked: shown beside its id in the report.
    pub fn scenario(&self, catalog: &Catalog) -> Result<Scenario, String> {
        let size = u32::try_from(self.prompt_lens.len()).map_err(|error| error.to_string())?;
        Ok(Scenario {
            model: ModelChoice::Catalog(model(catalog, &self.model)?.id.clone()),
            gpu: self.gpu.clone(),
            engine: self.engine.clone(),
            tp: self.tp,
            pp: self.pp,
            dp: 1,
            ep: 1,
            replicas: 1,
            weights: Some(dtype(&self.precision)?),
            kv: Dtype::Bf16,
            workload: Workload {
                isl: Lengths::Each(self.prompt_lens.clone()),
                osl: self.output_len,
                load: Load::Batch(size),
                ..Workload::default()
            },
            overrides: Overrides::default(),
            measured: crate::config::Measured::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read() {
        let text = concat!(
            r#"{"kind":"batch","id":"a","model":"m","engine":"e","gpu":"g","tp":1,"pp":1,"precision":"bf16","prompt_lens":[3,4],"output_len":5,"measured":{"prefill_ms":6.5}}"#,
            "\n",
            r#"{"kind":"closed_loop","id":"b","source":"s","model":"m","engine":"e","engine_version":null,"gpu":"g","gpus":2,"tp":2,"pp":1,"ep":1,"dp_attention":1,"precision":"fp8","moe_precision":null,"isl":8,"osl":9,"length_range":[0.8,1.0],"concurrency":10,"measured_on":null,"image":null,"measured":{"ttft_ms":11.0,"tpot_ms":12.0}}"#,
            "\n\n",
            r#"{"kind":"trace","id":"c","model":"m","engine":"e","engine_version":"1","gpu":"g","tp":1,"pp":1,"precision":"bf16","requests":[{"arrival_s":0.5,"prompt":3,"output":4,"ttft_ms":5.0,"e2e_ms":6.0}]}"#,
            "\n",
            r#"{"kind":"some day","id":"d","anything":[1]}"#,
        );
        let cases = read_cases(text).unwrap();
        assert_eq!(cases[0].batch().unwrap().prompt_lens, [3, 4]);
        let closed = cases[1].closed_loop().unwrap();
        assert_eq!((closed.concurrency, closed.length_range), (10, Some([0.8, 1.0])));
        assert!(matches!(&cases[2], Case::Trace(trace) if trace.requests[0].output == 4));
        assert!(matches!(cases[3], Case::Unknown));
        assert_eq!(cases.len(), 4);
        assert!(read_cases(r#"{"kind":"batch","id":"a"}"#).unwrap_err().starts_with("line 1: "));
    }
}
