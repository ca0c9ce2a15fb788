//! Kernels per call when launched without a CUDA graph, for calls with more than one.

pub(crate) use crate::config::catalog::numbers::eager_launches::constants;
