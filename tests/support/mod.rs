//! Helpers shared by the tests of simulated runs.

mod flat;

use rooflight::config::Setup;
use rooflight::serving::run::Runner;
use rooflight::serving::{answer, plan};

pub use flat::flat;

pub fn runner(setup: &Setup) -> Runner {
    let (plan, rows) = plan(setup).expect("the catalog has every figure");
    answer(&plan, &flat(&rows)).expect("every row is answered").1.expect("it fits")
}
