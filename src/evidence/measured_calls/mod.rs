//! Measured kernel calls, read from the tables as the calls the core counts.

mod attention;
mod collective;
mod elementwise;
mod feature_row;
mod gate;
mod gemm;
mod latent;
mod linear;
mod moe;
mod siblings;
mod visit;

use std::path::Path;

use super::tables::{Table, TableError};
use crate::config::Dtype;
use crate::config::catalog::numbers::tables::constants;
use crate::config::catalog::{FamilyRecord, kernels};
use crate::kernels::{CallPoint, Family, Op};

pub use collective::{NCCL, visit_collectives};
pub use feature_row::FeatureRow;
pub use siblings::SUSPECT;

/// Efficiencies are relative to this source where it has a table; the others carry a bias.
pub const REFERENCE_SOURCE: &str = "aiconfigurator";

/// The sources that efficiencies of `family` are relative to. Of norms and similar kernels, each GPU was measured by one source
/// only, in kernel time without host gaps: both are references, and a column tells their kernels apart.
pub fn reference_sources(family: Family) -> Vec<&'static str> {
    match kernels().family(family.id()).reference_sources.as_slice() {
        [] => vec![REFERENCE_SOURCE],
        named => named.iter().map(String::as_str).collect(),
    }
}

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
        Self::example(Op::Gemm(crate::kernels::Gemm { m, n: 4096, k: 4096, weights: Dtype::Bf16 }))
    }
}

/// A row that is not a measured call this build can count, and why.
pub type Skipped = String;

/// Takes each row of a table.
pub type Visitor<'a> = dyn FnMut(Result<MeasuredCall, Skipped>) + 'a;

/// Visits the rows of one table.
type Reader = fn(&Table, &mut Visitor<'_>) -> Result<(), TableError>;

/// A table of a family, which another family may read otherwise.
type TableReader = (Family, &'static str, Reader);

const READERS: [&[TableReader]; 6] =
    [attention::READERS, elementwise::READERS, gemm::READERS, latent::READERS, linear::READERS, moe::READERS];

/// Folders of tables under the measured data: times of kernels, and times with watts.
const KERNELS: &str = "kernels";
const POWER: &str = "power";

/// Visits every row of the family's tables under `data`, or the reason why it is left out.
pub fn visit(family: Family, data: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let FamilyRecord { tables, tables_without_watts, .. } = kernels().family(family.id());
    read(family, &data.join(KERNELS), tables.iter().chain(tables_without_watts), visitor)
}

/// Visits every row of the family's tables that hold watts too, or the reason why it is left out.
pub fn visit_power(family: Family, data: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    read(family, &data.join(POWER), &kernels().family(family.id()).tables, visitor)
}

fn read<'n>(
    family: Family,
    folder: &Path,
    tables: impl IntoIterator<Item = &'n String>,
    visitor: &mut Visitor<'_>,
) -> Result<(), TableError> {
    tables.into_iter().try_for_each(|name| reader(family, name)(&Table::read(folder, name)?, visitor))
}

/// What reads a table that the family's record lists.
fn reader(family: Family, name: &str) -> Reader {
    let mut all = READERS.iter().copied().flatten();
    let found = all.find(|(of, table, _)| (*of, *table) == (family, name));
    found.unwrap_or_else(|| panic!("no reader of {name} for {family:?}")).2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_of_a_record_has_a_reader_and_each_reader_is_used() {
        let mut listed = 0;
        for &family in Family::ALL {
            let record = kernels().family(family.id());
            for table in record.tables.iter().chain(&record.tables_without_watts) {
                reader(family, table);
                listed += 1;
            }
        }
        assert_eq!(listed, READERS.iter().copied().flatten().count());
    }
}
