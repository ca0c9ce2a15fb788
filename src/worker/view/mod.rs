//! Answers and simulated runs as tables, charts and sentences.

mod answer;
mod curve;
mod memory;
mod passes;
mod verdict;

pub use answer::answer;
pub use curve::{MeasuredPoints, curve};

use crate::chart::runs;
use crate::config::{Load, Setup, Start};
use crate::serving::run::{Commands, Run};
use crate::serving::sim::Stats;
use crate::study::{Block, Document, Fact, Row};
use crate::units::{Seconds, count, counted, decimal, percent};

/// Height of a row of charts, in CSS pixels.
const HEIGHT: u32 = 224;

/// The run of the requested load.
fn run(setup: &Setup, run: &Run, traced: bool) -> Document {
    let metrics = &run.metrics;
    let commands = Commands::of(&run.repeated(setup));
    let named = [
        ("TTFT", Some(metrics.ttft)),
        ("TPOT", metrics.tpot),
        ("ITL", metrics.itl),
        ("E2E", Some(metrics.e2e)),
    ];
    let rows = named.into_iter().map(|(name, stats)| {
        let cells = stats.map_or_else(|| vec!["–".to_owned(); 4], spread);
        Row::texts(std::iter::once(name.to_owned()).chain(cells))
    });
    let what = if traced { replayed(setup, run) } else { what(setup, run) };
    let bench = if traced { format!("{OF_MEANS}{}", commands.bench) } else { commands.bench };
    let head = ["", "Mean", "P50", "P90", "P99"];
    let blocks = vec![
        Block::text(what).called("simulation-what"),
        Block::table("Latencies of the run", &head, rows).called("latencies"),
        Block::facts(facts(setup, run)).called("simulation-facts"),
        Block::figure(
            match (setup.copies(), &setup.prefill) {
                (_, Some(_)) => "Both pools over time",
                (1, None) => "The replica over time",
                _ => "One replica over time",
            },
            HEIGHT,
            runs::timeline(setup, run),
            timeline_words(run),
        )
        .called("timeline"),
        Block::fold(
            "measure",
            "Measure it yourself",
            vec![
                Block::code("Start the server", "", commands.launch).called("launch"),
                Block::code("Then measure this load", "", bench).called("bench"),
                Block::text("Paste its output under “Your measured runs” to compare it with the prediction."),
            ],
        ),
    ];
    Document { blocks, ..Document::default() }
}

/// What `vllm bench serve` samples instead of a trace.
const OF_MEANS: &str = "# Not the trace itself: requests of its mean lengths, at its rate.\n";

fn what(setup: &Setup, run: &Run) -> String {
    let requests = counted(run.requests, "request");
    let copies = setup.copies();
    let of = match copies {
        1 => String::new(),
        _ => format!(" to one of {copies} replicas"),
    };
    // One replica's share of what arrives.
    let rate = |rate: f64| match copies {
        1 => format!("{} per second", count(rate)),
        _ => format!("{} of {} per second", count(rate / f64::from(copies)), count(rate)),
    };
    let limited = match setup.workload.max_in_flight {
        Some(most) => {
            format!(", at most {} in flight{}", count(most.into()), if copies > 1 { " in all" } else { "" })
        }
        None => String::new(),
    };
    match setup.workload.load {
        Load::Concurrency(clients) => {
            if clients == 1 {
                return format!("{requests}{of}, each sent when the previous one ends.");
            }
            let alike = " Their equal lengths keep them in lockstep, so prompts come in bursts.";
            let bursts = if setup.workload.varies() { "" } else { alike };
            let start = start(setup, counted(clients, "client"));
            format!(
                "{requests}{of}; {start}, and each sends its next request when the previous one \
                ends.{bursts}"
            )
        }
        Load::Rate(all) => format!("{requests}{of}, {}, {}{limited}.", rate(all), times(setup)),
        Load::ConstantRate(all) => format!("{requests}{of}, {}, with equal gaps{limited}.", rate(all)),
        Load::Burst(_) => format!("{requests}{of}, all at once{limited}."),
        Load::Offline(all) if run.requests < all.div_ceil(copies) => format!(
            "{requests}{of}, all queued before the first step, stand for {}.",
            count(f64::from(all.div_ceil(copies))),
        ),
        Load::Offline(_) => format!("{requests}{of}, all queued before the first step."),
        Load::Batch(_) => format!("{requests}{of}, all at once."),
        Load::Sessions(users) => {
            let start = start(setup, counted(users, "user"));
            format!("{requests}{of} in {}; {start}, each with one session after another.", turns(setup))
        }
        Load::SessionRate(all) => {
            format!("{requests}{of} in {}; sessions start at {}, {}.", turns(setup), rate(all), times(setup))
        }
    }
}

fn start(setup: &Setup, clients: String) -> String {
    match setup.workload.start {
        Start::AtOnce => format!("all {clients} start at once"),
        Start::Ramp(seconds) => format!("{clients} start over {} s", decimal(seconds)),
        Start::Stagger(seconds) => format!("{clients} start {} s apart", decimal(seconds)),
    }
}

fn times(setup: &Setup) -> String {
    match setup.workload.burstiness {
        1.0 => "at random times (Poisson)".to_owned(),
        shape => format!("at random times (gamma, burstiness {})", decimal(shape)),
    }
}

fn turns(setup: &Setup) -> String {
    let pause = match setup.workload.turns.think_s {
        0.0 => String::new(),
        seconds => format!(", {} s of think time between them", decimal(seconds)),
    };
    format!("sessions of {}{pause}", counted(setup.workload.turns.count, "turn"))
}

fn replayed(setup: &Setup, run: &Run) -> String {
    let of = if setup.copies() > 1 { " of one replica" } else { "" };
    let requests = counted(run.requests, "request");
    let (prompt, output) = (setup.workload.isl.first(), setup.workload.osl);
    let (prompt, output) = (count(f64::from(prompt)), count(f64::from(output)));
    format!(
        "{requests} of the trace{of} at {} per second; {prompt} prompt and {output} output tokens on \
        average.",
        count(round(run.load)),
    )
}

fn facts(setup: &Setup, run: &Run) -> Vec<Fact> {
    let metrics = &run.metrics;
    let in_all = in_all(setup);
    let per_s = |value: f64, unit: &str| format!("{} {unit}{in_all}", count(value));
    let mut facts = vec![
        Fact::new("duration", Seconds(metrics.duration).print().to_string(), "First arrival to last token"),
        Fact::new(
            "output",
            per_s(metrics.output_per_s, "tok/s"),
            "Output tokens per second while the load lasts; over the whole run if the number of requests is stated or clients start together",
        ),
        Fact::new(
            "input and output",
            per_s(metrics.total_per_s, "tok/s"),
            "Prompt and output tokens per second",
        ),
        Fact::new(
            "requests",
            per_s(metrics.requests_per_s, "/s"),
            "Requests completed per second, over the same time",
        ),
        Fact::new(
            "in flight",
            count(round(metrics.in_flight)) + if setup.copies() > 1 { " per replica" } else { "" },
            if setup.copies() > 1 {
                "Requests in a replica, on average"
            } else {
                "Requests in the system, on average"
            },
        ),
    ];
    if let Some((goodput, share)) = run.steady_goodput().zip(run.share_within_limits()) {
        facts.push(Fact::new("goodput", per_s(goodput, "/s"), "Requests per second that meet all limits"));
        facts.push(Fact::new(
            "within limits",
            percent(share).to_string(),
            "Share of requests that meet all limits",
        ));
    }
    if let Some(found) = run.history_found {
        let help = "Share of the sessions' history that was still in the prefix cache when a turn needed it";
        facts.push(Fact::new("history cached", percent(found).to_string(), help));
    }
    if run.preemptions > 0 {
        let times = count(f64::from(run.preemptions));
        facts.push(Fact::new(
            "preempted",
            times,
            "Times a sequence was preempted: its KV cache was dropped and recomputed",
        ));
    }
    facts
}

fn timeline_words(run: &Run) -> String {
    let most = |column: &[f64]| column.iter().copied().fold(0.0, f64::max);
    let (running, waiting) = (most(&run.timeline.running), most(&run.timeline.waiting));
    format!(
        "Peaks: {} running, {} waiting, KV cache {} full.",
        counted(running, "request"),
        count(waiting),
        percent(most(&run.timeline.kv)),
    )
}

fn spread(stats: Stats) -> Vec<String> {
    [stats.mean, stats.p50, stats.p90, stats.p99].map(|value| Seconds(value).print().to_string()).into()
}

/// What rates of the whole system count, with several replicas.
fn in_all(setup: &Setup) -> &'static str {
    if setup.copies() > 1 { " in all" } else { "" }
}

/// A number of tokens or requests, rounded if large.
fn round(value: f64) -> f64 {
    if value >= 100.0 { value.round() } else { value }
}
