//! Measured end-to-end cases, one JSON object a line.

use serde::Deserialize;

use crate::config::catalog::Catalog;
use crate::config::{Dtype, Lengths, Load, ModelChoice, Overrides, Scenario, Workload};

/// A case of any kind; fields that a kind lacks are empty.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub id: String,
    pub kind: String,
    pub model: String,
    pub engine: String,
    pub gpu: String,
    pub tp: u32,
    pub pp: u32,
    pub precision: String,
    #[serde(default)]
    pub prompt_lens: Vec<u32>,
    #[serde(default)]
    pub output_len: u32,
    #[serde(default)]
    pub measured: Measured,
}

/// What was measured, in milliseconds.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct Measured {
    pub prefill_ms: Option<f64>,
    pub decode_step_ms: Option<f64>,
    pub total_ms: Option<f64>,
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

/// The catalog id of a published model, whichever of its names a table uses.
fn model_id(catalog: &Catalog, published: &str) -> Option<String> {
    let plain = |name: &str| name.replace("Meta-Llama", "Llama").to_lowercase();
    let wanted = plain(published);
    catalog.models.models.iter().find(|model| plain(&model.name) == wanted).map(|model| model.id.clone())
}

impl Case {
    /// The scenario of an offline batch.
    ///
    /// # Errors
    /// Why this case cannot be asked: shown beside its id in the report.
    pub fn scenario(&self, catalog: &Catalog) -> Result<Scenario, String> {
        if self.kind != "batch" {
            return Err(format!("kind {} is not an offline batch", self.kind));
        }
        let model = model_id(catalog, &self.model)
            .ok_or_else(|| format!("{} is not among the models of the catalog", self.model))?;
        let weights =
            Dtype::from_id(&self.precision).ok_or_else(|| format!("unknown precision {}", self.precision))?;
        let size = u32::try_from(self.prompt_lens.len()).map_err(|error| error.to_string())?;
        Ok(Scenario {
            model: ModelChoice::Catalog(model),
            gpu: self.gpu.clone(),
            engine: self.engine.clone(),
            tp: self.tp,
            pp: self.pp,
            dp: 1,
            ep: 1,
            replicas: 1,
            weights: Some(weights),
            kv: Dtype::Bf16,
            workload: Workload {
                isl: Lengths::Each(self.prompt_lens.clone()),
                osl: self.output_len,
                load: Load::Batch(size),
            },
            overrides: Overrides::default(),
        })
    }
}
