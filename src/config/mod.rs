//! What a visitor asks for, checked: the catalogs, the scenario, its link, and the issues found.

pub mod catalog;
pub mod check;
mod dtype;
mod engine;
mod gpu;
mod issue;
pub(crate) mod json;
pub mod link;
pub mod model;
pub(crate) mod record;
mod scenario;
mod setup;

pub use check::check;
pub use dtype::Dtype;
pub use engine::{
    Batching, Engine, HostTime, KernelChoice, MemoryShareOf, Scheduler, SmallerDefaults, VariantChoice,
};
pub use gpu::{Arch, ESTIMATE, Figure, Gpu, Link, LinkKind, MissingFigure, TensorRates};
pub(crate) use issue::excerpt;
pub use issue::{Field, Issue, Severity};
pub use model::Model;
pub use scenario::{Lengths, Load, ModelChoice, Overrides, Scenario, Slos, Workload};
pub use setup::Setup;
