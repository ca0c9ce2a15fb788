//! The ONNX models, run by tract. The one file that knows tract.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;
use std::sync::Arc;

use tract_onnx::prelude::*;

use super::{Learned, Manifest, ManifestError, Rows};
use crate::features::Family;

/// Rows are padded up to one of these, the larger batches cut into the largest: building a plan costs
/// milliseconds, so few sizes are planned and kept.
const BATCHES: [usize; 4] = [8, 64, 256, 1024];

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error("{path}: {reason}")]
    File { path: String, reason: String },
    #[error("the manifest names no model for {0}")]
    NoModel(&'static str),
    #[error("the {model} model has {found} bytes, its manifest says {expected}")]
    Length { model: &'static str, found: u64, expected: u64 },
    #[error("the {model} model: {error}")]
    Run { model: &'static str, error: String },
}

type Plan = Arc<TypedRunnableModel>;

/// One family's model.
#[derive(Debug)]
struct Model {
    family: Family,
    width: usize,
    model: InferenceModel,
    plans: RefCell<HashMap<usize, Plan>>,
}

/// The models of a release, ready to answer.
#[derive(Debug)]
pub struct Models {
    manifest: Manifest,
    models: BTreeMap<Family, Model>,
}

impl Models {
    /// From the manifest's text and each file's bytes, asked for by name.
    ///
    /// # Errors
    /// Where the manifest belongs to another build, or a model is cut off or not ONNX.
    pub fn new(
        manifest: &str,
        mut bytes: impl FnMut(&str) -> Result<Vec<u8>, ModelError>,
    ) -> Result<Self, ModelError> {
        let manifest = Manifest::parse(manifest)?;
        let mut models = BTreeMap::new();
        for (&family, record) in &manifest.families {
            let bytes = bytes(&record.file)?;
            let (found, expected) = (bytes.len() as u64, record.bytes);
            if found != expected {
                return Err(ModelError::Length { model: family.id(), found, expected });
            }
            models.insert(family, Model::new(family, record.features, &bytes)?);
        }
        Ok(Self { manifest, models })
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// ln(efficiency) of every row a plan asks for.
    ///
    /// # Errors
    /// Where a family has no model, or its model fails on the rows.
    pub fn answer(&self, rows: &Rows) -> Result<Learned, ModelError> {
        let mut ln_efficiency = BTreeMap::new();
        for (&family, asked) in rows.families() {
            ln_efficiency.insert(family, self.run(family, &asked.values)?);
        }
        let trained_on = self.manifest.trained_on();
        Ok(Learned { release: self.manifest.release.clone(), trained_on, ln_efficiency })
    }

    /// ln(efficiency) of `rows`, row-major and as wide as the family's schema.
    ///
    /// # Errors
    /// Where the family has no model, or it fails on the rows.
    pub fn run(&self, family: Family, rows: &[f32]) -> Result<Vec<f32>, ModelError> {
        self.models.get(&family).ok_or(ModelError::NoModel(family.id()))?.run(rows)
    }
}

impl Model {
    fn new(family: Family, width: usize, bytes: &[u8]) -> Result<Self, ModelError> {
        let model = onnx().model_for_read(&mut Cursor::new(bytes)).map_err(failed(family))?;
        Ok(Self { family, width, model, plans: RefCell::default() })
    }

    fn run(&self, rows: &[f32]) -> Result<Vec<f32>, ModelError> {
        let largest = BATCHES[BATCHES.len() - 1];
        let mut answers = Vec::with_capacity(rows.len() / self.width);
        for part in rows.chunks(largest * self.width) {
            let count = part.len() / self.width;
            let batch = BATCHES.into_iter().find(|&batch| batch >= count).unwrap_or(largest);
            let mut padded = part.to_vec();
            padded.resize(batch * self.width, 0.0);
            let out = self.batch(batch, &padded).map_err(failed(self.family))?;
            answers.extend_from_slice(&out[..count]);
        }
        Ok(answers)
    }

    /// Answers of exactly `batch` rows.
    fn batch(&self, batch: usize, rows: &[f32]) -> TractResult<Vec<f32>> {
        let plan = self.plan(batch)?;
        let input = Tensor::from_shape(&[batch, self.width], rows)?;
        let output = plan.run(tvec!(input.into()))?;
        Ok(output[0].try_as_plain_ram()?.as_slice::<f32>()?.to_vec())
    }

    fn plan(&self, batch: usize) -> TractResult<Plan> {
        if let Some(plan) = self.plans.borrow().get(&batch) {
            return Ok(plan.clone());
        }
        let fact = f32::fact([batch, self.width]);
        let plan = self.model.clone().with_input_fact(0, fact.into())?.into_optimized()?.into_runnable()?;
        self.plans.borrow_mut().insert(batch, plan.clone());
        Ok(plan)
    }
}

fn failed(family: Family) -> impl Fn(TractError) -> ModelError {
    move |error| ModelError::Run { model: family.id(), error: format!("{error:#}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Check {
        features: Vec<Vec<f32>>,
        ln_efficiency: Vec<f32>,
    }

    const MANIFEST: &str = include_str!("../../models/manifest.json");

    fn shipped() -> Models {
        let bytes = |file: &str| {
            Ok(match file {
                "gemm.onnx" => include_bytes!("../../models/gemm.onnx").to_vec(),
                "attention_prefill.onnx" => include_bytes!("../../models/attention_prefill.onnx").to_vec(),
                "attention_decode.onnx" => include_bytes!("../../models/attention_decode.onnx").to_vec(),
                _ => Vec::new(),
            })
        };
        Models::new(MANIFEST, bytes).expect("the shipped models load")
    }

    fn check(family: Family) -> Check {
        let text = match family {
            Family::Gemm => include_str!("../../models/gemm.check.json"),
            Family::AttentionPrefill => include_str!("../../models/attention_prefill.check.json"),
            Family::AttentionDecode => include_str!("../../models/attention_decode.check.json"),
        };
        serde_json::from_str(text).expect("rows and answers, written by training")
    }

    #[test]
    fn tract_answers_as_training_did() {
        let models = shipped();
        for family in Family::ALL {
            let check = check(family);
            let answers = models.run(family, &check.features.concat()).expect("runs");
            assert_eq!(answers.len(), check.ln_efficiency.len());
            for (ours, theirs) in answers.iter().zip(&check.ln_efficiency) {
                assert!((ours - theirs).abs() < 1e-4, "{family:?}: {ours} against {theirs}");
            }
        }
    }

    #[test]
    fn a_row_has_one_answer_in_any_batch() {
        let models = shipped();
        let rows = check(Family::Gemm).features;
        let alone: Vec<f32> =
            rows.iter().flat_map(|row| models.run(Family::Gemm, row).expect("runs")).collect();
        // More rows than the largest planned batch.
        let many: Vec<f32> = rows.iter().cycle().take(1025).flatten().copied().collect();
        let answers = models.run(Family::Gemm, &many).expect("runs");
        assert_eq!(answers.len(), 1025);
        for (index, answer) in answers.iter().enumerate() {
            assert!((answer - alone[index % rows.len()]).abs() < 1e-5);
        }
    }

    #[test]
    fn a_file_cut_off_is_refused_by_name() {
        let error = Models::new(MANIFEST, |_| Ok(vec![0; 10])).expect_err("cut off");
        assert!(matches!(error, ModelError::Length { .. }), "{error}");
    }

    #[test]
    fn no_rows_no_answers() {
        assert_eq!(shipped().run(Family::Gemm, &[]).expect("runs"), Vec::<f32>::new());
    }
}
