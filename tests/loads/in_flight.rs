//! Rates with a limit of requests in flight.

use rooflight::config::{Field, Load, Setup};
use rooflight::serving::{answer, plan};

use super::support::{flat, runner};
use super::{ENGINES, setup};

/// As in `vllm bench serve` with a rate and a maximum concurrency.
#[test]
fn a_rate_may_have_a_limit_of_requests_in_flight() {
    for engine in ENGINES {
        let at = |rate: f64, most: Option<u32>, replicas: u32| {
            let setup = setup(engine, Load::Rate(rate)).under(|workload| workload.max_in_flight = most);
            let setup = Setup { replicas, ..setup };
            let (plan, rows) = plan(&setup).expect("the catalog has every figure");
            let (report, _) = answer(&plan, &flat(&rows)).expect("every row is answered");
            report
        };
        let run = |rate: f64, most: Option<u32>, replicas: u32| at(rate, most, replicas).run.expect("served");
        // A limit that is never reached changes nothing.
        assert_eq!(run(2.0, Some(4000), 1).metrics, run(2.0, None, 1).metrics, "{engine}");
        // One that is reached makes clients of the rate.
        let clients = runner(&setup(engine, Load::Concurrency(4))).run(Load::Concurrency(4)).expect("served");
        for replicas in [1, 2] {
            let each = f64::from(replicas);
            let report = at(400.0 * each, Some(4 * replicas), replicas);
            let behind = report.run.expect("served");
            let found = behind.saturation.expect("they do not keep up");
            assert!(
                (found.served_per_s / clients.metrics.requests_per_s / each - 1.0).abs() < 0.05,
                "{found:?}"
            );
            assert!(
                (behind.metrics.in_flight / 4.0 - 1.0).abs() < 0.05,
                "{engine}: {}",
                behind.metrics.in_flight
            );
            assert!(
                behind.metrics.ttft.mean < 1.5 * clients.metrics.ttft.mean,
                "{engine}: none waits for a slot"
            );
            let fields: Vec<Field> = report.issues.iter().map(|issue| issue.field).collect();
            assert!(fields.contains(&Field::MaxInFlight) && !fields.contains(&Field::Rate), "{fields:?}");
        }
        // Two requests cannot be on four replicas at once.
        let few = run(400.0, Some(2), 4);
        assert!(few.metrics.in_flight < 1.01, "{engine}: {} on each of two", few.metrics.in_flight);
    }
}
