//! Loads that the replicas do not divide evenly.

use rooflight::config::{Load, Setup};
use rooflight::efficiency::Efficiencies;
use rooflight::serving::{answer, plan};

use super::{run, setup};

#[test]
fn replicas_that_do_not_divide_a_load_serve_no_more_than_it() {
    for load in [Load::Burst(9), Load::Offline(9)] {
        let one = run(&setup("vllm", load));
        let eight = Setup { replicas: 8, ..setup("vllm", load) };
        let run = run(&eight);
        let served = run.metrics.requests_per_s * run.metrics.duration;
        assert!((served / 9.0 - 1.0).abs() < 1e-6, "{load:?}: {served}");
        assert!(run.metrics.duration <= one.metrics.duration, "{load:?}");
    }
}

/// Nine clients on eight replicas are not sixteen: one replica has two of them.
#[test]
fn replicas_that_do_not_divide_clients_have_no_more_of_them() {
    for load in [Load::Concurrency(9), Load::Sessions(9)] {
        let alone = run(&setup("vllm", load.with_amount(1.0))).metrics;
        let nine = run(&Setup { replicas: 8, ..setup("vllm", load) }).metrics;
        assert!(
            nine.requests_per_s <= alone.requests_per_s * 9.0 * 1.02,
            "{load:?}: {}",
            nine.requests_per_s
        );
    }
}

/// One session cannot keep four replicas busy.
#[test]
fn replicas_serve_no_more_sessions_than_there_are() {
    for load in [Load::Sessions(4), Load::SessionRate(1.0)] {
        let few =
            setup("vllm", load).under(|workload| (workload.turns.count, workload.requests) = (8, Some(8)));
        let served = |replicas: u32| {
            let metrics = run(&Setup { replicas, ..few.clone() }).metrics;
            metrics.requests_per_s * metrics.duration
        };
        for replicas in [1, 2, 4] {
            assert!((served(replicas) / 8.0 - 1.0).abs() < 1e-6, "{load:?}: {}", served(replicas));
        }
    }
}

#[test]
fn clients_that_do_not_divide_are_said() {
    for (clients, is_said) in [(16, false), (17, true), (160, false), (161, false)] {
        let setup = setup("vllm", Load::Concurrency(clients));
        let setup = Setup { replicas: 16, ..setup };
        let (plan, _) = plan(&setup).expect("complete");
        let (report, _) = answer(&plan, &Efficiencies::Roofline).expect("an answer");
        let said = report.issues.iter().any(|issue| issue.text.contains("divide evenly"));
        assert_eq!(said, is_said, "{clients}: {:?}", report.issues);
    }
}
