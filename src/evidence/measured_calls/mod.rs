//! Measured kernel calls, read from the tables that the records of the families list.

use std::path::Path;

use super::tables::{self, TableError};
use crate::config::catalog::{FamilyRecord, catalog, kernels};
use crate::config::kernels::Caller;
use crate::kernels::measured::{MeasuredCall, REFERENCE_SOURCE, Reader, Visitor};
use crate::kernels::{Family, Launch, READERS, collective};
use crate::units::Seconds;

/// The sources that efficiencies of `family` are relative to. Of norms and similar kernels, each GPU was measured by one source
/// only, in kernel time without host gaps: both are references, and a column tells their kernels apart.
pub fn reference_sources(family: Family) -> Vec<&'static str> {
    match kernels().family(family.id()).reference_sources.as_slice() {
        [] => vec![REFERENCE_SOURCE],
        named => named.iter().map(String::as_str).collect(),
    }
}

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

/// Visits every measured collective under `data`, or the reason why one is left out.
pub fn visit_collectives(data: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    for name in ["collectives", "collectives_second_source"] {
        collective::measured::visit_rows(&tables::read(&data.join(KERNELS), name)?, visitor)?;
    }
    Ok(())
}

fn read<'n>(
    family: Family,
    folder: &Path,
    names: impl IntoIterator<Item = &'n String>,
    visitor: &mut Visitor<'_>,
) -> Result<(), TableError> {
    for name in names {
        reader(family, name)(&tables::read(folder, name)?, visitor)?;
    }
    Ok(())
}

/// What reads a table that the family's record lists.
fn reader(family: Family, name: &str) -> Reader {
    let mut all = READERS.iter().copied().flatten();
    let found = all.find(|(of, table, _)| (*of, *table) == (family, name));
    found.unwrap_or_else(|| panic!("no reader of {name} for {family:?}")).2
}

/// A call's features as launched by the benchmark loop, and its ideal time.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureRow {
    pub features: Vec<f32>,
    pub ideal: Seconds,
}

impl MeasuredCall {
    /// Fails if no model covers the call: a GPU without a record, or one that lacks a figure; a format or kernel
    /// nobody learned.
    pub fn row(&self) -> Result<FeatureRow, String> {
        let gpu = catalog().gpu(&self.gpu).ok_or_else(|| format!("no record of {}", self.gpu))?;
        // Sources that name no engine called the library, as vLLM does.
        let engine = catalog().engine(if self.engine.is_empty() { "vllm" } else { &self.engine });
        let launch = Launch {
            caller: Caller::from_id(&self.engine),
            name: &self.kernel,
            kernel: self.op.named(&self.kernel, engine, gpu.arch),
            math: self.dtype,
            ..Launch::on(gpu)
        };
        let row = self.op.vector(&launch)?;
        let features = row.ok_or_else(|| format!("no model for {} by {}", self.formats(), self.kernel))?;
        let count = self.op.count(gpu)?;
        let ideal = count.ideal(gpu)?;
        Ok(FeatureRow { features, ideal })
    }
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
