//! Rooflight predicts how fast a language model will serve.
//!
//! Data flows one way through the modules below, in this order; a module uses only those above it (checked by
//! `tests/layers`). `src/README.md` is the map.

pub mod units;

pub mod config;

pub mod kernels;

pub mod graph;

pub mod efficiency;

pub mod latency;

pub mod calibration;

pub mod serving;

pub mod find;

pub mod deploy;

#[cfg(any(feature = "chart", feature = "infer-worker"))]
pub mod chart;

#[cfg(any(feature = "chart", feature = "infer-worker"))]
pub mod study;

#[cfg(all(feature = "tools", not(target_arch = "wasm32")))]
pub mod evidence;

pub mod api;

#[cfg(any(feature = "ui", feature = "infer-worker"))]
pub mod worker;

#[cfg(feature = "ui")]
pub mod ui;
