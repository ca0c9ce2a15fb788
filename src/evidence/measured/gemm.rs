//! Measured matrix products.

use std::path::Path;

use super::{Measured, REFERENCE_SOURCE, Visitor};
use crate::config::Dtype;
use crate::evidence::tables::{Table, TableError};
use crate::kernels::{Gemm, Op};

/// Block-scaled products of second sources come from DeepGEMM, which SGLang launches.
const DEEP_GEMM: [&str; 2] = ["deep_gemm", "DeepGEMM"];

/// Visits the rows of one table of products.
pub(super) fn visit(path: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let wanted = ["source", "gpu", "engine", "kernel", "dtype", "m", "n", "k", "latency_us"];
    let table = Table::read(path, &wanted)?;
    let (gpu, kernel, dtype) = (table.texts("gpu")?, table.texts("kernel")?, table.texts("dtype")?);
    let (m, n, k) = (table.numbers("m")?, table.numbers("n")?, table.numbers("k")?);
    // The reference table names engines, the second ones sources.
    let (source, engine) = (table.texts("source").ok(), table.texts("engine").ok());
    for (row, &micros) in table.numbers("latency_us")?.iter().enumerate() {
        let Some(weights) = weights(dtype.get(row)) else {
            visitor(Err(format!("weights in {}", dtype.get(row))));
            continue;
        };
        let engine = match engine {
            Some(engine) => engine.get(row),
            None if DEEP_GEMM.contains(&kernel.get(row)) => "sglang",
            None => "",
        };
        visitor(Ok(Measured {
            source: source.map_or(REFERENCE_SOURCE, |source| source.get(row)).into(),
            gpu: gpu.get(row).into(),
            engine: engine.into(),
            kernel: kernel.get(row).into(),
            dtype: weights,
            op: Op::Gemm(Gemm { m: m[row] as u64, n: n[row] as u64, k: k[row] as u64, weights }),
            micros,
        }));
    }
    Ok(())
}

/// The format by the table's name.
fn weights(name: &str) -> Option<Dtype> {
    match name {
        "int8_wo" => Some(Dtype::Int8),
        "int4_wo" => Some(Dtype::Int4),
        // SmoothQuant; what the second source calls int8 multiplies 8-bit integers too.
        "sq" | "int8" => Some(Dtype::W8a8),
        other => Dtype::from_id(other),
    }
}
