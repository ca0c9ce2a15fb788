//! What requests are like besides their mean lengths: distributions, arrivals, drafts.

use super::workload::{MAX_BINS, NO_SPREAD};
use crate::config::{Field, Issue, Load, Model, Workload};
use crate::units::decimal;

pub fn check(workload: &Workload, issues: &mut Vec<Issue>) {
    histogram(workload, issues);
    one_distribution(workload, issues);
    arrivals(workload, issues);
    drafts(workload, issues);
}

fn histogram(workload: &Workload, issues: &mut Vec<Issue>) {
    let bins = &workload.histogram;
    let mut refuse = |text: String| issues.push(Issue::error(Field::Histogram, text));
    if bins.len() > MAX_BINS {
        refuse(format!("{} bins: the limit is {MAX_BINS}", bins.len()));
    }
    if !bins.is_empty() && workload.means().is_none() {
        refuse("at least one bin needs a weight above 0".into());
    }
    let outside = |field: Field, tokens: u32| field.input().check(f64::from(tokens)).map(|issue| issue.text);
    let wrong = bins
        .iter()
        .find_map(|bin| outside(Field::Isl, bin.prompt).or_else(|| outside(Field::Osl, bin.output)));
    wrong.into_iter().for_each(refuse);
}

/// Lengths follow one distribution, and those of a batch none.
fn one_distribution(workload: &Workload, issues: &mut Vec<Issue>) {
    let log_normal = workload.log_spread > 0.0;
    let histogram = !workload.histogram.is_empty();
    let field = match (histogram, log_normal) {
        (true, _) => Field::Histogram,
        (false, true) => Field::LogSpread,
        (false, false) => return,
    };
    if [workload.spread > 0.0, log_normal, histogram].into_iter().filter(|given| *given).count() > 1 {
        let text = "lengths follow one distribution: choose a spread, a log-normal spread or a histogram";
        issues.push(Issue::error(field, text));
    }
    if matches!(workload.load, Load::Batch(_)) {
        issues.push(match field {
            // A histogram is all that its lengths are given by.
            Field::Histogram => Issue::error(field, NO_SPREAD),
            _ => Issue::warning(field, NO_SPREAD),
        });
    }
}

fn arrivals(workload: &Workload, issues: &mut Vec<Issue>) {
    let poisson = (workload.burstiness - 1.0).abs() < f64::EPSILON;
    if !poisson && !matches!(workload.load, Load::Rate(_)) {
        let given = decimal(workload.burstiness);
        let text = format!("the burstiness of {given} applies to a rate only and has no effect");
        issues.push(Issue::warning(Field::Load, text));
    }
}

pub fn drafts_of(model: &Model, workload: &Workload, issues: &mut Vec<Issue>) {
    if workload.drafts.drafted > 0 && model.mtp.is_none() {
        let text = "this model has no MTP layer, so the time to draft is not counted: a step is that of the model that \
                    verifies the drafts";
        issues.push(Issue::warning(Field::Drafted, text));
    }
}

fn drafts(workload: &Workload, issues: &mut Vec<Issue>) {
    let drafts = workload.drafts;
    if drafts.accepted > f64::from(drafts.drafted) {
        let accepted = decimal(drafts.accepted);
        let text = format!("{accepted} of {} draft tokens cannot be accepted", drafts.drafted);
        issues.push(Issue::error(Field::Accepted, text).with_given(accepted));
    }
}
