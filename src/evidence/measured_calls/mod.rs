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
use crate::kernels::{CallPoint, Family, Op, Phase};

pub use collective::{NCCL, visit_collectives};
pub use feature_row::FeatureRow;
pub use siblings::SUSPECT;

/// Efficiencies are relative to this source where it has a table; the others carry a bias.
pub const REFERENCE_SOURCE: &str = "aiconfigurator";
/// For norms and similar kernels, each GPU was measured by one source only, in kernel time without host gaps. Both
/// are references, and a column tells their kernels apart.
const ELEMENTWISE_SOURCES: [&str; 2] = ["llmservingsim-v1.1", "vidur"];

/// The sources that efficiencies of `family` are relative to.
pub fn reference_sources(family: Family) -> &'static [&'static str] {
    match family {
        Family::Elementwise => &ELEMENTWISE_SOURCES,
        _ => &[REFERENCE_SOURCE],
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

/// The tables of a family, and how their rows are read.
fn tables(family: Family) -> Vec<(&'static str, Reader)> {
    use Phase::{Decode, Prefill};
    match family {
        Family::Gemm => ["gemm", "gemm_second_source", "gemm_fp8_pipeweave"]
            .map(|name| (name, gemm::visit_gemm as Reader))
            .into(),
        Family::AttentionPrefill => vec![
            ("attention_prefill", |table, visitor| attention::visit_phase(table, Prefill, visitor)),
            ("attention_second_source", |table, visitor| attention::visit_second(table, Prefill, visitor)),
        ],
        Family::AttentionDecode => vec![
            ("attention_decode", |table, visitor| attention::visit_phase(table, Decode, visitor)),
            ("attention_second_source", |table, visitor| attention::visit_second(table, Decode, visitor)),
        ],
        Family::Elementwise => vec![("elementwise", elementwise::visit_rows)],
        Family::Moe => vec![("moe", moe::visit_layers), ("moe_triton_w13", moe::visit_first)],
        Family::Mla => vec![
            ("mla_prefill", |table, visitor| latent::visit_phase(table, Prefill, visitor)),
            ("mla_decode", |table, visitor| latent::visit_phase(table, Decode, visitor)),
        ],
        Family::MlaBmm => vec![("mla_bmm", latent::visit_bmm)],
        Family::MlaModule => vec![
            ("mla_module_prefill", |table, visitor| latent::visit_blocks(table, Prefill, visitor)),
            ("mla_module_decode", |table, visitor| latent::visit_blocks(table, Decode, visitor)),
        ],
        Family::DsaModule => vec![
            ("dsa_module_prefill", |table, visitor| latent::visit_blocks(table, Prefill, visitor)),
            ("dsa_module_decode", |table, visitor| latent::visit_blocks(table, Decode, visitor)),
        ],
        Family::LinearAttention => {
            vec![("gated_delta_net", linear::visit_delta), ("mamba2", linear::visit_mamba)]
        }
    }
}

/// Folders of tables under the measured data: times of kernels, and times with watts.
const KERNELS: &str = "kernels";
const POWER: &str = "power";
/// Tables that `power/` lacks.
const WITHOUT_POWER: [&str; 5] =
    ["gemm_second_source", "gemm_fp8_pipeweave", "attention_second_source", "elementwise", "moe_triton_w13"];

/// Visits every row of the family's tables under `data`, or the reason why it is left out.
pub fn visit(family: Family, data: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let folder = data.join(KERNELS);
    tables(family).into_iter().try_for_each(|(name, read)| read(&Table::read(&folder, name)?, visitor))
}

/// Visits every row of the family's tables that hold watts too, or the reason why it is left out.
pub fn visit_power(family: Family, data: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let folder = data.join(POWER);
    let tables = tables(family).into_iter().filter(|(name, _)| !WITHOUT_POWER.contains(name));
    tables.into_iter().try_for_each(|(name, read)| read(&Table::read(&folder, name)?, visitor))
}
