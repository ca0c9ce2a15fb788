//! Measured exchanges between GPUs.

use std::path::Path;

use super::{Measured, REFERENCE_SOURCE, Visitor};
use crate::config::Dtype;
use crate::evidence::tables::{Table, TableError};
use crate::kernels::{Collective, Op};
use crate::units::Bytes;

/// The lane of the tables that is NVIDIA's library, which engines call where they have no kernel of their own.
pub const NCCL: &str = "nccl";

/// A source whose machines are not the ones that the catalog describes.
const UNLIKE: &str = "vidur";

/// Visits every measured collective under `data`, or the reason why it is left out.
///
/// # Errors
/// Where a table cannot be read.
pub fn visit_collectives(data: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    for name in ["collectives", "collectives_second_source"] {
        visit(&data.join("kernels").join(name).with_extension("parquet"), visitor)?;
    }
    Ok(())
}

fn visit(path: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let table =
        Table::read(path, &["source", "gpu", "engine", "collective", "num_gpus", "bytes", "latency_us"])?;
    let (gpu, kind) = (table.texts("gpu")?, table.texts("collective")?);
    let (source, engine) = (table.texts("source").ok(), table.texts("engine").ok());
    let (ranks, bytes) = (table.numbers("num_gpus")?, table.numbers("bytes")?);
    for (row, &micros) in table.numbers("latency_us")?.iter().enumerate() {
        // The second sources name no engine: they called the library.
        if source.is_some_and(|source| source.get(row) == UNLIKE) {
            visitor(Err(format!("{UNLIKE}: its GPUs are not all joined by NVLink")));
            continue;
        }
        let engine = engine.map_or(NCCL, |engine| engine.get(row));
        let (ranks, bytes) = (ranks[row] as u32, Bytes(bytes[row]));
        let op = match kind.get(row) {
            "all_reduce" => Collective::AllReduce { ranks, bytes },
            "all_gather" => Collective::AllGather { ranks, bytes },
            "reduce_scatter" => Collective::ReduceScatter { ranks, bytes },
            "alltoall" => Collective::AllToAll { ranks, bytes },
            "send_recv" if ranks == 2 => Collective::SendRecv { bytes, across: false },
            other => {
                visitor(Err(format!("{other} over {ranks} GPUs")));
                continue;
            }
        };
        visitor(Ok(Measured {
            source: source.map_or(REFERENCE_SOURCE, |source| source.get(row)).into(),
            gpu: gpu.get(row).into(),
            engine: engine.into(),
            kernel: kind.get(row).into(),
            dtype: Dtype::Bf16,
            op: Op::Collective(op),
            micros,
        }));
    }
    Ok(())
}
