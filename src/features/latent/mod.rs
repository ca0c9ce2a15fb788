//! Features of the latent attention families.

mod attention;
mod block;
mod bmm;
mod kernel;
mod terms;
mod times;

use super::{Family, Launching, term};
use crate::config::MissingFigure;
use crate::graph::{Latent, Phase};
use crate::kernels::latent::Form;

/// The row of one call, or none where no model has learned the kernel or there is nothing to do.
///
/// # Errors
/// Where the GPU's record lacks a figure the features need.
pub(super) fn row(latent: &Latent, launching: &Launching<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
    match latent {
        Latent::Attention(call) => attention::row(call, launching),
        Latent::Bmm(bmm) => bmm::row(bmm, launching),
        Latent::Module(module) => block::row(module, launching),
        Latent::Sparse(sparse) => block::sparse_row(sparse, launching),
    }
}

/// Whether the kernel of this name attends to the latents in prompts too.
pub(super) fn absorbs_prompts(kernel: &str) -> bool {
    let kernel = kernel::Kernel::from_name(kernel);
    kernel.is_some_and(|kernel| kernel.form(Phase::Prefill) == Form::Absorbed)
}

/// The family of a call.
pub(super) fn family(latent: &Latent) -> Family {
    match latent {
        Latent::Attention(_) => Family::Mla,
        Latent::Bmm(_) => Family::MlaBmm,
        Latent::Module(_) => Family::MlaModule,
        Latent::Sparse(_) => Family::DsaModule,
    }
}

/// Version and names of the own columns of each family.
pub(super) mod schema {
    use super::{attention, bmm, term, terms};

    pub const ATTENTION: u32 = attention::VERSION;
    pub const BMM: u32 = bmm::VERSION;
    pub const BLOCK: u32 = terms::VERSION;

    pub fn attention() -> Vec<&'static str> {
        term::names(attention::TERMS).collect()
    }

    pub fn bmm() -> Vec<&'static str> {
        term::names(bmm::TERMS).collect()
    }

    pub fn dense_block() -> Vec<&'static str> {
        terms::names(terms::DENSE_BLOCK)
    }

    pub fn sparse_block() -> Vec<&'static str> {
        terms::names(terms::SPARSE_BLOCK)
    }
}
