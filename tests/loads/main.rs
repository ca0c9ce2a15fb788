//! Each kind of load, simulated.

mod capacity;
mod in_flight;
mod ramps;
mod replicas;
#[path = "../support/mod.rs"]
mod support;

use rooflight::config::catalog::catalog;
use rooflight::config::{
    Field, Lengths, Load, ModelChoice, Scenario, Setup, Shape, Slos, Start, Turns, Workload, check, mean_of,
};
use rooflight::serving::run::{Run, Sweep, requests};
use rooflight::serving::{answer, memory_of, plan};

use support::{flat, runner};

const ENGINES: [&str; 3] = ["vllm", "sglang", "trtllm"];

fn setup(engine: &str, load: Load) -> Setup {
    let scenario = Scenario {
        model: ModelChoice::Catalog("qwen3-8b".into()),
        engine: engine.into(),
        workload: Workload { isl: Lengths::Fixed(512), osl: 64, load, ..Workload::default() },
        ..Scenario::default()
    };
    let (setup, issues) = check(&scenario, catalog());
    setup.unwrap_or_else(|| panic!("{issues:?}"))
}

fn run(setup: &Setup) -> Run {
    runner(setup).run(setup.workload.load).unwrap_or_else(|issue| panic!("{issue:?}"))
}

#[test]
fn a_burst_and_a_queue_are_all_requests_at_once() {
    for engine in ENGINES {
        let (burst, queue) = (run(&setup(engine, Load::Burst(200))), run(&setup(engine, Load::Offline(200))));
        assert_eq!((burst.requests, queue.requests), (200, 200), "{engine}");
        // There is no server in front of a queue.
        let sooner = queue.metrics.output_per_s / burst.metrics.output_per_s;
        assert!((1.0..2.0).contains(&sooner), "{engine}: {sooner}");
        // Infinitely many a second, as `vllm bench serve` says it.
        let flood =
            run(&setup(engine, Load::ConstantRate(1e6)).under(|workload| workload.requests = Some(200)));
        assert!((flood.metrics.output_per_s / burst.metrics.output_per_s - 1.0).abs() < 0.02, "{engine}");
        let most = setup(engine, Load::Burst(200)).under(|workload| workload.max_in_flight = Some(8));
        let clients = setup(engine, Load::Concurrency(8)).under(|workload| workload.requests = Some(200));
        assert_eq!(run(&most).metrics, run(&clients).metrics, "{engine}");
        assert!(run(&most).metrics.ttft.mean < burst.metrics.ttft.mean, "{engine}");
        let held = |setup: &Setup| memory_of(setup).expect("sound").kv_needed;
        assert_eq!(held(&most), held(&clients), "{engine}: what waits at the client holds no cache");
    }
}

/// A queue with too many prompts to simulate is served at the rate of a shorter one, and so is a burst of which few are sent at a time. A
/// whole burst is refused: the server never holds as much of a shorter one.
#[test]
fn a_queue_too_long_to_simulate_is_served_like_a_shorter_one() {
    let long = |load: Load| {
        setup("vllm", load).under(|workload| (workload.isl, workload.osl) = (Lengths::Fixed(24_000), 12_000))
    };
    let [short, all] = [1_000, 100_000].map(|prompts| run(&long(Load::Offline(prompts))));
    assert!(all.requests < 100_000, "{}", all.requests);
    assert!((all.metrics.output_per_s / short.metrics.output_per_s - 1.0).abs() < 0.05);
    assert!((all.metrics.ttft.mean / short.metrics.ttft.mean / 100.0 - 1.0).abs() < 0.1);
    let served = all.metrics.requests_per_s * all.metrics.duration;
    assert!((served / 100_000.0 - 1.0).abs() < 1e-9, "{served}");
    let running = |run: &Run| run.metrics.in_flight - run.metrics.waiting;
    assert!((running(&all) / running(&short) - 1.0).abs() < 0.05);
    // Of a deadline that all but a tenth of the queue meets.
    let late = long(Load::Offline(100_000)).under(|workload| {
        workload.slos = Slos { e2e_ms: Some(0.9e3 * all.metrics.duration), ..Slos::default() };
    });
    assert!((run(&late).limits[0].share - 0.9).abs() < 0.02, "{:?}", run(&late).limits);
    let capped =
        |prompts| run(&long(Load::Burst(prompts)).under(|workload| workload.max_in_flight = Some(4)));
    let [short, all] = [1_000, 100_000].map(capped);
    assert!((all.metrics.ttft.mean / short.metrics.ttft.mean - 1.0).abs() < 0.05);
    assert!((all.metrics.duration / short.metrics.duration / 100.0 - 1.0).abs() < 0.05);
    assert!((all.metrics.in_flight / short.metrics.in_flight - 1.0).abs() < 0.05);
    let burst = long(Load::Burst(100_000));
    let issue = runner(&burst).run(burst.workload.load).expect_err("too long");
    assert_eq!(issue.field, Field::Burst);
}

#[test]
fn a_burst_beyond_memory_says_so() {
    let fields = |load: Load, prompt: u32| {
        let setup = setup("vllm", load).under(|workload| workload.isl = Lengths::Fixed(prompt));
        let (plan, rows) = plan(&setup).expect("the catalog has every figure");
        let (report, _) = answer(&plan, &flat(&rows)).expect("every row is answered");
        report.issues.iter().map(|issue| issue.field).collect::<Vec<_>>()
    };
    assert_eq!(fields(Load::Burst(500), 30_000), [Field::Burst]);
    assert_eq!(fields(Load::Burst(500), 100), []);
    assert_eq!(fields(Load::Offline(500), 30_000), []);
}

/// Thirty thousand steps a request: as many requests as a run has time for.
#[test]
fn few_long_answers_have_a_result() {
    for load in [Load::Concurrency(1), Load::Rate(0.003)] {
        let long = run(&setup("vllm", load).under(|workload| workload.osl = 30_000));
        assert!(long.requests > 10 && long.saturation.is_none(), "{load:?}: {}", long.requests);
    }
}

#[test]
fn more_requests_are_sent_where_more_are_asked_for() {
    let asked =
        |load, requests| run(&setup("vllm", load).under(|workload| workload.requests = requests)).requests;
    assert_eq!(asked(Load::Concurrency(4), Some(30)), 30);
    assert_eq!(asked(Load::Rate(4.0), Some(30)), 30);
    assert_eq!(asked(Load::Rate(4.0), None), 1000);
    assert_eq!(asked(Load::Sessions(4), Some(30)), 32, "whole sessions");
    assert_eq!(asked(Load::SessionRate(1.0), Some(30)), 32);
    assert_eq!(asked(Load::Concurrency(20), None), 200);
    let replicas = Setup {
        replicas: 3,
        ..setup("vllm", Load::ConstantRate(4.0)).under(|workload| workload.requests = Some(30))
    };
    assert_eq!(run(&replicas).requests, 10, "of one of three");
}

/// Sessions may last longer than a thousand requests take to arrive.
#[test]
fn a_run_at_a_rate_goes_on_until_the_server_is_full() {
    let sessions = setup("vllm", Load::SessionRate(1.0));
    let turns = Turns { count: 8, think_s: 60.0, ..sessions.workload.turns };
    let thinking = sessions.under(|workload| workload.turns = turns);
    let (long, short) = (run(&thinking), run(&thinking.under(|workload| workload.requests = Some(1000))));
    // Seven times of thinking in each session, four sessions one after another, and whole sessions.
    let least = 8 * 4 * 7 * 60;
    assert!(long.requests >= least && long.requests.is_multiple_of(8), "{}", long.requests);
    assert!(long.metrics.requests_per_s > 1.5 * short.metrics.requests_per_s);
    assert_eq!(
        long.repeated(&Setup { replicas: 3, ..thinking.clone() }).workload.requests,
        Some(3 * long.requests)
    );
}

/// The longest answers keep a few clients waiting for much longer than the others have anything to send. Users have whole
/// sessions, and as many: in a run of the same number of requests that is no round of them, some end alone.
#[test]
fn clients_go_on_until_start_and_end_are_small() {
    let clients = setup("vllm", Load::Concurrency(32));
    let differing = clients.under(|workload| workload.log_spread = [1.5; 2]);
    let sessions = setup("vllm", Load::Sessions(20));
    let turns = Turns { count: 8, ..sessions.workload.turns };
    for (varied, is_longer) in [(differing, true), (sessions.under(|workload| workload.turns = turns), false)]
    {
        let ten = run(
            &varied.under(|workload| workload.requests = Some(10 * varied.workload.load.amount() as u32))
        );
        let long = run(&varied);
        assert!(long.requests > ten.requests, "{:?}: {}", varied.workload.load, long.requests);
        assert!(long.metrics.output_per_s > 1.1 * ten.metrics.output_per_s, "{:?}", varied.workload.load);
        let measured = long.repeated(&varied).workload.requests;
        assert_eq!(measured, is_longer.then_some(long.requests), "commands measure as long");
    }
    let plain = run(&clients);
    assert_eq!((plain.requests, plain.repeated(&clients).workload.requests), (320, None), "as benchmarks do");
}

#[test]
fn equal_gaps_wait_less_than_random_ones() {
    let ttft = |load| run(&setup("vllm", load)).metrics.ttft;
    let (constant, drawn) = (ttft(Load::ConstantRate(20.0)), ttft(Load::Rate(20.0)));
    assert!(constant.mean < drawn.mean && constant.p99 < 0.7 * drawn.p99, "{constant:?} {drawn:?}");
}

#[test]
fn clients_that_begin_apart_do_not_queue_at_the_start() {
    let ttft = |start| {
        run(&setup("vllm", Load::Concurrency(64)).under(|workload| workload.start = start)).metrics.ttft.p99
    };
    let (at_once, ramp, stagger) = (ttft(Start::AtOnce), ttft(Start::Ramp(32.0)), ttft(Start::Stagger(0.5)));
    assert!(ramp < 0.7 * at_once, "{ramp} of {at_once}");
    assert_eq!(ramp, stagger, "half a second after one another are 32 s for 64");
}

#[test]
fn sessions_find_their_history_in_the_prefix_cache() {
    for engine in ENGINES {
        for load in [Load::Sessions(8), Load::SessionRate(0.5)] {
            // Long enough for the GPU to decide, not the host's launches.
            let kept = setup(engine, load).under(|workload| workload.isl = Lengths::Fixed(4096));
            let lost = kept.under(|workload| workload.turns.history_cached = 0.0);
            let (found, lost) = (run(&kept).metrics, run(&lost).metrics);
            assert!(
                found.ttft.mean < 0.8 * lost.ttft.mean,
                "{engine} {load:?}: {} {}",
                found.ttft.mean,
                lost.ttft.mean
            );
            // Of a first prompt nothing is known.
            let one = kept.under(|workload| (workload.turns.count, workload.requests) = (1, Some(80)));
            let alone = run(&one).metrics;
            let single = match load {
                Load::Sessions(users) => Load::Concurrency(users),
                load => Load::Rate(load.amount()),
            };
            let plain =
                run(&one.under(|workload| (workload.load, workload.cached_share) = (single, 0.0))).metrics;
            assert!((alone.output_per_s / plain.output_per_s - 1.0).abs() < 0.02, "{engine} {load:?}");
        }
    }
    let thinking = setup("vllm", Load::Sessions(8));
    let slow = thinking.under(|workload| workload.turns.think_s = 10.0);
    assert!(run(&slow).metrics.requests_per_s < 0.5 * run(&thinking).metrics.requests_per_s);
}

#[test]
fn sessions_that_outgrow_the_cache_are_computed_anew() {
    let long = setup("vllm", Load::Sessions(60)).under(|workload| workload.isl = Lengths::Fixed(4000));
    let lost = long.under(|workload| workload.turns.history_cached = 0.0);
    let gain = |sessions| {
        let of = |setup: &Setup| {
            run(&setup.under(|workload| workload.load = Load::Sessions(sessions))).metrics.ttft.mean
        };
        of(&lost) / of(&long)
    };
    let (few, many) = (gain(10), gain(400));
    assert!(few > 2.0 && many < 0.6 * few, "{few} {many}");
    let found = |users: u32| run(&long.under(|workload| workload.load = Load::Sessions(users))).history_found;
    let [few, many] = [10, 400].map(|users| found(users).expect("sessions have a history"));
    assert!(few > 0.95 && many < 0.5 * few, "{few} {many}");
    assert_eq!(run(&setup("vllm", Load::Concurrency(4))).history_found, None);
}

#[test]
fn the_host_keeps_sessions_that_outgrow_the_cache() {
    for engine in ENGINES {
        let lost = setup(engine, Load::Sessions(400)).under(|workload| workload.isl = Lengths::Fixed(4000));
        let with = |host_gib: f64| {
            let turns = Turns { host_gib, ..lost.workload.turns };
            run(&lost.under(|workload| workload.turns = turns)).metrics.ttft.mean
        };
        let (none, little, much) = (with(0.0), with(8.0), with(512.0));
        assert!(much < 0.7 * none && little > much, "{engine}: {none} {little} {much}");
        // With its prefix cache off an engine writes nothing there.
        let off = Turns { host_gib: 512.0, history_cached: 0.0, ..lost.workload.turns };
        assert_eq!(lost.under(|workload| workload.turns = off).host_gib(), 0.0);
    }
}

#[test]
fn drawn_sessions_keep_their_means_and_grow() {
    let plain = setup("vllm", Load::Sessions(4));
    for varied in [
        plain.clone(),
        plain.under(|workload| workload.spread = 0.3),
        plain.under(|workload| workload.log_spread = [0.56, 0.16]),
    ] {
        let all = requests(&varied, varied.workload.load, 8_000, 3);
        let mean = all.iter().map(|request| f64::from(request.prompt)).sum::<f64>() / all.len() as f64;
        assert!((mean / varied.mean_prompt() - 1.0).abs() < 0.03, "{mean} {}", varied.mean_prompt());
        for turns in all.chunks(8).flat_map(|session| session.windows(2)) {
            assert!(turns[1].prompt > turns[0].prompt + turns[0].output);
        }
        let longest = all.iter().map(|request| request.prompt).max();
        assert!(longest <= Some(varied.longest().0));
    }
}

#[test]
fn sharegpt_scales_to_the_means() {
    let scenario = Scenario {
        workload: Workload { shape: Some(Shape::Sharegpt), ..Workload::default() },
        ..Scenario::default()
    };
    let setup = check(&scenario, catalog()).0.expect("sound");
    let all = requests(&setup, setup.workload.load, 20_000, 3);
    // Mean, median and the length that a twentieth exceed, over those recorded.
    let [prompts, outputs] = Shape::Sharegpt.tables();
    let lengths = all.iter().map(|request| [request.prompt, request.output].map(f64::from));
    let sides = [(0, setup.mean_prompt(), prompts), (1, f64::from(setup.workload.osl), outputs)];
    for (side, mean, table) in sides {
        let mut lengths: Vec<f64> = lengths.clone().map(|both| both[side]).collect();
        lengths.sort_by(f64::total_cmp);
        let scale = mean / mean_of(table);
        let drawn = [lengths.iter().sum::<f64>() / 20_000.0, lengths[10_000], lengths[19_000]];
        let recorded = [mean_of(table), f64::from(table[10]), f64::from(table[19])];
        for (drawn, recorded) in drawn.into_iter().zip(recorded) {
            assert!((drawn / (recorded * scale) - 1.0).abs() < 0.05, "{drawn} {}", recorded * scale);
        }
    }
}

#[test]
fn a_curve_is_of_the_loads_own_kind() {
    for (load, points) in [(Load::Sessions(4), 8), (Load::Burst(100), 0), (Load::Offline(100), 0)] {
        let runner = runner(&setup("vllm", load));
        let mut sweep = Sweep::of(&runner, None);
        while sweep.advance(&runner).expect("it can be served") {}
        assert_eq!(sweep.curve().len(), points - usize::from(points > 0), "{load:?}");
    }
}

#[test]
fn a_session_that_never_fits_says_what_to_change() {
    let asked = setup("vllm", Load::Sessions(2));
    let turns = Turns { count: 700, ..asked.workload.turns };
    let issue =
        runner(&asked.under(|workload| workload.turns = turns)).run(Load::Sessions(2)).expect_err("too long");
    assert_eq!(issue.field, Field::Turns);
}
