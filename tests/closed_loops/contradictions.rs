//! Which of two contradictory runs is named.

use rooflight::evidence::cases::ServedCase;
use rooflight::evidence::compared::Times;
use rooflight::evidence::contradictions::contradictions;

fn run(id: &str, clients: u32, ttft_ms: f64, tpot_ms: f64) -> ServedCase {
    ServedCase {
        id: id.to_owned(),
        source: "aiconfigurator/inferencex_csv".to_owned(),
        model: "m".to_owned(),
        engine: "vllm".to_owned(),
        gpu: "b200".to_owned(),
        gpus: 1,
        tp: 1,
        pp: 1,
        ep: 1,
        dp_attention: 1,
        isl: 1024,
        osl: 1024,
        concurrency: clients,
        measured_on: Some("2026-02-27".to_owned()),
        measured: Times { ttft_ms: Some(ttft_ms), tpot_ms: Some(tpot_ms), ..Times::default() },
        ..ServedCase::default()
    }
}

fn named(cases: &[ServedCase]) -> Vec<String> {
    let cases: Vec<_> = cases.iter().collect();
    contradictions(&cases, &|_| None).into_iter().map(|found| found.id).collect()
}

#[test]
fn the_run_against_all_others_is_named() {
    let orderly =
        [run("a", 4, 50.0, 5.0), run("b", 8, 60.0, 6.0), run("c", 16, 70.0, 7.0), run("d", 32, 80.0, 6.8)];
    assert_eq!(named(&orderly), Vec::<String>::new());
    let mut slow = orderly.clone();
    slow[1].measured.tpot_ms = Some(12.0);
    assert_eq!(named(&slow), ["b"]);
    // Too fast for its clients: it is the one that contradicts all the others.
    let mut fast = orderly.clone();
    fast[3].measured.tpot_ms = Some(3.0);
    assert_eq!(named(&fast), ["d"]);
    let mut late = orderly;
    late[0].measured.ttft_ms = Some(500.0);
    assert_eq!(named(&late), ["a"]);
}

#[test]
fn repeats_that_differ_name_the_slower_or_both() {
    assert_eq!(named(&[run("a", 4, 50.0, 5.0), run("b", 4, 60.0, 6.0)]), ["b"]);
    assert_eq!(named(&[run("a", 4, 500.0, 5.0), run("b", 4, 60.0, 6.0)]), ["a", "b"]);
    let mut later = run("b", 4, 60.0, 6.0);
    later.measured_on = Some("2026-03-07".to_owned());
    assert_eq!(named(&[run("a", 4, 50.0, 5.0), later]), Vec::<String>::new());
}

#[test]
fn the_floor_is_the_callers() {
    let cases = [run("a", 4, 50.0, 5.0), run("b", 8, 50.0, 6.0), run("c", 16, 50.0, 7.0)];
    let cases: Vec<_> = cases.iter().collect();
    let floor = |case: &ServedCase| match case.concurrency {
        4 => Some(5.5e-3),
        8 => Some(5.5e-3),
        _ => Some(f64::INFINITY),
    };
    let found = contradictions(&cases, &floor);
    assert_eq!(found.iter().map(|case| case.id.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(found[0].reasons, ["TPOT 5.000 ms is below the least possible 5.500 ms"]);
}
