//! What requests are like beside their mean lengths: distributions, arrivals, cached prompts, drafts.

use super::range::{ACCEPTED, BURSTINESS, CACHED_SHARE, DRAFTED, ISL, LOG_SPREAD, MAX_BINS, OSL, Range};
use crate::config::{Field, Issue, Load, Model, Workload};
use crate::units::decimal;

pub fn check(workload: &Workload, issues: &mut Vec<Issue>) {
    issues.extend(LOG_SPREAD.check(workload.log_spread));
    issues.extend(BURSTINESS.check(workload.burstiness));
    issues.extend(CACHED_SHARE.check(workload.cached_share));
    histogram(workload, issues);
    one_distribution(workload, issues);
    arrivals(workload, issues);
    drafts(workload, issues);
}

fn histogram(workload: &Workload, issues: &mut Vec<Issue>) {
    let bins = &workload.histogram;
    let mut refuse = |text: String| issues.push(Issue::error(Field::Histogram, text));
    if bins.len() > MAX_BINS {
        refuse(format!("{} bins: at most {MAX_BINS} are right", bins.len()));
    }
    if !bins.is_empty() && workload.means().is_none() {
        refuse("no bin has a weight: at least one above 0 is right".into());
    }
    let outside = |range: Range, tokens: u32| range.check(f64::from(tokens)).map(|issue| issue.text);
    let wrong = bins.iter().find_map(|bin| outside(ISL, bin.prompt).or_else(|| outside(OSL, bin.output)));
    wrong.into_iter().for_each(refuse);
}

/// Lengths follow one distribution, and the prompts of a batch none.
fn one_distribution(workload: &Workload, issues: &mut Vec<Issue>) {
    let log_normal = (Field::LogSpread, workload.log_spread > 0.0);
    let histogram = (Field::Histogram, !workload.histogram.is_empty());
    let given = |(field, given): (Field, bool)| given.then_some(field);
    let last = given(histogram).or(given(log_normal));
    let several =
        [workload.spread > 0.0, log_normal.1, histogram.1].into_iter().filter(|given| *given).count() > 1;
    let Some(field) = last else { return };
    if several {
        let text =
            "lengths follow one distribution: a uniform spread, a log-normal one or a histogram is right";
        issues.push(Issue::error(field, text));
    }
    let batch = matches!(workload.load, Load::Batch(_));
    let text = match batch {
        true => {
            "the prompts of a batch are taken as long as they are given: lengths vary with clients or a rate"
        }
        false => "the numbers at once are those of the mean lengths: the simulated run draws them as asked",
    };
    // A histogram is all that its lengths are given by.
    issues.push(match field {
        Field::Histogram if batch => Issue::error(field, text),
        _ => Issue::warning(field, text),
    });
}

fn arrivals(workload: &Workload, issues: &mut Vec<Issue>) {
    if (workload.burstiness - 1.0).abs() < f64::EPSILON {
        return;
    }
    issues.push(match workload.load {
        Load::Rate(_) => Issue::warning(
            Field::Burstiness,
            "the numbers at once are those of requests that come independently of each other (burstiness 1): the \
             simulated run has them come as asked",
        ),
        Load::Concurrency(_) | Load::Batch(_) => Issue::warning(
            Field::Load,
            format!("a burstiness of {} is that of a rate: here it has no effect", decimal(workload.burstiness)),
        ),
    });
}

/// Of a model without a layer that drafts, something else does.
pub fn drafts_of(model: &Model, workload: &Workload, issues: &mut Vec<Issue>) {
    if workload.drafts.drafted > 0 && model.mtp.is_none() {
        let text = "this model has no layer of its own that drafts, so the time of drafting is not counted: a step is \
                    that of the model that verifies the drafts";
        issues.push(Issue::warning(Field::Drafted, text));
    }
}

fn drafts(workload: &Workload, issues: &mut Vec<Issue>) {
    let drafts = workload.drafts;
    let (drafted, accepted) = (f64::from(drafts.drafted), drafts.accepted);
    issues.extend(DRAFTED.check(drafted));
    issues.extend(ACCEPTED.check(accepted));
    if accepted > drafted {
        let text = format!(
            "{} of {} drafted tokens are accepted: at most as many are right",
            decimal(accepted),
            drafts.drafted
        );
        issues.push(Issue::error(Field::Accepted, text).with_given(decimal(accepted)));
    }
}
