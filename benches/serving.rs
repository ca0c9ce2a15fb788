//! How long an answer takes natively: one closed-form scenario, from setup to report.

use criterion::{Criterion, criterion_group, criterion_main};
use rooflight::config::catalog::catalog;
use rooflight::config::{Scenario, Setup, check};
use rooflight::efficiency::Efficiencies;
use rooflight::serving::{finish, plan};

fn default_setup() -> Setup {
    check(&Scenario::default(), catalog()).0.expect("the default scenario is sound")
}

/// The steps of an answer that need no models.
fn roofline(criterion: &mut Criterion) {
    let setup = default_setup();
    criterion.bench_function("plan", |bencher| bencher.iter(|| plan(&setup)));
    let planned = plan(&setup).expect("the default scenario has a plan");
    criterion.bench_function("finish on the roofline", |bencher| {
        bencher.iter(|| finish(&planned, &Efficiencies::Roofline))
    });
}

/// The whole of a learned answer, its weights loaded.
#[cfg(feature = "tools")]
fn learned(criterion: &mut Criterion) {
    use rooflight::evidence::models::open_models;

    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let models = open_models(&folder).expect("the shipped models load");
    let setup = default_setup();
    criterion.bench_function("learned answer", |bencher| {
        bencher.iter(|| {
            let planned = plan(&setup).expect("the default scenario has a plan");
            let efficiencies = models.answer(planned.rows()).expect("the shipped models answer");
            finish(&planned, &Efficiencies::Learned(efficiencies))
        });
    });
}

#[cfg(feature = "tools")]
criterion_group!(benches, roofline, learned);
#[cfg(not(feature = "tools"))]
criterion_group!(benches, roofline);
criterion_main!(benches);
