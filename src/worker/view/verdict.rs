//! Whether an answer meets the limits, and by how much.

use crate::config::{Issue, LatencyMetric, Setup};
use crate::serving::{Report, UNFIT};

use crate::serving::report::Headline;
use crate::serving::run::Run;
use crate::serving::sim::LimitResult;
use crate::units::{self, Doubt, Seconds, confidence, count, fixed};
use crate::worker::protocol::Verdict;

/// Share of its limit up to which the median meets it easily.
const EASILY: f64 = 0.5;

pub fn of(setup: &Setup, report: &Report) -> Verdict {
    let Some(headline) = &report.headline else {
        let error = report.issues.iter().find(|issue| issue.is_error());
        let said = error.map(Issue::sentence).unwrap_or_default();
        let words = if report.passes.is_empty() { "Does not fit" } else { "No answer" };
        return verdict("unfit", words, said.trim_start_matches(UNFIT).to_owned());
    };
    let run = report.run.as_ref();
    if let Some((run, saturation)) = run.and_then(|run| Some((run, run.saturation?))) {
        // The load that was requested, not the one that arrived in this run.
        let required = setup.requests_at(run.load);
        let (offered, served) = (count(required), count(saturation.served_per_s));
        let (words, reason) = match setup.workload.max_in_flight {
            None => ("Overloaded", format!("{offered} requests/s arrive, {served} can be served")),
            Some(most) => (
                "Client falls behind",
                format!("{served} of {offered} requests/s are sent, with at most {most} in flight"),
            ),
        };
        return verdict("misses", words, reason);
    }
    let (limits, at) = match run {
        Some(run) => {
            let percentile = setup.workload.slos.share_of_each() * 100.0;
            (run.limits.clone(), format!(" P{}", count(percentile)))
        }
        None => (means(setup, headline), String::new()),
    };
    let missed: Vec<&LimitResult> = limits.iter().filter(|limit| limit.at > limit.limit).collect();
    let keeps = run.map_or(missed.is_empty(), |run| run.meets_limits() != Some(false));
    let keep = report.calibrated.as_ref().zip(run).and_then(|(calibrated, run)| calibrated.bands.keep(run));
    let said = |of: &[&LimitResult], words: fn(&LimitResult) -> String, with: Option<f64>| {
        let limits = of.iter().map(|limit| format!("{}{at} {}", limit.metric.name(), words(limit)));
        let chance = with.map(|with| format!("{} to be met", confidence(with)));
        limits.chain(chance).collect::<Vec<_>>().join("; ")
    };
    if limits.is_empty() {
        verdict("none", "No limits set", String::new())
    } else if keeps {
        let all: Vec<&LimitResult> = limits.iter().collect();
        let (id, words) = match keep.and_then(units::doubt) {
            None => ("meets", "Meets the limits"),
            Some(Doubt::Even) => ("may", "May meet the limits"),
            Some(Doubt::Unlikely) => ("may", "Unlikely to meet the limits"),
        };
        verdict(id, words, said(&all, within, keep))
    } else if let Some(together) = run.and_then(Run::share_within_limits).filter(|_| missed.is_empty()) {
        let share = fixed(together * 100.0, 0);
        let required = fixed(setup.workload.slos.share() * 100.0, 0);
        verdict(
            "misses",
            "Misses the limits",
            format!("{share} % of requests meet all limits; {required} % must"),
        )
    } else {
        let names: Vec<&str> = missed.iter().map(|limit| limit.metric.name()).collect();
        let words =
            format!("Misses the {} limit{}", names.join(" and "), if names.len() > 1 { "s" } else { "" });
        let start = run.filter(|run| is_of_start(setup, run, &missed)).map_or("", |_| START);
        verdict("misses", &words, said(&missed, over, keep) + start)
    }
}

/// Why a TTFT limit is missed which half of the requests meet easily.
const START: &str = "; all clients start at once";

/// Whether the limits are missed by a run that begins with all clients at once and, later on, meets them.
fn is_of_start(setup: &Setup, run: &Run, missed: &[&LimitResult]) -> bool {
    let load = setup.workload.load;
    let together = setup.workload.starts_together(load) && load.amount() >= 2.0;
    let waits = missed.iter().all(|limit| limit.metric == LatencyMetric::Ttft);
    together && waits && missed.iter().all(|limit| run.metrics.ttft.p50 < EASILY * limit.limit)
}

fn verdict(id: &str, words: &str, reason: String) -> Verdict {
    Verdict { id: id.into(), words: words.into(), reason }
}

/// A static batch has a single time for each.
fn means(setup: &Setup, headline: &Headline) -> Vec<LimitResult> {
    let result = |(metric, limit)| {
        let at = headline.latency(metric)?.0;
        Some(LimitResult { metric, limit, share: f64::from(at <= limit), at })
    };
    setup.workload.slos.limits().filter_map(result).collect()
}

/// `157 ms of 1.00 s`.
fn within(result: &LimitResult) -> String {
    format!("{} of {}", Seconds(result.at).print(), Seconds(result.limit).print())
}

/// `1.33 s, limit 1.00 s (+33 %)`; beyond twice the limit as a multiple.
fn over(result: &LimitResult) -> String {
    let (time, limit) = (Seconds(result.at).print(), Seconds(result.limit).print());
    let factor = result.at / result.limit;
    if factor < 2.0 {
        format!("{time}, limit {limit} (+{} %)", fixed((factor - 1.0) * 100.0, 0))
    } else {
        format!("{time}, {} times {limit}", fixed(factor, 1))
    }
}
