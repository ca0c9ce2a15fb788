//! Measured end-to-end cases by kind, from JSON Lines.

mod batch;
mod pools;
mod served;
mod trace;

use serde::Deserialize;
use serde_json::Value;

use super::compared::{ComparedCase, SkippedCase};
use crate::config::names::{Resolved, resolve};
use crate::config::{Dtype, Issue, ModelChoice, Parallelism, Scenario};
use crate::efficiency::{Learned, Rows};

pub use batch::BatchCase;
pub use pools::{PoolCase, Workers};
pub use served::{LengthSource, LoadKind, Published, ServedCase};
pub use trace::{TraceCase, TracedRequest};

/// What ran, and who measured it.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Ran {
    pub id: String,
    /// The table and its part.
    pub source: String,
    pub model: String,
    pub engine: String,
    pub gpu: String,
    pub tp: u32,
    pub pp: u32,
    pub precision: String,
}

impl Ran {
    /// The configuration that ran, under the default load.
    fn scenario(&self) -> Result<Scenario, String> {
        Ok(Scenario {
            model: ModelChoice::Catalog(model(&self.model)?.model.id.clone()),
            gpu: self.gpu.clone(),
            engine: self.engine.clone(),
            parallel: Parallelism { tp: self.tp, pp: self.pp, ..Parallelism::NONE },
            weights: Some(dtype(&self.precision)?),
            ..Scenario::default()
        })
    }

    fn compared(&self) -> ComparedCase {
        compared([&self.id, &self.model, &self.engine, &self.gpu, &self.source])
    }
}

/// A comparison of the run that these identify, still without figures.
fn compared(names: [&str; 5]) -> ComparedCase {
    let [id, model, engine, gpu, source] = names.map(str::to_owned);
    ComparedCase { id, model, engine, gpu, source, ..ComparedCase::default() }
}

/// The cases of some files, by kind, and the skipped lines.
#[derive(Debug, Clone, Default)]
pub struct Cases {
    pub batches: Vec<BatchCase>,
    /// Runs of a server, of any kind.
    pub served: Vec<ServedCase>,
    /// Closed loops against prefill and decode workers.
    pub pools: Vec<PoolCase>,
    pub traces: Vec<TraceCase>,
    /// Lines of an unsupported kind, or malformed.
    pub skipped: Vec<SkippedCase>,
}

impl Cases {
    /// Adds the lines of a case file; `fitted` says whether constants were fitted on its batches and served runs.
    pub fn read(&mut self, text: &str, fitted: bool) -> Result<(), String> {
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let value: Value =
                serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1))?;
            let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
            let id = text("id").unwrap_or_else(|| format!("line {}", index + 1));
            let kind = text("kind").unwrap_or_default();
            if let Err(reason) = self.add(&kind, value, fitted) {
                self.skipped.push(SkippedCase { id, reason });
            }
        }
        Ok(())
    }

    fn add(&mut self, kind: &str, value: Value, fitted: bool) -> Result<(), String> {
        let unlike = |error: serde_json::Error| format!("not read as a case of kind {kind}: {error}");
        match kind {
            "batch" => {
                let mut case: BatchCase = serde_json::from_value(value).map_err(unlike)?;
                case.outside = !fitted;
                self.batches.push(case);
            }
            "closed_loop" | "burst" | "offline" | "open_loop" | "open_loop_constant" | "steady_state" => {
                let line: served::Line = serde_json::from_value(value).map_err(unlike)?;
                self.served.push(ServedCase { outside: !fitted, ..line.try_into()? });
            }
            "disaggregated" | "disaggregated_closed_loop" => {
                self.pools.push(serde_json::from_value(value).map_err(unlike)?);
            }
            "trace" => self.traces.push(serde_json::from_value(value).map_err(unlike)?),
            "" => return Err("a case without a kind".into()),
            other => return Err(format!("cases of kind {other} are not compared")),
        }
        Ok(())
    }
}

/// Runs the models on a plan's rows.
pub type AskLearned<'a> = dyn Fn(&Rows) -> Result<Learned, String> + Sync + 'a;

/// The catalog's record of a published model, and the format given by its name.
pub(in crate::evidence) fn model(published: &str) -> Result<Resolved, String> {
    resolve(published).map_err(|_| format!("{published} is not among the models of the catalog"))
}

/// A format by its name in the tables.
pub(in crate::evidence) fn dtype(precision: &str) -> Result<Dtype, String> {
    match precision {
        "fp16" => Ok(Dtype::Bf16),
        "int4_wo" => Ok(Dtype::Int4),
        other => Dtype::from_id(other).ok_or_else(|| format!("unknown precision {other}")),
    }
}

/// The errors among issues, as one text.
pub(in crate::evidence) fn texts(issues: &[Issue]) -> String {
    let errors = issues.iter().filter(|issue| issue.is_error());
    errors.map(|issue| issue.text.as_str()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_case_is_read_and_others_are_named() {
        let text = concat!(
            r#"{"kind":"batch","id":"a","source":"s","model":"m","engine":"e","gpu":"g","tp":1,"pp":1,"precision":"bf16","prompt_lens":[3,4],"output_len":5,"measured":{"prefill_ms":6.5}}"#,
            "\n",
            r#"{"kind":"closed_loop","id":"b","source":"s","model":"m","engine":"e","engine_version":null,"gpu":"g","gpus":2,"tp":2,"pp":1,"ep":1,"dp_attention":1,"precision":"fp8","moe_precision":null,"isl":8,"osl":9,"length_range":[0.8,1.0],"concurrency":10,"measured_on":null,"image":null,"measured":{"ttft_ms":11.0,"tpot_ms":12.0}}"#,
            "\n\n",
            r#"{"kind":"trace","id":"c","source":"s","model":"m","engine":"e","engine_version":"1","gpu":"g","tp":1,"pp":1,"precision":"bf16","requests":[{"arrival_s":0.5,"prompt":3,"output":4,"ttft_ms":5.0,"e2e_ms":6.0}]}"#,
            "\n",
            r#"{"kind":"some day","id":"d","anything":[1]}"#,
            "\n",
            r#"{"kind":"batch","id":"e"}"#,
            "\n",
            r#"{"model":"m"}"#,
        );
        let mut cases = Cases::default();
        cases.read(text, true).unwrap();
        assert_eq!(
            [cases.batches.len(), cases.served.len(), cases.pools.len(), cases.traces.len()],
            [1, 1, 0, 1]
        );
        assert_eq!(cases.batches[0].prompt_lens, [3, 4]);
        let closed = &cases.served[0];
        assert_eq!((closed.concurrency, closed.length_range), (10, Some([0.8, 1.0])));
        assert_eq!(cases.traces[0].requests[0].output, 4);
        let skipped: Vec<_> =
            cases.skipped.iter().map(|one| (one.id.as_str(), one.reason.as_str())).collect();
        assert_eq!(skipped[0], ("d", "cases of kind some day are not compared"));
        assert!(skipped[1].0 == "e" && skipped[1].1.contains("missing field"), "{skipped:?}");
        assert_eq!(skipped[2], ("line 7", "a case without a kind"));
        assert!(cases.read("{}\n{", true).unwrap_err().starts_with("line 2: "));
    }
}
