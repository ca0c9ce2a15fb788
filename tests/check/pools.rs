//! Separate prefill workers: what is accepted, and what is reported on which field.

use super::{checked, model, refusal};
use rooflight::config::{Field, Load, Parallelism, Prefill, Scenario, Severity, catalog};

fn pools(scenario: &mut Scenario) {
    scenario.model = model("deepseek-r1");
    scenario.gpu = "gb200".into();
    scenario.engine = "trtllm".into();
    (scenario.parallel.dp, scenario.parallel.ep, scenario.replicas) = (48, 48, 1);
    let parallel = Parallelism { dp: 4, ep: 4, ..Parallelism::NONE };
    scenario.prefill = Prefill { workers: 3, parallel, token_budget: Some(4096), ..Prefill::default() };
}

#[test]
fn workers_are_a_setup_of_their_own() {
    let (setup, issues) = checked(pools);
    let setup = setup.unwrap_or_else(|| panic!("{issues:?}"));
    let pool = setup.prefill.as_ref().expect("workers");
    assert_eq!((setup.gpus(), setup.parallel.gpus(), pool.setup.gpus()), (60, 48, 12));
    assert_eq!((pool.setup.replicas, pool.setup.parallel.dp, pool.setup.workload.osl), (3, 4, 1));
    assert_eq!((pool.setup.token_budget, setup.workload.osl), (4096, Scenario::default().workload.osl));
}

#[test]
fn workers_on_another_gpu_have_a_price_of_their_own() {
    for (gpu, price, wanted) in [
        (Some("b200"), Some(1.5), Some(1.5)),
        (Some("b200"), None, catalog().gpu("b200").unwrap().dollars_per_hour.0),
        // As the replicas' price, if they are on the same GPU.
        (None, Some(1.5), Some(3.0)),
    ] {
        let (setup, issues) = checked(|scenario| {
            pools(scenario);
            scenario.overrides.price = Some(3.0);
            (scenario.prefill.gpu, scenario.prefill.price) = (gpu.map(str::to_owned), price);
        });
        let setup = setup.unwrap_or_else(|| panic!("{issues:?}"));
        let pool = &setup.prefill.as_ref().expect("workers").setup;
        assert_eq!((setup.price, pool.price), (Some(3.0), wanted), "{gpu:?}");
    }
}

#[test]
fn inputs_of_workers_without_any_are_reported() {
    type Change = fn(&mut Prefill);
    let changes: [(Field, Change); 4] = [
        (Field::PrefillTp, |prefill| prefill.parallel.tp = 8),
        (Field::PrefillGpu, |prefill| prefill.gpu = Some("h200-sxm".into())),
        (Field::PrefillPrice, |prefill| prefill.price = Some(2.0)),
        (Field::SendRate, |prefill| prefill.send_gb_per_s = Some(50.0)),
    ];
    for (field, change) in changes {
        let (setup, issues) = checked(|scenario| change(&mut scenario.prefill));
        let found: Vec<_> = issues.iter().map(|issue| (issue.field, issue.severity)).collect();
        assert_eq!(found, [(field, Severity::Warning)]);
        assert!(setup.is_some_and(|setup| setup.prefill.is_none()));
    }
}

#[test]
fn a_price_of_workers_on_the_replicas_gpu_is_reported() {
    for (gpu, reported) in [(None, true), (Some("gb200"), true), (Some("b200"), false)] {
        let (_, issues) = checked(|scenario| {
            pools(scenario);
            (scenario.prefill.gpu, scenario.prefill.price) = (gpu.map(str::to_owned), Some(1.5));
        });
        assert_eq!(issues.iter().any(|issue| issue.field == Field::PrefillPrice), reported, "{gpu:?}");
    }
}

#[test]
fn errors_of_prefill_workers_are_on_their_fields() {
    let refused = |field, change: fn(&mut Scenario)| {
        refusal(field, |scenario| {
            pools(scenario);
            change(scenario);
        })
    };
    let text = refused(Field::PrefillEp, |scenario| scenario.prefill.parallel.ep = 3);
    assert!(text.starts_with("prefill workers: "), "{text}");
    let text = refused(Field::PrefillGpu, |scenario| scenario.prefill.gpu = Some("h1000".into()));
    assert!(text.contains("no GPU `h1000`"), "{text}");
    let text = refused(Field::PrefillWorkers, |scenario| scenario.workload.load = Load::Offline(100));
    assert!(text.contains("choose a load other than"), "{text}");
    refused(Field::PrefillTp, |scenario| scenario.prefill.parallel.tp = 3);
    refused(Field::SendRate, |scenario| scenario.prefill.send_gb_per_s = Some(0.0));
    // A prompt need not fit a step of a decode worker, but one of a prefill worker.
    let (setup, _) = checked(|scenario| {
        pools(scenario);
        scenario.overrides.token_budget = Some(64);
    });
    assert!(setup.is_some());
    refused(Field::PrefillBudget, |scenario| scenario.prefill.token_budget = Some(64));
}

#[test]
fn experts_that_do_not_divide_take_every_rank_of_a_stage() {
    let text = refusal(Field::Ep, |scenario| {
        pools(scenario);
        scenario.prefill = Prefill::default();
        scenario.parallel.ep = 24;
    });
    assert!(text.contains("are not divisible by EP 24"), "{text}");
}
