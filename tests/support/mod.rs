//! What tests of simulated runs share.

use std::collections::BTreeMap;

use rooflight::config::Setup;
use rooflight::efficiency::{Answer, Efficiencies, FamilyRows, Rows};
use rooflight::kernels::Family;
use rooflight::serving::run::Runner;
use rooflight::serving::{answer, plan};

/// The same efficiency for every row; host times count, as with learned ones.
pub fn flat(rows: &Rows) -> Efficiencies {
    let answer = Answer { ln_efficiency: -0.3, ln_bound: None, outside: false };
    let of_family = |(&family, rows): (&Family, &FamilyRows)| (family, vec![answer; rows.count()]);
    let answers = rows.families().iter().map(of_family).collect();
    Efficiencies::Learned(rows.answered("test", &answers, &BTreeMap::new()).expect("every row is answered"))
}

pub fn runner(setup: &Setup) -> Runner {
    let (plan, rows) = plan(setup).expect("the catalog has every figure");
    answer(&plan, &flat(&rows)).expect("every row is answered").1.expect("it fits")
}
