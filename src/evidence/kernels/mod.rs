//! Predicted kernel times against measured ones: errors by family.

mod collectives;
mod report;

use std::path::Path;

pub use collectives::compare_collectives;
pub use report::FamilyReport;
use report::{ComparedCall, report};

use super::measured_calls::FeatureRow;
use super::sample::{Selection, visit_sample};
use super::tables::TableError;
use crate::efficiency::Answer;
use crate::efficiency::onnx::{ModelError, Models};
use crate::kernels::Family;
use crate::kernels::measured::MeasuredCall;

/// Rows answered together: the largest batch the models plan for.
const BATCH: usize = 1024;

#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// What to compare.
#[derive(Debug, Clone)]
pub struct Comparison<'a> {
    pub selection: Selection,
    /// GPUs whose rows are left out.
    pub excluded: &'a [String],
}

/// Compares `family` with the tables under `data`; `None` if they have no row that a model covers.
///
/// Predictions are for the benchmark loop, which may find weights and KV cache in L2: the floor of device memory, which
/// holds in service, does not apply here.
pub fn compare(
    family: Family,
    data: &Path,
    models: &Models,
    comparison: &Comparison<'_>,
) -> Result<Option<FamilyReport>, EvaluationError> {
    let mut taken: Vec<(MeasuredCall, FeatureRow)> = Vec::new();
    let wanted = |measured: &MeasuredCall| !comparison.excluded.contains(&measured.gpu);
    let skipped = visit_sample(family, data, comparison.selection, &wanted, &mut |measured, row| {
        taken.push((measured, row));
    })?;
    let mut compared = Vec::with_capacity(taken.len());
    let mut taken = taken.into_iter().peekable();
    while taken.peek().is_some() {
        let batch: Vec<_> = taken.by_ref().take(BATCH).collect();
        let rows: Vec<f32> = batch.iter().flat_map(|(_, row)| &row.features).copied().collect();
        let answers = models.run(family, &rows)?;
        compared.extend(
            batch
                .into_iter()
                .zip(answers)
                .map(|((measured, row), answer)| compared_call(measured, row.ideal.micros(), answer)),
        );
    }
    Ok(report(&compared, skipped))
}

fn compared_call(measured: MeasuredCall, ideal: f64, answer: Answer) -> ComparedCall {
    let predicted = ideal * f64::from(-answer.ln_efficiency).exp();
    let off = (measured.micros / predicted).ln().abs();
    let within = answer.ln_bound.map(|bound| off <= f64::from(bound));
    ComparedCall { measured, predicted, ideal, within, outside: answer.outside }
}
