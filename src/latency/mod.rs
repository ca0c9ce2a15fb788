//! Seconds: the time of a kernel at a given efficiency, and of a step of kernels.

mod kernel;
mod power;
mod step;

pub use kernel::{Ideal, KernelTime, Provenance, Resource};
pub use power::PowerModel;
pub use step::{HostWork, StepTime};
