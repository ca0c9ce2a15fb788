//! Request properties other than mean lengths: distributions, arrivals, drafts.

use super::workload::{MAX_BINS, NO_SPREAD};
use crate::config::inputs::FormGroup;
use crate::config::{Field, Gpu, Issue, Load, Model, Scenario, Slos, Turns, Workload};
use crate::units::{counted, decimal};

pub fn check(scenario: &Scenario, issues: &mut Vec<Issue>) {
    let workload = &scenario.workload;
    histogram(workload, issues);
    one_distribution(workload, issues);
    arrivals(scenario, issues);
    limits(&workload.slos, issues);
    drafts(workload, issues);
}

fn histogram(workload: &Workload, issues: &mut Vec<Issue>) {
    let (bins, plain) = (&workload.histogram, Workload::default());
    let mut refuse = |text: String| issues.push(Issue::error(Field::Histogram, text));
    if bins.len() > MAX_BINS {
        refuse(format!(
            "the length histogram has {} bins, above the limit of {MAX_BINS}: round the lengths",
            bins.len()
        ));
    }
    if !bins.is_empty() && workload.means().is_none() {
        refuse("at least one bin needs a weight above 0".into());
    }
    let outside = |field: Field, tokens: u32| field.input().check(f64::from(tokens)).map(|issue| issue.text);
    let wrong = bins
        .iter()
        .find_map(|bin| outside(Field::Isl, bin.prompt).or_else(|| outside(Field::Osl, bin.output)));
    wrong.into_iter().for_each(refuse);
    let given = [(Field::Isl, workload.isl != plain.isl), (Field::Osl, workload.osl != plain.osl)];
    for (field, _) in given.into_iter().filter(|(_, is_given)| *is_given && !bins.is_empty()) {
        let text = format!("{} has no effect: lengths are drawn from the histogram", field.input().label);
        issues.push(Issue::warning(field, text));
    }
}

/// Lengths follow one distribution; those of a batch follow none.
fn one_distribution(workload: &Workload, issues: &mut Vec<Issue>) {
    let log_normal = workload.log_spread[0] > 0.0;
    let (histogram, shape) = (!workload.histogram.is_empty(), workload.shape.is_some());
    let field = match (histogram, shape, log_normal) {
        (true, ..) => Field::Histogram,
        (false, true, _) => Field::Shape,
        (false, false, true) => Field::LogSpread,
        (false, false, false) => return,
    };
    if [workload.spread > 0.0, log_normal, histogram, shape].into_iter().filter(|given| *given).count() > 1 {
        let text =
            "lengths follow one distribution: choose a spread, a log-normal spread, a shape or a histogram";
        issues.push(Issue::error(field, text));
    }
    if matches!(workload.load, Load::Batch(_)) {
        issues.push(match field {
            // A histogram replaces all other length inputs.
            Field::Histogram => Issue::error(field, NO_SPREAD),
            _ => Issue::warning(field, NO_SPREAD),
        });
    }
}

fn arrivals(scenario: &Scenario, issues: &mut Vec<Issue>) {
    let Workload { load, requests, .. } = scenario.workload;
    for input in FormGroup::Requests.inputs().into_iter().filter(|input| input.is_unused(scenario)) {
        let text = format!("{} does not apply to this load and has no effect", input.label);
        issues.push(Issue::warning(Field::Load, text));
    }
    let (clients, each) = match load {
        Load::Concurrency(clients) => (clients, 1),
        Load::Sessions(users) => (users, scenario.workload.turns.count),
        _ => (0, 1),
    };
    let who = if load.is_sessions() { "user" } else { "client" };
    if let Some(requests) = requests.filter(|requests| requests.div_ceil(each.max(1)) < clients) {
        let text = format!(
            "a run of {requests} is too short for {}: some would send none. Raise the number of requests",
            counted(clients, who)
        );
        issues.push(Issue::warning(Field::Requests, text));
    }
}

/// What says how many requests must meet the limits, without any limit.
fn limits(slos: &Slos, issues: &mut Vec<Issue>) {
    let given = [(Field::SloPercentile, slos.percentile), (Field::SloShare, slos.share)];
    for (field, _) in given.into_iter().filter(|(_, given)| given.is_some() && slos.limits().next().is_none())
    {
        issues.push(Issue::warning(field, "no effect without a limit: enter one of TTFT, TPOT or E2E"));
    }
}

/// Checks what is required to keep histories in the host's memory.
pub fn host_cache(gpu: &Gpu, workload: &Workload, issues: &mut Vec<Issue>) {
    let Turns { host_gib, history_cached, .. } = workload.turns;
    if host_gib == 0.0 || !workload.load.is_sessions() {
        return;
    }
    issues.push(match gpu.host_bandwidth() {
        Err(missing) => {
            let text = format!("{missing}. No KV cache can move there: enter 0");
            Issue::error(Field::HostCache, text).with_given(decimal(host_gib))
        }
        Ok(_) if history_cached == 0.0 => Issue::warning(
            Field::HostCache,
            "the prefix cache is off, so the host keeps nothing either: raise the cached history above 0",
        ),
        Ok(bandwidth) => Issue::note(
            Field::HostCache,
            format!(
                "the cache is read back at the {} published for the link to the host; no measured run used it",
                bandwidth.print()
            ),
        ),
    });
}

pub fn drafts_of(model: &Model, workload: &Workload, issues: &mut Vec<Issue>) {
    if workload.drafts.drafted > 0 && model.mtp.is_none() {
        let text = "no MTP layer of this model is known here: only verification is timed, not drafting";
        issues.push(Issue::warning(Field::Drafted, text));
    }
}

fn drafts(workload: &Workload, issues: &mut Vec<Issue>) {
    let drafts = workload.drafts;
    if drafts.drafted == 0 {
        if drafts.accepted > 0.0 {
            issues.push(Issue::warning(
                Field::Accepted,
                "accepted tokens have no effect without draft tokens: enter Draft tokens",
            ));
        }
        return;
    }
    if drafts.accepted == 0.0 {
        let text =
            "acceptance is not set and counts as 0: enter the mean number of draft tokens accepted per step";
        issues.push(Issue::warning(Field::Accepted, text));
    }
    if drafts.accepted > f64::from(drafts.drafted) {
        let accepted = decimal(drafts.accepted);
        let text = format!(
            "accepted tokens ({accepted}) cannot exceed drafted tokens ({0}): enter at most {0}",
            drafts.drafted
        );
        issues.push(Issue::error(Field::Accepted, text).with_given(accepted));
    }
}
