//! Measured exchanges between GPUs.

use serde::Deserialize;

use super::{Collective, NCCL};
use crate::config::Dtype;
use crate::kernels::Op;
use crate::kernels::measured::{Table, UnreadRow, Visitor, visit};
use crate::units::Bytes;

/// A source whose nodes are not the ones that the catalog describes.
const UNLIKE: &str = "vidur";

/// A server whose exchanges between more than two GPUs are slower than its links: `training/collectives.py` says how that shows.
const UNUSUAL: &str = "l40s";

#[derive(Deserialize)]
struct CollectiveRow<'t> {
    collective: &'t str,
    num_gpus: u32,
    bytes: f64,
}

/// Visits the rows of one table.
pub fn visit_rows(table: &Table, visitor: &mut Visitor<'_>) -> Result<(), UnreadRow> {
    visit(table.rows(), visitor, |mut run, CollectiveRow { collective, num_gpus: ranks, bytes }| {
        if run.source == UNLIKE {
            return Err(format!("{UNLIKE}: its GPUs are not all joined by NVLink"));
        }
        // The second sources name no engine: they called the library.
        if run.engine.is_empty() {
            run.engine = NCCL;
        }
        run.kernel = collective.into();
        run.suspect = run.gpu == UNUSUAL && ranks > 2;
        let bytes = Bytes(bytes);
        let op = match collective {
            "all_reduce" => Collective::AllReduce { ranks, bytes },
            "all_gather" => Collective::AllGather { ranks, bytes },
            "reduce_scatter" => Collective::ReduceScatter { ranks, bytes },
            "alltoall" => Collective::AllToAll { ranks, bytes },
            "send_recv" if ranks == 2 => Collective::SendRecv { bytes, across: false },
            other => return Err(format!("{other} over {ranks} GPUs")),
        };
        Ok((Dtype::Bf16, Op::Collective(op), run))
    })
}
