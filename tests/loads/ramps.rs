//! Clients that start one after another.

use rooflight::config::link::decode;

use super::*;

fn of_link(link: &str) -> Run {
    run(&check(&decode(link).0.scenario, catalog()).0.expect("checked"))
}

#[test]
fn rates_are_those_while_all_clients_are_there() {
    let clients = setup("vllm", Load::Concurrency(64));
    let stay = run(&clients).metrics.e2e.mean;
    for stays in [1.0, 4.0, 8.0] {
        let ramped = clients.under(|workload| workload.start = Start::Ramp(stays * stay));
        let long = run(&ramped.under(|workload| workload.requests = Some(20_000)));
        let times = run(&ramped).metrics.requests_per_s / long.metrics.requests_per_s;
        // In a long run requests fall into step, which costs up to a tenth.
        assert!((0.97..1.13).contains(&times), "{stays} stays: {times}");
    }
}

#[test]
fn no_more_are_in_flight_than_there_are_clients() {
    let ramped = of_link("hl=100-10x20,100-4000&c=128&ru=10");
    assert!(ramped.metrics.in_flight < 1.01 * 128.0, "{}", ramped.metrics.in_flight);
}

#[test]
fn a_run_goes_on_after_its_ramp_or_says_that_it_does_not() {
    let [short, long] = ["60", "50000"].map(|ramp| of_link(&format!("osl=64&c=128&ru={ramp}")));
    assert!(!short.ends_in_ramp && long.ends_in_ramp, "{} {}", short.requests, long.requests);
    assert!(!of_link("osl=64&c=128").ends_in_ramp);
}
