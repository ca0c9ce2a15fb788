//! How long an answer takes natively: one closed-form scenario, from setup to report.

use criterion::{Criterion, criterion_group, criterion_main};
use rooflight::config::catalog::catalog;
use rooflight::config::{Scenario, Setup, check};
use rooflight::efficiency::Efficiencies;
use rooflight::serving::{finish, plan};

fn default_setup() -> Setup {
    check(&Scenario::default(), catalog()).0.expect("the default scenario is sound")
}

fn roofline(criterion: &mut Criterion) {
    let setup = default_setup();
    criterion.bench_function("plan", |bencher| bencher.iter(|| plan(&setup)));
    let planned = plan(&setup).expect("the default scenario has a plan");
    criterion.bench_function("finish on the roofline", |bencher| {
        bencher.iter(|| finish(&planned, &Efficiencies::Roofline))
    });
}

criterion_group!(benches, roofline);
criterion_main!(benches);
