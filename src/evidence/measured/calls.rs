//! What every table of the reference source says of a row beside the call itself.

use super::{Measured, REFERENCE_SOURCE};
use crate::config::Dtype;
use crate::evidence::tables::{Table, TableError, Texts};
use crate::kernels::Op;

/// Columns of the reference source's tables.
pub(super) struct Calls<'a> {
    pub gpu: &'a Texts,
    pub engine: &'a Texts,
    pub kernel: &'a Texts,
    pub micros: &'a [f64],
}

impl<'a> Calls<'a> {
    /// The columns' names, for [`Table::read`].
    pub const COLUMNS: [&'static str; 4] = ["gpu", "engine", "kernel", "latency_us"];

    /// # Errors
    /// Where the table lacks one of the columns.
    pub fn of(table: &'a Table) -> Result<Self, TableError> {
        let texts = |name| table.texts(name);
        let (gpu, engine, kernel) = (texts("gpu")?, texts("engine")?, texts("kernel")?);
        Ok(Self { gpu, engine, kernel, micros: table.numbers("latency_us")? })
    }

    /// The call of one row.
    pub fn measured(&self, row: usize, dtype: Dtype, op: Op) -> Measured {
        Measured {
            source: REFERENCE_SOURCE.into(),
            gpu: self.gpu.get(row).into(),
            engine: self.engine.get(row).into(),
            kernel: self.kernel.get(row).into(),
            dtype,
            op,
            micros: self.micros[row],
        }
    }
}

/// The columns of a table that is read as calls, with those of its own.
pub(super) fn read(path: &std::path::Path, own: &[&str]) -> Result<Table, TableError> {
    Table::read(path, &[&Calls::COLUMNS, own].concat())
}
