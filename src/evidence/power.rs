//! Exports measured power: the counted work of each call with its time and the watts that the GPU drew.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::export::{Codes, ExportError, write};
use super::measured_calls::visit_power;
use crate::config::Dtype;
use crate::config::catalog::catalog;
use crate::kernels::measured::{MeasuredCall, Skipped};
use crate::kernels::{Count, Family};

/// Columns of a row. All are f32; codes index the header's lists.
const COLUMNS: [&str; 12] = [
    "compute_us",
    "flops_bf16",
    "flops_fp8",
    "flops_fp4",
    "bytes",
    "operands",
    "micros",
    "watts",
    "gpu",
    "engine",
    "dtype",
    "shape",
];

/// The header of a file, before its rows.
#[derive(Debug, Serialize)]
pub struct Header {
    pub family: &'static str,
    pub columns: [&'static str; 12],
    pub rows: usize,
    pub gpus: Vec<String>,
    pub engines: Vec<String>,
    pub dtypes: Vec<String>,
    /// Rows of the tables left out, counted by reason.
    pub skipped: BTreeMap<String, usize>,
}

/// Writes the calls of `family` under `data` that were measured with watts, in the format of training rows.
pub fn export_power(family: Family, data: &Path, out: &mut impl Write) -> Result<Header, ExportError> {
    let mut rows: Vec<f32> = Vec::new();
    let (mut gpus, mut engines, mut dtypes) = (Codes::default(), Codes::default(), Codes::default());
    let mut shapes = Codes::default();
    let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
    visit_power(family, data, &mut |measured| match measured.and_then(counted) {
        Ok((call, work)) => {
            rows.extend(work);
            let codes = [
                gpus.code(&call.gpu),
                engines.code(&call.engine),
                dtypes.code(&call.formats()),
                shapes.code(&call.point().shape),
            ];
            rows.extend(codes.map(|code| code as f32));
        }
        Err(reason) => *skipped.entry(reason).or_default() += 1,
    })?;
    let header = Header {
        family: family.id(),
        columns: COLUMNS,
        rows: rows.len() / COLUMNS.len(),
        gpus: gpus.list(),
        engines: engines.list(),
        dtypes: dtypes.list(),
        skipped,
    };
    write(&header, &rows, out)?;
    Ok(header)
}

/// A call with the columns of its work, its time and its watts.
fn counted(call: MeasuredCall) -> Result<(MeasuredCall, [f32; 8]), Skipped> {
    let gpu = catalog().gpu(&call.gpu).ok_or_else(|| format!("no record of {}", call.gpu))?;
    let watts = call.watts.ok_or("no watts")?;
    let count = call.op.count(gpu)?;
    let compute = count.compute(gpu)?;
    let [bf16, fp8, fp4] = [Dtype::Bf16, Dtype::Fp8, Dtype::Nvfp4].map(|math| flops_in(&count, math));
    let (bytes, operands) = (count.bytes.0, count.operands.0);
    let work = [compute.micros(), bf16, fp8, fp4, bytes, operands, call.micros, watts];
    Ok((call, work.map(|value| value as f32)))
}

/// FLOP multiplied in `math`.
fn flops_in(count: &Count, math: Dtype) -> f64 {
    let others: f64 = count.other_math.iter().map(|(_, flops)| flops.0).sum();
    let first = count.math.filter(|first| first.math() == math).map_or(0.0, |_| count.flops.0 - others);
    let in_math = |(other, _): &&(Dtype, _)| other.math() == math;
    first + count.other_math.iter().filter(in_math).map(|(_, flops)| flops.0).sum::<f64>()
}
