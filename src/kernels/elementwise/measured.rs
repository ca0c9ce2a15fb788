//! Measured norms, activations, rotary embeddings and their like.

use serde::Deserialize;

use crate::config::Dtype;
use crate::config::kernels::ElementwiseKernel;
use crate::kernels::elementwise::{Elementwise, ElementwiseKind};
use crate::kernels::measured::{Table, TableReader, UnreadRow, Visitor, visit};
use crate::kernels::{Family, Op};

pub const READERS: &[TableReader] = &[(Family::Elementwise, "elementwise", visit_rows)];

/// The source that timed the kernels of an earlier engine. What it lists as `add_rmsnorm` is the second
/// norm of a layer, without the add: it takes as long as `rmsnorm` (within 1 %), adds have separate rows, and with
/// the residual's bytes it would move 849 GB/s on an A40, whose memory reaches 696.
const EARLIER_SOURCE: &str = "vidur";

/// Widths at which that source timed Phi-2, whose layers have other operators under the same names: LayerNorm
/// (three times as long as an RMSNorm on few tokens), a sum of three tensors (twice an add) and GELU (half of
/// SiLU and product).
const PHI_2: [(&str, u64); 4] =
    [("rmsnorm", 2560), ("add_rmsnorm", 2560), ("add", 2560), ("silu_and_mul", 10_240)];

#[derive(Deserialize)]
struct ElementwiseRow<'t> {
    op: &'t str,
    tokens: u64,
    width: u64,
}

/// Visits the rows of the table.
fn visit_rows(table: &Table, visitor: &mut Visitor<'_>) -> Result<(), UnreadRow> {
    visit(table.rows(), visitor, |mut run, ElementwiseRow { op, tokens: rows, width }| {
        let earlier = run.source == EARLIER_SOURCE;
        if earlier && PHI_2.contains(&(op, width)) {
            return Err(format!("listed as {op}, but measured on another Phi-2 operator"));
        }
        let kind = match op {
            "rmsnorm" => ElementwiseKind::Norm,
            "add_rmsnorm" if earlier => ElementwiseKind::Norm,
            "add_rmsnorm" => ElementwiseKind::AddNorm,
            "add" => ElementwiseKind::Add,
            "qk_norm" => ElementwiseKind::QkNorm,
            "silu_and_mul" => ElementwiseKind::SiluMul,
            "rope" => ElementwiseKind::Rope,
            "embedding" => ElementwiseKind::Embedding,
            other => return Err(format!("element-wise {other}")),
        };
        if earlier {
            run.kernel = <&str>::from(ElementwiseKernel::Earlier).into();
        }
        Ok((Dtype::Bf16, Op::Elementwise(Elementwise { kind, rows, width }), run))
    })
}
