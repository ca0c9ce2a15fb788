//! Measured kernel calls, read from the tables as the calls the core counts.

mod attention;
mod calls;
mod collective;
mod elementwise;
mod gate;
mod gemm;
mod latent;
mod linear;
mod moe;
mod row;
mod siblings;

use std::path::Path;

use super::tables::TableError;
use crate::config::Dtype;
use crate::kernels::{Family, Op, Phase, Point};

pub use collective::{NCCL, visit_collectives};
pub use row::Row;

/// The source that efficiencies are on the scale of, where it has a table; others carry a bias.
pub const REFERENCE_SOURCE: &str = "aiconfigurator";
/// Of norms and their like, each GPU was measured by one source only, in kernel time without host gaps: both
/// are the reference, and a column tells their kernels apart.
const ELEMENTWISE_SOURCES: [&str; 2] = ["llmservingsim-v1.1", "vidur"];

/// The sources that efficiencies of `family` are on the scale of.
pub fn reference_sources(family: Family) -> &'static [&'static str] {
    match family {
        Family::Elementwise => &ELEMENTWISE_SOURCES,
        _ => &[REFERENCE_SOURCE],
    }
}

/// One measured call.
#[derive(Debug, Clone)]
pub struct Measured {
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
}

impl Measured {
    /// What identifies the call: its shape, which is held out whole, and its size within the shape.
    pub fn point(&self) -> Point {
        self.op.point()
    }

    /// The number formats, as reports group them.
    pub fn formats(&self) -> String {
        self.op.formats(self.dtype)
    }
}

/// A row that is not a measured call this build can count, and why.
pub type Skipped = String;

/// Takes each row of a table.
pub type Visitor<'a> = dyn FnMut(Result<Measured, Skipped>) + 'a;

/// Visits every row of the family's tables under `data`, or the reason why it is left out.
///
/// # Errors
/// Where a table cannot be read.
pub fn visit(family: Family, data: &Path, visitor: &mut Visitor<'_>) -> Result<(), TableError> {
    let table = |name: &str| data.join("kernels").join(name).with_extension("parquet");
    match family {
        Family::Gemm => {
            for name in ["gemm", "gemm_second_source", "gemm_fp8_pipeweave"] {
                gemm::visit(&table(name), visitor)?;
            }
            Ok(())
        }
        Family::AttentionPrefill => {
            attention::visit(&table("attention_prefill"), Phase::Prefill, visitor)?;
            attention::visit_second(&table("attention_second_source"), Phase::Prefill, visitor)
        }
        Family::AttentionDecode => {
            attention::visit(&table("attention_decode"), Phase::Decode, visitor)?;
            attention::visit_second(&table("attention_second_source"), Phase::Decode, visitor)
        }
        Family::Elementwise => elementwise::visit(&table("elementwise"), visitor),
        Family::Moe => {
            moe::visit(&table("moe"), visitor)?;
            moe::visit_first(&table("moe_triton_w13"), visitor)
        }
        Family::Mla => {
            latent::visit(&table("mla_prefill"), Phase::Prefill, visitor)?;
            latent::visit(&table("mla_decode"), Phase::Decode, visitor)
        }
        Family::MlaBmm => latent::visit_bmm(&table("mla_bmm"), visitor),
        Family::MlaModule => {
            latent::visit_module(&table("mla_module_prefill"), Phase::Prefill, visitor)?;
            latent::visit_module(&table("mla_module_decode"), Phase::Decode, visitor)
        }
        Family::DsaModule => {
            latent::visit_sparse(&table("dsa_module_prefill"), Phase::Prefill, visitor)?;
            latent::visit_sparse(&table("dsa_module_decode"), Phase::Decode, visitor)
        }
        Family::LinearAttention => {
            linear::visit_delta(&table("gated_delta_net"), visitor)?;
            linear::visit_mamba(&table("mamba2"), visitor)
        }
    }
}
