//! Lengths of the requests of a run.

use super::numpy;
use crate::config::{Lengths, Scenario, Workload};
use crate::serving::sim::Request;
use crate::units::significant;

/// `count` requests whose prompts and outputs are drawn between these shares of `nominal`, or that all have these
/// lengths.
pub fn requests(count: u32, nominal: (u32, u32), range: Option<[f64; 2]>, seed: u32) -> Vec<Request> {
    match range {
        Some(range) => numpy::requests(count, nominal, range, seed),
        None => vec![Request::new(nominal.0, nominal.1); count as usize],
    }
}

/// The scenario with lengths that a client draws uniformly between two shares of the requested ones.
pub fn drawn(scenario: Scenario, [least, most]: [f64; 2]) -> Scenario {
    let middle = |asked: u32| (f64::from(asked) * (most + least) / 2.0).round() as u32;
    let isl = match scenario.workload.isl {
        Lengths::Fixed(asked) => Lengths::Fixed(middle(asked)),
        each => each,
    };
    let (osl, spread) = (middle(scenario.workload.osl), significant((most - least) / (most + least), 3));
    Scenario { workload: Workload { isl, osl, spread, ..scenario.workload }, ..scenario }
}
