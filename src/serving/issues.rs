//! What only a run shows, and its reader should know.

use super::finish::decoding;
use super::fit::clients_per_copy;
use super::replica::{api_servers, frontend, largest_graph};
use super::report::PassReport;
use super::run::Run;
use crate::calibration::{ConfigPoint, shipped};
use crate::config::{Field, Issue, Load, Setup, Start, Workload};
use crate::graph::Phase;
use crate::units::{count, counted, percent};

/// Recommended utilisation of a replica.
const FULL_USE: f64 = 0.9;
/// Share of a limit, on average over a run that also fills and drains, from which on it is reached: a choice.
const AT_LIMIT: f64 = 0.8;
/// Share of the history that could be cached below which it is worth saying how much is.
const KEPT: f64 = 0.9;
/// Share of its time from which on an API server limits the load.
const BUSY: f64 = 0.95;
/// Share of requests, or of a step's time, from which on something is worth a word.
const MANY: f64 = 0.1;

pub fn of_run(setup: &Setup, run: &Run, passes: &[PassReport]) -> Vec<Issue> {
    let all = [
        saturated(setup, run),
        limits_sequences(setup, run),
        ends_in_ramp(setup, run),
        admits_no_more(setup, run),
        outgrows_graphs(setup, run, passes),
        preempts(setup, run),
        forgets(setup, run),
        uneven(setup),
    ];
    all.into_iter().flatten().collect()
}

/// A warning if calibration leaves out measured runs of this configuration because they are unexplained.
pub fn contradicted(setup: &Setup) -> Option<Issue> {
    let point = ConfigPoint::of(setup, 1.0);
    let doubted = shipped().doubted.iter().find(|doubted| doubted.is_of(&point))?;
    let of = |name, times: Option<[f64; 2]>| {
        times.map(|[least, most]| format!("{least} to {most} times the uncalibrated {name}"))
    };
    let times: Vec<_> = [of("TTFT", doubted.ttft), of("TPOT", doubted.tpot)].into_iter().flatten().collect();
    let text = format!(
        "On {}, measured runs of a model of this shape had {}, for an unknown reason. Calibration leaves them out: measure \
         before you rely on this answer.",
        setup.gpu.measured().name,
        times.join(" and "),
    );
    Some(Issue::warning(Field::Model, text))
}

/// A warning if the run's times say little.
fn saturated(setup: &Setup, run: &Run) -> Option<Issue> {
    let found = run.saturation?;
    let arriving = count(setup.requests_at(run.load));
    if let Some(most) = setup.workload.max_in_flight {
        let text = format!(
            "With at most {most} in flight, {} of {arriving} requests/s are sent. Their TTFT does not include what the \
             client holds back: lower the rate, or raise or clear this limit.",
            count(found.served_per_s),
        );
        return Some(Issue::warning(Field::MaxInFlight, text));
    }
    // A run may end before it is full.
    let when = if run.metrics.requests_per_s > found.served_per_s { " in the long run" } else { "" };
    let text = format!(
        "Arrivals exceed capacity: {arriving} requests/s arrive, {} can be served{when}. TTFT grows without bound \
         for as long as the load lasts. Lower the rate, or use {}.",
        count(found.served_per_s),
        match enough_replicas(setup, run) {
            None if setup.prefill.is_none() => "more replicas".into(),
            None if found.of_decode => "more decode replicas".into(),
            None => "more prefill workers".into(),
            Some(enough) => {
                let limits = setup.workload.slos.limits().next().map_or("", |_| "; limits may take more");
                format!(
                    "{} replicas, which leaves at least a tenth to spare{limits}",
                    count(f64::from(enough))
                )
            }
        },
    );
    Some(Issue::warning(setup.workload.load.size(), text))
}

/// A note if sessions find little of their history in the prefix cache.
fn forgets(setup: &Setup, run: &Run) -> Option<Issue> {
    let Workload { turns, load, .. } = setup.workload;
    let found = run.history_found.filter(|found| *found < KEPT * turns.history_cached)?;
    let text = format!(
        "the prefix cache still holds {} of the history that turns need, and the rest is prefilled again",
        percent(found)
    );
    Some(Issue::note(load.size(), text))
}

/// A note if clients divide so unevenly that the simulated replica, with most of them, is hardly like the others.
fn uneven(setup: &Setup) -> Option<Issue> {
    let load = setup.workload.load;
    let (Load::Concurrency(clients) | Load::Sessions(clients)) = load else { return None };
    let (each, _) = clients_per_copy(setup, clients);
    let most = each.ceil();
    (most > each * (1.0 + MANY)).then(|| {
        let text = format!(
            "{} do not divide evenly among {} replicas: the figures are of those with {}. The others answer sooner, and \
             the power counted is that of {} such replicas",
            counted(clients, if load.is_sessions() { "user" } else { "client" }),
            setup.copies(),
            count(most),
            count(f64::from(clients) / most),
        );
        Issue::note(load.size(), text)
    })
}

/// A note if many sequences lose their KV cache.
fn preempts(setup: &Setup, run: &Run) -> Option<Issue> {
    let times = f64::from(run.preemptions);
    let text = format!(
        "the KV cache ran out {} times over {} requests; each time a sequence was preempted and recomputed. A lower \
         Max sequences would avoid this",
        count(times),
        count(f64::from(run.requests))
    );
    (times > MANY * f64::from(run.requests)).then(|| Issue::note(setup.workload.load.size(), text))
}

/// An issue if many steps have more sequences than any CUDA graph: a warning if that makes them longer.
fn outgrows_graphs(setup: &Setup, run: &Run, passes: &[PassReport]) -> Option<Issue> {
    let largest = largest_graph(setup);
    // A run of pools is that of all replicas.
    let batches = f64::from(setup.parallel.batches() * setup.replicas.max(1) / setup.copies());
    let decoding = decoding(run) / batches;
    let decode = passes.iter().find(|pass| pass.phase == Phase::Decode)?;
    let host = decode.host.0 / decode.time.0;
    let share = run.timeline.share_above(f64::from(largest) * batches);
    let limit = count(f64::from(largest));
    if largest == 0 {
        return None;
    }
    if decoding <= f64::from(largest) {
        let text = format!(
            "{} of the time more sequences run than the {limit} of the largest CUDA graph, and their steps are launched \
             kernel by kernel",
            percent(share)
        );
        return (share > MANY).then(|| Issue::note(Field::LargestGraph, text));
    }
    let text = format!(
        "{} sequences decode at once, more than the {limit} of the largest CUDA graph, so steps are launched kernel by kernel",
        count(decoding.ceil()),
    );
    Some(if host > MANY {
        let text = format!("{text}. The GPU idles {} of their time: raise it", percent(host));
        Issue::warning(Field::LargestGraph, text)
    } else {
        Issue::note(Field::LargestGraph, text)
    })
}

/// A warning if arrivals exceed what the engine's limit of sequences lets it serve, and not what its KV cache holds.
fn limits_sequences(setup: &Setup, run: &Run) -> Option<Issue> {
    let most = setup.max_seqs.saturating_mul(setup.parallel.dp);
    let is_full = run.saturation.is_some()
        && setup.prefill.is_none()
        && run.metrics.running > AT_LIMIT * f64::from(most);
    // A cache that is as full limits them as well.
    let has_room = run.timeline.mean_kv() < AT_LIMIT;
    (is_full && has_room && setup.workload.load.is_rate()).then(|| {
        let text = format!(
            "the engine's limit of {} on a replica is reached while the KV cache has room: raise it",
            counted(most, "sequence"),
        );
        Issue::warning(Field::MaxSeqs, text)
    })
}

/// A warning if a run does not show the load after its ramp.
fn ends_in_ramp(setup: &Setup, run: &Run) -> Option<Issue> {
    run.ends_in_ramp.then(|| {
        let raise = setup.workload.requests.map_or("", |_| ", or raise Requests");
        let text = format!(
            "the run is too short for its ramp, so its figures are those of a server that fills up: start clients in less \
             time{raise}"
        );
        Issue::warning(if let Start::Stagger(_) = run.start { Field::Stagger } else { Field::Ramp }, text)
    })
}

/// A warning if the API server, not the GPUs, limits the load.
fn admits_no_more(setup: &Setup, run: &Run) -> Option<Issue> {
    let each = frontend(setup);
    let of_replica = run.metrics.requests_per_s / f64::from(setup.copies());
    let is_busy = setup.prefill.is_none() && of_replica * each.0 > BUSY;
    is_busy.then(|| {
        let text = format!(
            "an API server of {} is assumed to take {} per request, so a replica admits at most {} requests/s, however \
             fast its GPUs: use more replicas. More API servers per engine than by default are not simulated",
            setup.engine.name,
            (each * api_servers(setup)).print(),
            count(1.0 / each.0),
        );
        Issue::warning(Field::Engine, text)
    })
}

/// The replicas to use instead if arrivals exceed the capacity of these; `None` for pools, for sessions (with fewer on each
/// replica, more of their histories stay in its cache), and if the client holds requests back.
pub fn enough_replicas(setup: &Setup, run: &Run) -> Option<u32> {
    let of_replica = run.saturation?.served_per_s / f64::from(setup.replicas.max(1));
    let enough = (setup.requests_at(run.load) / (of_replica * FULL_USE)).ceil() as u32;
    let is_known = setup.prefill.is_none()
        && setup.workload.session().is_none()
        && setup.workload.max_in_flight.is_none();
    is_known.then(|| enough.max(setup.replicas.saturating_add(1)))
}
