//! The ONNX models, run by tract. The only file that uses tract.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tract_onnx::Onnx;
use tract_onnx::model::OnnxOpRegister;
use tract_onnx::prelude::*;
use tract_onnx::tract_hir::infer::InferenceOp;
use tract_onnx::tract_hir::internal::*;
use tract_onnx::tract_hir::ops;
use tract_onnx::tract_hir::ops::logic::wire_with_rank_broadcast;

use super::{Answer, Hull, Interval, Learned, Manifest, ManifestError, ModelRecord, Rows};
use crate::kernels::Family;

/// Rows are split into batches of these sizes, the last one padded: building a tract plan takes milliseconds, so only
/// a few sizes are built and kept.
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
    #[error("a model returned fewer results than rows")]
    Count,
}

/// Approximate number of cached answers per family: some megabytes.
const MOST_KNOWN: usize = 20_000;

/// Output columns: ln(efficiency), and ln of the expected error for such rows.
const COLUMNS: usize = 2;

type RunnableModel = Arc<TypedRunnableModel>;

/// One family's model.
#[derive(Debug)]
struct Model {
    family: Family,
    width: usize,
    /// The column that is 1 on GPUs with measurements.
    measured: usize,
    interval: Interval,
    hull: Hull,
    model: InferenceModel,
    plans: Mutex<BTreeMap<usize, RunnableModel>>,
    /// Cache of answers by the row's bits: a changed configuration repeats most rows of the previous one.
    known: Mutex<FxHashMap<Box<[u32]>, Answer>>,
}

/// The models of a release, ready to answer.
#[derive(Debug)]
pub struct Models {
    manifest: Manifest,
    models: BTreeMap<Family, Model>,
}

impl Models {
    /// Loads them from the manifest's text and each file's bytes.
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
            models.insert(family, Model::new(family, record, &bytes)?);
        }
        Ok(Self { manifest, models })
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The answers for all calls of a plan.
    pub fn answer(&self, rows: &Rows) -> Result<Learned, ModelError> {
        let mut answers = BTreeMap::new();
        for (&family, asked) in rows.families() {
            answers.insert(family, self.run(family, &asked.values)?);
        }
        let learned = rows.answered(&self.manifest.release, &answers, &self.manifest.trained_on());
        learned.ok_or(ModelError::Count)
    }

    /// The answers for `rows`, row-major, as wide as the family's schema.
    pub fn run(&self, family: Family, rows: &[f32]) -> Result<Vec<Answer>, ModelError> {
        self.models.get(&family).ok_or(ModelError::NoModel(family.id()))?.run(rows)
    }
}

impl Model {
    fn new(family: Family, record: &ModelRecord, bytes: &[u8]) -> Result<Self, ModelError> {
        let model = reader().model_for_read(&mut Cursor::new(bytes)).map_err(failed(family))?;
        Ok(Self {
            family,
            width: record.features,
            measured: family.schema().identity_from,
            interval: record.interval_80,
            hull: record.hull.clone(),
            model,
            plans: Mutex::default(),
            known: Mutex::default(),
        })
    }

    fn run(&self, rows: &[f32]) -> Result<Vec<Answer>, ModelError> {
        let bits: Vec<u32> = rows.iter().map(|value| value.to_bits()).collect();
        let bits = || bits.chunks_exact(self.width);
        // Not locked meanwhile: a row requested twice concurrently is computed twice.
        let found: Vec<Option<Answer>> = {
            let mut known = self.known();
            if known.len() > MOST_KNOWN {
                known.clear();
            }
            bits().map(|bits| known.get(bits).copied()).collect()
        };
        let new = |index: &usize| found[*index].is_none();
        let row = |index: usize| &rows[index * self.width..][..self.width];
        let asked: Vec<f32> = (0..found.len()).filter(new).flat_map(row).copied().collect();
        let answers = self.compute(&asked)?;
        let named = bits().zip(&found).filter(|(_, found)| found.is_none()).map(|(bits, _)| bits.into());
        self.known().extend(named.zip(answers.iter().copied()));
        let mut answers = answers.into_iter();
        let all: Option<Vec<Answer>> =
            found.into_iter().map(|found| found.or_else(|| answers.next())).collect();
        all.ok_or(ModelError::Count)
    }

    fn known(&self) -> MutexGuard<'_, FxHashMap<Box<[u32]>, Answer>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compute(&self, mut rows: &[f32]) -> Result<Vec<Answer>, ModelError> {
        let mut answers = Vec::with_capacity(rows.len() / self.width);
        while !rows.is_empty() {
            let left = rows.len() / self.width;
            // The largest batch that the remaining rows fill by more than half.
            let batch = BATCHES.into_iter().rev().find(|&batch| batch < 2 * left).unwrap_or(BATCHES[0]);
            let (part, rest) = rows.split_at(left.min(batch) * self.width);
            let mut padded = part.to_vec();
            padded.resize(batch * self.width, 0.0);
            let out = self.batch(batch, &padded).map_err(failed(self.family))?;
            let part = part.chunks_exact(self.width);
            answers.extend(part.zip(out.chunks_exact(COLUMNS)).map(|(row, out)| self.answer(row, out)));
            rows = rest;
        }
        Ok(answers)
    }

    fn answer(&self, row: &[f32], out: &[f32]) -> Answer {
        let measured = row.get(self.measured).is_some_and(|&filled| filled > 0.0);
        let bounds = if measured { self.interval.seen } else { self.interval.unseen };
        Answer {
            ln_efficiency: out[0],
            ln_bound: bounds.map(|bounds| out[1].exp() * bounds.factor as f32),
            outside: self.hull.leaves_out(row),
        }
    }

    /// Runs exactly `batch` rows, row-major.
    fn batch(&self, batch: usize, rows: &[f32]) -> TractResult<Vec<f32>> {
        let plan = self.plan(batch)?;
        let input = Tensor::from_shape(&[batch, self.width], rows)?;
        let output = plan.run(tvec!(input.into()))?;
        Ok(output[0].try_as_plain_ram()?.as_slice::<f32>()?.to_vec())
    }

    fn plan(&self, batch: usize) -> TractResult<RunnableModel> {
        // Other threads wait for the plan rather than build it twice.
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans.get(&batch) {
            return Ok(plan.clone());
        }
        let fact = f32::fact([batch, self.width]);
        let plan = self.model.clone().with_input_fact(0, fact.into())?.into_optimized()?.into_runnable()?;
        plans.insert(batch, plan.clone());
        Ok(plan)
    }
}

type Operator = TractResult<(Box<dyn InferenceOp>, Vec<String>)>;

/// An ONNX reader with only the operators that `training/onnx_file.py` writes: unused ones are not linked, and they
/// are most of tract's size.
fn reader() -> Onnx {
    fn plain(operator: Box<dyn InferenceOp>) -> Operator {
        Ok((operator, Vec::new()))
    }
    let mut register = OnnxOpRegister::default();
    register.insert("Add", |_, _| plain(ops::math::Add.into_hir()));
    register.insert("Mul", |_, _| plain(ops::math::Mul.into_hir()));
    register.insert("MatMul", |_, _| plain(expand(ops::matmul::MatMulInference::default())));
    register.insert("Sigmoid", |_, _| plain(ops::nn::sigmoid().into_hir()));
    register.insert("Cast", |_, node| plain(Box::new(ops::cast::cast(node.get_attr::<DatumType>("to")?))));
    register.insert("Clip", |_, _| plain(expand(Clip)));
    Onnx { op_register: register, ..Onnx::default() }
}

/// Clip since opset 11, with its limits as inputs. tract's own is not accessible.
#[derive(Debug, Clone)]
struct Clip;

impl Expansion for Clip {
    fn name(&self) -> StaticName {
        "Clip".into()
    }

    fn rules<'r, 'p: 'r, 's: 'r>(
        &'s self,
        solver: &mut Solver<'r>,
        inputs: &'p [TensorProxy],
        outputs: &'p [TensorProxy],
    ) -> InferenceResult {
        check_input_arity(inputs, 3)?;
        check_output_arity(outputs, 1)?;
        solver.equals(&inputs[0].datum_type, &outputs[0].datum_type)?;
        solver.equals(&inputs[0].shape, &outputs[0].shape)
    }

    fn wire(&self, name: &str, model: &mut TypedModel, inputs: &[OutletId]) -> TractResult<TVec<OutletId>> {
        let &[value, least, most] = inputs else { bail!("Clip has a value and two limits") };
        let limit = |model: &mut TypedModel, of: &str, limited, limit, operator| {
            let part = format!("{name}.{of}");
            wire_with_rank_broadcast(&part, model, operator, &[limited, limit])
        };
        let raised = limit(model, "least", value, least, ops::math::max())?;
        limit(model, "most", raised[0], most, ops::math::min())
    }
}

fn failed(family: Family) -> impl Fn(TractError) -> ModelError {
    move |error| ModelError::Run { model: family.id(), error: format!("{error:#}") }
}
