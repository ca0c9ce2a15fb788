//! The maximum load that a fleet serves, and the replicas over a day.

use rooflight::api::{Options, ParsedScenario};
use rooflight::config::Field;
use rooflight::efficiency::Efficiencies;
use rooflight::find::{Capacity, Search};

use super::{capacity, finish, learned, plan, request, small};

#[test]
fn the_most_load_of_a_fleet_or_budget_is_found() {
    let limits = r#""slo_ttft": 1000, "slo_tpot": 30, "gpu": "h100-sxm", "tp": 1"#;
    let with = |load: &str, fleet: &str| capacity(&small(&format!("{load}, {limits}, {fleet}")));
    let found = with(r#""rate": "most""#, r#""owned": {"h100-sxm": 2}"#);
    let most = found.most.expect("some load is taken");
    let breaks = most.breaks_at.expect("there is an end");
    assert!(most.load > 1.0 && breaks > most.load && breaks <= most.load * 1.031, "{most:?}");
    let best = &found.answer.plans[0];
    assert!(best.gpus <= 2 && best.config["rate"].as_f64() == Some(most.load), "{}", best.config);
    let fits = |rate: f64| {
        !plan(&small(&format!(r#""rate": {rate}, {limits}, "owned": {{"h100-sxm": 2}}"#))).plans.is_empty()
    };
    assert!(fits(most.load) && !fits(breaks));
    // Dollars for two GPUs buy what two GPUs take; for one, about half of it.
    let two = with(r#""rate": "most""#, r#""budget_dollars": 5.4"#).most.expect("some").load;
    let one = with(r#""rate": "most""#, r#""budget_dollars": 2.7"#).most.expect("some").load;
    assert!((two / most.load - 1.0).abs() < 1e-9 && (0.4..0.6).contains(&(one / two)), "{one} {two}");
    let clients = with(r#""concurrency": "most""#, r#""budget_gpus": 1"#);
    let users = clients.most.expect("some");
    assert!(users.load.fract() == 0.0 && users.field == Field::Concurrency && users.load > 1.0, "{users:?}");
    let said = [most.text(Some(best)), clients.most.expect("some").text(clients.answer.plans.first())];
    assert!(said[0].contains("2 GPUs") && said[0].contains("requests/s; at "), "{said:?}");
    assert!(said[1].starts_with("this GPU serves up to ") && said[1].contains(" clients; at "), "{said:?}");
    // No load at all meets these limits.
    let none = capacity(&small(r#""rate": "most", "slo_tpot": 0.1, "gpu": "h100-sxm", "budget_gpus": 1"#));
    assert!(none.most.is_none() && none.answer.plans.is_empty() && none.answer.nearest.is_some());
}

/// A load test starts all clients at once; the users of a service do not.
#[test]
fn users_do_not_all_start_at_once() {
    const ASKED: &str = r#""model": "llama-3.1-8b", "isl": 512, "osl": 64, "engine": "vllm", "pp": 1, "slo_ttft": 300,
        "slo_tpot": 40, "gpu": "h100-sxm", "tp": 1, "budget_gpus": 1, "plans": 1"#;
    let asked = |load: &str| capacity(&format!("{{{load}, {ASKED}}}"));
    let load = |found: &Capacity| found.most.expect("some load is taken").load;
    let service = asked(r#""concurrency": "most""#);
    // As many as a long ramp allows.
    let ramped = asked(r#""concurrency": "most", "ramp": 8, "requests": 5000"#);
    assert!((load(&service) / load(&ramped) - 1.0).abs() < 0.25, "{} {}", load(&service), load(&ramped));
    // A stated number of requests is of a test.
    let clients = load(&service);
    let test = plan(&format!(r#"{{"concurrency": {clients}, "requests": 1000, {ASKED}}}"#));
    assert!(test.plans.is_empty() && test.nearest.is_some(), "{:?}", test.plans);
    let said = service.most.expect("some").text(service.answer.plans.first());
    assert!(said.contains(" clients that start one after another, over "), "{said}");
    // The plan's link gives the plan's numbers: it holds the ramp.
    let best = &service.answer.plans[0];
    assert!(best.config["ramp"].as_f64().is_some_and(|seconds| seconds >= 1.0), "{}", best.config);
    let opened =
        ParsedScenario::read(&best.link).predict(&Options::default(), |_| Ok(Efficiencies::Roofline));
    let run = opened.report.and_then(|report| report.run).expect("a run");
    assert_eq!((run.metrics.ttft, run.meets_limits()), (best.ttft, Some(true)));
    // Users of sessions likewise.
    let sessions = asked(r#""sessions": "most", "turns": 3, "think_time": 2"#);
    assert!(sessions.answer.plans[0].config["ramp"].as_f64() > Some(8.0), "{:?}", sessions.most);
}

#[test]
fn replicas_follow_the_rates_of_a_day() {
    let rates: Vec<f64> = (0..24).map(|hour| if hour < 8 { 0.0 } else { f64::from(hour) * 12.0 }).collect();
    let limits = r#""slo_ttft": 1000, "slo_tpot": 30, "gpu": "h100-sxm", "tp": 1, "plans": 1"#;
    let found = capacity(&small(&format!(r#""day": {rates:?}, {limits}"#)));
    let (day, peak) = (&found.days[0], &found.answer.plans[0]);
    assert_eq!((day.hours.len(), day.link.as_str()), (24, peak.link.as_str()));
    let replicas: Vec<u32> = day.hours.iter().map(|hour| hour.replicas).collect();
    assert!(
        replicas.is_sorted() && replicas[7] == 0 && replicas[23] == peak.replicas && replicas[8] > 0,
        "{replicas:?}"
    );
    assert!(replicas[8] < replicas[23], "{replicas:?}");
    assert_eq!(day.hours.iter().map(|hour| hour.step).sum::<i64>(), 0);
    assert_eq!(day.hours[0].step, -i64::from(peak.replicas));
    let gpus: u32 = day.hours.iter().map(|hour| hour.gpus).sum();
    let (cost, all_day) =
        (day.dollars_per_day.expect("a price"), day.dollars_per_day_at_peak.expect("a price"));
    assert!((cost - f64::from(gpus) * 2.69).abs() < 1e-6 && (day.gpu_hours - f64::from(gpus)).abs() < 1e-9);
    assert!((all_day - 24.0 * peak.dollars_per_hour.expect("a price")).abs() < 1e-9 && cost < all_day);
    // An hour's replicas are those of a plan for its rate.
    let alone = plan(&small(&format!(r#""rate": {}, {limits}"#, rates[12])));
    assert_eq!(alone.plans[0].replicas, replicas[12]);
}

/// A run with more clients is not a gentler test: their ramp follows what they wait when they start slowly, and a
/// number of replicas that just misses a percentile does not rule out fewer.
#[test]
fn twice_the_users_need_about_twice_the_replicas() {
    const SYSTEM: &str = r#""model": "llama-3.3-70b-instruct", "weights": "fp8", "isl": 4000, "osl": 300, "slo_ttft": 1000,
        "slo_tpot": 40, "gpu": "h100-sxm", "engine": "vllm", "tp": 4, "pp": 1, "plans": 1"#;
    let gpus = |load: &str| {
        let found = finish(Search::new(request(&format!("{{{load}, {SYSTEM}}}"))), learned);
        f64::from(found.plans[0].gpus)
    };
    let sessions =
        |users: u32| gpus(&format!(r#""sessions": {users}, "turns": 10, "message": 200, "think_time": 5"#));
    let clients = |clients: u32| gpus(&format!(r#""concurrency": {clients}"#));
    for (name, few, many) in
        [("sessions", sessions(64), sessions(256)), ("clients", clients(64), clients(256))]
    {
        assert!((2.5..=4.5).contains(&(many / few)), "{name}: {few} GPUs, {many} for four times the load");
    }
}
