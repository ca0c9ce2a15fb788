//! Finds the factors at which the visitor's runs settle. Near saturation a figure does not respond linearly to longer
//! steps, so each run is evaluated around the factors that all runs together suggest, until these no longer change.

use std::sync::Arc;

use super::Runner;
use super::own::observations;
use crate::calibration::{Calibration, Factors, KnownRun};
use crate::config::Measured;

/// Maximum number of runs that are settled: each takes some ten simulations. Among more runs, each counts for little.
pub const MOST: usize = 16;
/// Maximum number of rounds.
const ROUNDS: usize = 4;
/// Change of a factor below which a run is settled.
const SETTLED: f64 = 0.01;

/// How to predict a measured run again.
#[derive(Debug)]
pub struct Measuring {
    pub runner: Runner,
    pub measured: Measured,
}

/// Evaluates `known` runs around the factors that they suggest. Returns whether anything changed.
pub fn settle(
    calibration: &Calibration,
    known: &mut [(u32, KnownRun)],
    measuring: &[Option<Arc<Measuring>>],
) -> bool {
    let mut around = vec![Factors::NONE; known.len()];
    for round in 0..ROUNDS {
        let own: Vec<KnownRun> = known.iter().map(|(_, one)| one.clone()).collect();
        let mut moved = false;
        for (((_, one), how), last) in known.iter_mut().zip(measuring).zip(&mut around) {
            let Some(Measuring { runner, measured }) = how.as_deref() else { continue };
            let factors = calibration.posterior(&one.point, &own, |_| true).factors();
            if factors.is_near(*last, SETTLED) {
                continue;
            }
            // A run that cannot be served with longer steps stays as it is.
            let load = runner.setup().workload.load;
            let Ok(responses) = runner.responses(load, factors) else { continue };
            let weights: Vec<f64> = one.observed.iter().map(|of| of.weight).collect();
            one.observed = observations(&responses, load, measured, factors);
            one.observed.iter_mut().zip(weights).for_each(|(of, weight)| of.weight = weight);
            (*last, moved) = (factors, true);
        }
        if !moved {
            return round > 0;
        }
    }
    true
}
