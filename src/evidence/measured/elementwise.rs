//! Measured norms, activations, rotary embeddings and their like.

use std::path::Path;

use super::{Measured, Visitor};
use crate::config::Dtype;
use crate::evidence::tables::{Table, TableError};
use crate::kernels::Op;
use crate::kernels::elementwise::{EARLIER, Elementwise, Kind};

/// The source that timed the kernels of an earlier engine. What it lists as `add_rmsnorm` is the second
/// norm of a layer, without the add: it takes as long as `rmsnorm` (within 1 %), adds are rows of their own,
/// and with the residual's bytes it would move 849 GB/s on an A40, whose memory has 696.
const EARLIER_SOURCE: &str = "vidur";

/// Widths at which that source timed Phi-2, whose layers have other operators under the same names: LayerNorm
/// (three times as long as an RMSNorm on few tokens), a sum of three tensors (twice an add) and GELU (half of
/// SiLU and product).
const PHI_2: [(&str, u64); 4] =
    [("rmsnorm", 2560), ("add_rmsnorm", 2560), ("add", 2560), ("silu_and_mul", 10_240)];

/// Visits the rows of the table.
pub(super) fn visit(path: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let table = Table::read(path, &["source", "gpu", "op", "tokens", "width", "latency_us"])?;
    let (source, gpu, name) = (table.texts("source")?, table.texts("gpu")?, table.texts("op")?);
    let (tokens, widths) = (table.numbers("tokens")?, table.numbers("width")?);
    for (row, &micros) in table.numbers("latency_us")?.iter().enumerate() {
        let earlier = source.get(row) == EARLIER_SOURCE;
        let (rows, width) = (tokens[row] as u64, widths[row] as u64);
        if earlier && PHI_2.contains(&(name.get(row), width)) {
            visitor(Err(format!("another operator of Phi-2 listed as {}", name.get(row))));
            continue;
        }
        let kind = match name.get(row) {
            "rmsnorm" => Kind::Norm,
            "add_rmsnorm" if earlier => Kind::Norm,
            "add_rmsnorm" => Kind::AddNorm,
            "add" => Kind::Add,
            "qk_norm" => Kind::QkNorm,
            "silu_and_mul" => Kind::SiluMul,
            "rope" => Kind::Rope,
            "embedding" => Kind::Embedding,
            other => {
                visitor(Err(format!("element-wise {other}")));
                continue;
            }
        };
        visitor(Ok(Measured {
            source: source.get(row).into(),
            gpu: gpu.get(row).into(),
            engine: String::new(),
            kernel: if earlier { EARLIER.into() } else { String::new() },
            dtype: Dtype::Bf16,
            op: Op::Elementwise(Elementwise { kind, rows, width }),
            micros,
        }));
    }
    Ok(())
}
