//! Measured calls: how rows of tables become the calls that are counted here. Each family's `measured.rs` reads its tables, which
//! `evidence` opens.

mod siblings;
mod table;
mod visit;

use super::{CallPoint, Family, Op};
use crate::config::Dtype;
use crate::config::catalog::numbers::tables::constants;

pub use siblings::SUSPECT;
pub(super) use siblings::{Tie, point};
pub use table::{Column, Table, Texts, UnreadRow};
pub(super) use visit::{RowSource, visit, visit_siblings};

/// Efficiencies are relative to this source where it has a table; the others carry a bias.
pub const REFERENCE_SOURCE: &str = "aiconfigurator";

/// One measured call.
#[derive(Debug, Clone)]
pub struct MeasuredCall {
    pub source: String,
    pub gpu: String,
    /// Catalog id; empty where a source names none.
    pub engine: String,
    /// The kernel, as the table names it.
    pub kernel: String,
    /// The format the table gives for the call: of the weights, or that queries and keys are multiplied in.
    pub dtype: Dtype,
    pub op: Op,
    pub micros: f64,
    /// The power that the GPU drew meanwhile, from the tables of `power/`.
    pub watts: Option<f64>,
    /// Whether sibling GPUs contradict it beyond what their records explain, or its server is known to be unusual.
    pub suspect: bool,
}

impl MeasuredCall {
    /// What identifies the call: its shape, which is held out whole, and its size within the shape.
    pub fn point(&self) -> CallPoint {
        self.op.point()
    }

    /// The number formats, as reports group them.
    pub fn formats(&self) -> String {
        self.op.formats(self.dtype)
    }
}

#[cfg(test)]
impl MeasuredCall {
    /// Measured by the reference source in 10 µs, for tests.
    pub fn example(op: Op) -> Self {
        Self {
            source: REFERENCE_SOURCE.into(),
            gpu: "l40s".into(),
            engine: "sglang".into(),
            kernel: String::new(),
            dtype: Dtype::Bf16,
            op,
            micros: 10.0,
            watts: None,
            suspect: false,
        }
    }

    pub fn example_gemm(m: u64) -> Self {
        Self::example(Op::Gemm(super::Gemm { m, n: 4096, k: 4096, weights: Dtype::Bf16 }))
    }
}

/// A row that is not a measured call this build can count, and why.
pub type Skipped = String;

/// Takes each row of a table.
pub type Visitor<'a> = dyn FnMut(Result<MeasuredCall, Skipped>) + 'a;

/// Visits the rows of one table.
pub type Reader = fn(&Table, &mut Visitor<'_>) -> Result<(), UnreadRow>;

/// A family, the name of one of its tables, and how its rows are read.
pub type TableReader = (Family, &'static str, Reader);
