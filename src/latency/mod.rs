//! Seconds: what a kernel takes at a given efficiency, and what a step of kernels adds up to.

mod kernel;
mod power;
mod step;

pub use kernel::{Ideal, KernelTime, Provenance, Resource};
pub use power::Draw;
pub use step::{HostWork, StepTime, host_time};
