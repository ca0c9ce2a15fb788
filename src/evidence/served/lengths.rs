//! Lengths of the requests of a run: drawn ones, their maximum and their mean.

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

/// The longest prompt and the longest output, in tokens.
pub fn longest(requests: &[Request]) -> (u32, u32) {
    let most = |of: fn(&Request) -> u32| requests.iter().map(of).max().unwrap_or(1);
    (most(|one| one.prompt), most(|one| one.output))
}

/// Mean tokens of a prompt and of an output.
pub fn means(requests: &[Request]) -> (u32, u32) {
    let mean = |of: fn(&Request) -> u32| {
        let sum: f64 = requests.iter().map(|one| f64::from(of(one))).sum();
        (sum / requests.len().max(1) as f64).round().max(1.0) as u32
    };
    (mean(|one| one.prompt), mean(|one| one.output))
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
