//! What is asked for, checked: the catalogs, the table of inputs, the scenario, its link, and the issues found.

mod budget;
pub mod catalog;
pub mod check;
pub mod command;
mod dtype;
mod engine;
mod gpu;
pub(crate) mod ids;
pub mod inputs;
mod issue;
pub(crate) mod json;
pub mod kernels;
pub mod link;
pub mod measured;
pub mod model;
pub mod names;
pub(crate) mod objects;
mod parallelism;
pub mod pasted;
mod requests;
mod scenario;
mod setup;
pub mod spec;
mod version;
mod version_defaults;
mod workload;

pub use budget::{Budget, Padding};
pub use catalog::catalog;
pub use check::check;
pub use dtype::Dtype;
pub use engine::{
    Batching, Engine, Exception, FirstToken, FusedNorms, HandOver, HostTime, MemoryShareOf, Scheduler,
    StateCopies, Support,
};
pub use gpu::{Arch, ESTIMATE, Figure, Gpu, Interconnect, LinkKind, MissingFigure};
pub use inputs::Field;
pub(crate) use issue::excerpt;
pub use issue::{Issue, Severity};
pub use measured::{Measured, Metric, comparable};
pub use model::Model;
pub use parallelism::Parallelism;
pub use requests::{cached_tokens, mean_of};
pub use scenario::{ModelChoice, Overrides, Prefill, Scenario};
pub use setup::{PrefillPool, STATE_BYTES, Setup};
pub use spec::SpecSheet;
pub use version::Version;
pub use version_defaults::{ChatTemplate, VersionDefaults};
pub use workload::{Bin, Drafts, Lengths, Load, Shape, Slos, Start, Turns, Workload};
