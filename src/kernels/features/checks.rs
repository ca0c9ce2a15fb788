//! Helpers shared by the tests of feature vectors.

use crate::config::catalog;
use crate::kernels::{Family, Kernel, Launch};

/// A launch on a GPU of the catalog, without a kernel.
pub fn launch_on(gpu: &str) -> Launch<'static> {
    Launch::on(catalog().gpu(gpu).expect("in the catalog"))
}

/// The vector of a call by the kernel that measured tables call `kernel`.
pub fn vector_on(gpu: &str, kernel: &str, call: &dyn Kernel) -> Option<Vec<f32>> {
    let launch = launch_on(gpu);
    let kernel = call.named(kernel, None, launch.gpu.arch);
    vector_of(call, &Launch { kernel, ..launch })
}

/// The vector of a call, if a model covers it: finite, and as wide as the schema of its family.
pub fn vector_of(call: &dyn Kernel, launch: &Launch<'_>) -> Option<Vec<f32>> {
    let vector = call.vector(launch).expect("complete record")?;
    let family = call.family().expect("a family with a model");
    assert_eq!(vector.len(), family.schema().names.len());
    assert!(vector.iter().all(|value| value.is_finite()), "{} {vector:?}", call.shape());
    Some(vector)
}

pub fn column(family: Family, name: &str) -> usize {
    family.schema().names.iter().position(|column| *column == name).expect("a column")
}
