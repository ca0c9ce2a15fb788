//! Measured GEMMs.

use serde::Deserialize;

use crate::config::Dtype;
use crate::kernels::measured::{
    RowSource, Table, TableReader, Tie, UnreadRow, Visitor, point, visit_siblings,
};
use crate::kernels::{Family, Gemm, Op};

pub const READERS: &[TableReader] = &[
    (Family::Gemm, "gemm", visit_gemm),
    (Family::Gemm, "gemm_second_source", visit_gemm),
    (Family::Gemm, "gemm_fp8_pipeweave", visit_gemm),
];

/// Block-scaled GEMMs of secondary sources come from DeepGEMM, which SGLang launches.
const DEEP_GEMM: [&str; 2] = ["deep_gemm", "DeepGEMM"];

#[derive(Deserialize)]
struct GemmRow<'t> {
    dtype: &'t str,
    m: u64,
    n: u64,
    k: u64,
}

/// Visits the rows of one table of GEMMs.
fn visit_gemm(table: &Table, visitor: &mut Visitor<'_>) -> Result<(), UnreadRow> {
    let shared = |run: &RowSource<'_>, row: &GemmRow<'_>| {
        point((run.source, run.engine, &run.kernel, row.dtype, row.m, row.n, row.k))
    };
    visit_siblings(table, visitor, Tie::All, shared, |mut run, GemmRow { dtype, m, n, k }| {
        let weights = weights(dtype).ok_or_else(|| format!("weights in {dtype}"))?;
        if run.engine.is_empty() && DEEP_GEMM.contains(&&*run.kernel) {
            run.engine = "sglang";
        }
        Ok((weights, Op::Gemm(Gemm { m, n, k, weights }), run))
    })
}

/// The format by the table's name.
fn weights(name: &str) -> Option<Dtype> {
    match name {
        "int8_wo" => Some(Dtype::Int8),
        "int4_wo" => Some(Dtype::Int4),
        // SmoothQuant; what the secondary source calls int8 also multiplies 8-bit integers.
        "sq" | "int8" => Some(Dtype::W8a8),
        other => Dtype::from_id(other),
    }
}
