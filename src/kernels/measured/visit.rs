//! Rows of a table, read as records by the names of their fields.

use std::borrow::Cow;

use serde::Deserialize;

use super::siblings::{Siblings, Tie};
use super::{MeasuredCall, REFERENCE_SOURCE, Skipped, Table, UnreadRow, Visitor};
use crate::config::Dtype;
use crate::kernels::Op;

/// What tables state about a row besides the call itself. The reference source's tables name engines, the others name
/// their source.
#[derive(Debug, Clone, Deserialize)]
pub(in crate::kernels) struct RowSource<'t> {
    #[serde(default = "reference")]
    pub source: &'t str,
    pub gpu: &'t str,
    #[serde(default)]
    pub engine: &'t str,
    #[serde(default, borrow)]
    pub kernel: Cow<'t, str>,
    pub latency_us: f64,
    pub power_w: Option<f64>,
    #[serde(skip)]
    pub suspect: bool,
}

fn reference() -> &'static str {
    REFERENCE_SOURCE
}

/// A call, the format its table gives, and the run with its engine and kernel as the models know them; or why the row
/// is left out.
pub(in crate::kernels) type ReadCall<'t> = Result<(Dtype, Op, RowSource<'t>), Skipped>;

/// Visits rows as `call` reads them.
pub(in crate::kernels) fn visit<'t, R: Deserialize<'t>>(
    rows: impl Iterator<Item = Result<(RowSource<'t>, R), UnreadRow>>,
    visitor: &mut Visitor<'_>,
    mut call: impl FnMut(RowSource<'t>, R) -> ReadCall<'t>,
) -> Result<(), UnreadRow> {
    for row in rows {
        let (run, own) = row?;
        visitor(call(run, own).map(measured));
    }
    Ok(())
}

/// Visits rows, marking those that sibling GPUs contradict as suspect; `point` gives the part of a call that siblings
/// share.
pub(in crate::kernels) fn visit_siblings<'t, R: Deserialize<'t>>(
    table: &'t Table,
    visitor: &mut Visitor<'_>,
    tie: Tie,
    point: impl Fn(&RowSource<'t>, &R) -> u64,
    mut call: impl FnMut(RowSource<'t>, R) -> ReadCall<'t>,
) -> Result<(), UnreadRow> {
    let mut siblings = Siblings::new(tie);
    for row in table.rows() {
        let (run, own) = row?;
        siblings.add(point(&run, &own), run.gpu, run.latency_us);
    }
    visit(table.rows(), visitor, |run, own| {
        let suspect = !siblings.agree(point(&run, &own), run.gpu, run.latency_us);
        call(run, own).map(|(dtype, op, run)| (dtype, op, RowSource { suspect, ..run }))
    })
}

fn measured((dtype, op, run): (Dtype, Op, RowSource<'_>)) -> MeasuredCall {
    MeasuredCall {
        source: run.source.into(),
        gpu: run.gpu.into(),
        engine: run.engine.into(),
        kernel: run.kernel.into(),
        dtype,
        op,
        micros: run.latency_us,
        watts: run.power_w,
        suspect: run.suspect,
    }
}
