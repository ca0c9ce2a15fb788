//! What tests of feature vectors share.

use std::fmt::Debug;

use crate::config::catalog;
use crate::kernels::{Family, Kernel, Launch};
use crate::units::Seconds;

/// A launch on a GPU of the catalog, without a kernel.
pub fn launch_on(gpu: &str) -> Launch<'static> {
    Launch::on(catalog().gpu(gpu).expect("in the catalog"), Seconds(1.5e-6))
}

/// The vector of a call by the kernel that measured tables call `kernel`.
pub fn vector_on(gpu: &str, kernel: &str, call: &dyn Kernel) -> Option<Vec<f32>> {
    let launch = launch_on(gpu);
    let kernel = call.named(kernel, None, launch.gpu.arch);
    call.vector(&Launch { kernel, ..launch }).expect("complete record")
}

pub fn column(family: Family, name: &str) -> usize {
    family.schema().names.iter().position(|column| *column == name).expect("a column")
}

/// The vector is finite and as wide as the schema.
pub fn assert_fits(family: Family, vector: &[f32], call: impl Debug) {
    assert_eq!(vector.len(), family.schema().names.len());
    assert!(vector.iter().all(|value| value.is_finite()), "{call:?} {vector:?}");
}
