//! The recommendation in a sentence, with the chance that it meets the limits.

use super::{is_affordable, open, sentence};
use crate::config::{Field, Issue};
use crate::find::{Answer, Day, DeploymentPlan, RankedBy};
use crate::study::{Block, Span};
use crate::units::{self, Dollars, Doubt, Seconds};

/// Probability of meeting the limits from which on a plan is a safe one.
const SAFE: f64 = 0.8;

/// Where the plans are for the peak of a day, `days` is what each costs over all of it, as far as it is known.
pub fn lead(answer: &Answer, days: Option<&[Day]>) -> Block {
    let best = match (&answer.nearest, answer.plans.first()) {
        (Some(nearest), _) => return Block::text(sentence(&nearest.text)),
        (None, Some(best)) => {
            // About as likely to meet the limits, and cheaper over the day.
            let of_day = days
                .and_then(<[Day]>::first)
                .and_then(|day| answer.plans.iter().find(|plan| plan.link == day.link));
            let sure = |plan: &DeploymentPlan| units::tenths(plan.chance_within_limits.unwrap_or(1.0));
            of_day.filter(|plan| sure(plan) >= sure(best)).unwrap_or(best)
        }
        (None, None) if answer.finished => {
            let issue = answer.issues.iter().find(|issue| issue.is_error());
            return Block::text(issue.map_or_else(|| "Nothing was found".into(), Issue::sentence) + ".");
        }
        (None, None) => return Block::text("No plan yet: layouts are being checked and bounded."),
    };
    let unsure = best.chance_within_limits.and_then(units::doubt);
    let so_far = if answer.finished { "" } else { " so far" };
    let begin = match unsure {
        Some(Doubt::Unlikely) => format!("Cheapest{so_far}, but unlikely to meet the limits"),
        Some(Doubt::Even) => format!("Cheapest{so_far}, though it may miss the limits"),
        None => format!("Best{so_far}"),
    };
    let sure =
        best.chance_within_limits.map(|sure| format!("{} to meet the limits", units::confidence(sure)));
    let [peak, load] = if days.is_some() { [" at the peak", "that load"] } else { ["", "this load"] };
    let (rank, unit) = (|plan| answer.ranked_by.rank_of(plan).dollars(), answer.ranked_by.unit());
    let is_monthly = days.is_none() && answer.ranked_by == RankedBy::DollarsPerHour;
    let month = rank(best).filter(|_| is_monthly).map(|cost| Dollars(cost).monthly().print());
    let month = month.map_or_else(String::new, |cost| format!(" ({cost} a month)"));
    let mut text = match (rank(best), best.dollars_per_million_total) {
        (Some(cost), Some(total)) => format!(
            ": {} {unit}{month}{peak}{}. At {load}, a hosted API is cheaper only below {} per million tokens, input and output together.",
            Dollars(cost).print(),
            sure.map_or_else(String::new, |sure| format!(", {sure}")),
            Dollars(total).print(),
        ),
        (cost, _) => {
            let price = if cost.is_some() { "." } else { ". It has no known price." };
            sure.map_or_else(String::new, |sure| format!(": {sure}")) + price
        }
    };
    let is_limited = best.chance_within_limits.is_some() || !best.limits.is_empty();
    if !is_limited && answer.ranked_by == RankedBy::DollarsPerHour {
        text += " No limits are set, so it may be slow: state the TTFT and TPOT that users accept.";
    }
    // Without a ramp the same clients may miss a limit that they meet here.
    if let Some(ramp) = best.config.get(Field::Ramp.id()).and_then(serde_json::Value::as_f64) {
        let who = if best.config.get(Field::Sessions.id()).is_some() { "users" } else { "clients" };
        text += &format!(
            " It is simulated with {who} starting one after another, over {}.",
            Seconds(ramp).print()
        );
    }
    if let Some(seconds) = best.job_seconds {
        let cost =
            best.job_dollars.map_or(String::new(), |cost| format!(" and costs {}", Dollars(cost).print()));
        text += &format!(" The job takes {}{cost}.", Seconds(seconds).print());
    }
    if let Some(broken) = &best.one_less {
        text += &format!(" With one replica fewer, {}.", broken.text);
    }
    let mut spans = vec![begin.into(), ": ".into(), open(best), text.into()];
    let is_shown = |plan: &&DeploymentPlan| is_affordable(plan, answer);
    let surer = answer.plans.iter().filter(is_shown).filter_map(|plan| Some((plan, safe(plan)?)));
    // The cheapest, and the surest at that price.
    let surer =
        surer.reduce(|one, next| if rank(next.0) == rank(one.0) && next.1 > one.1 { next } else { one });
    if let Some((plan, sure)) = surer.filter(|_| unsure.is_some()) {
        let more = rank(plan).zip(rank(best)).map(|(own, best)| own - best);
        let cost = match more {
            Some(more) if more > 0.0 => format!("costs {} {unit} more", Dollars(more).print()),
            Some(_) => "costs no more".to_owned(),
            None => "has no known price".to_owned(),
        };
        spans.extend([" ".into(), open(plan), format!(" is {} and {cost}.", units::confidence(sure)).into()]);
    }
    spans.extend(days.and_then(|days| over_day(best, days)).into_iter().flatten());
    Block::spans(spans)
}

/// Which plan costs least over the day, and how much; another than at the peak may, as its replicas follow the load more closely.
fn over_day(best: &DeploymentPlan, days: &[Day]) -> Option<Vec<Span>> {
    let (first, own) = (days.first()?, days.iter().find(|day| day.link == best.link));
    let cost = first.dollars_per_day.map(|cost| Dollars(cost).print())?;
    // Days are not known of prefill and decode workers.
    let own = own.and_then(|own| own.dollars_per_day).map(|own| Dollars(own).print());
    Some(match own {
        Some(own) if own == cost => vec![format!(" Over the day it is the cheapest: {cost}.").into()],
        Some(own) => vec![
            " Over the day ".into(),
            Span::link(&first.name, format!("#{}", first.link)),
            format!(" is cheaper: {cost}, not {own}.").into(),
        ],
        None => vec![
            " Of the plans whose replicas can follow the day, the cheapest is ".into(),
            Span::link(&first.name, format!("#{}", first.link)),
            format!(": {cost}.").into(),
        ],
    })
}

fn safe(plan: &DeploymentPlan) -> Option<f64> {
    plan.chance_within_limits.filter(|sure| *sure >= SAFE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::RankedBy;
    use crate::study::Content;

    fn plan(name: &str, dollars: f64, sure: Option<f64>) -> DeploymentPlan {
        DeploymentPlan {
            name: name.into(),
            dollars_per_hour: Some(dollars),
            dollars_per_million_total: Some(1.0),
            chance_within_limits: sure,
            ..DeploymentPlan::default()
        }
    }

    fn said(plans: Vec<DeploymentPlan>) -> String {
        said_of(plans, None)
    }

    fn said_of(plans: Vec<DeploymentPlan>, days: Option<&[Day]>) -> String {
        let answer = Answer { plans, finished: true, ..Answer::default() };
        short_name(lead(&answer, days))
    }

    fn short_name(lead: Block) -> String {
        match lead.content {
            Content::Text(spans) => spans.into_iter().map(|span| span.text).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_best_plan_says_how_sure_it_is() {
        let sure = said(vec![plan("one", 4.0, Some(0.91)), plan("two", 6.0, Some(0.95))]);
        assert!(sure.starts_with("Best") && sure.contains("91 %") && !sure.contains("two"), "{sure}");
        let of_day = said_of(vec![plan("one", 4.0, None)], Some(&[]));
        assert!(of_day.contains("$4.00 per hour at the peak") && !of_day.contains("this load"), "{of_day}");
        let unknown = said(vec![plan("one", 4.0, None)]);
        assert!(unknown.starts_with("Best") && !unknown.contains('%'), "{unknown}");
        assert!(unknown.contains("No limits are set") && !sure.contains("No limits are set"), "{unknown}");
    }

    #[test]
    fn the_cheapest_plan_over_a_day_is_named() {
        let day = |name: &str, dollars| Day {
            name: name.into(),
            link: name.into(),
            hours: Vec::new(),
            dollars_per_day: Some(dollars),
            dollars_per_day_at_peak: None,
            gpu_hours: 1.0,
        };
        let best = || vec![DeploymentPlan { link: "one".into(), ..plan("one", 4.0, None) }];
        let other = said_of(best(), Some(&[day("two", 50.0), day("one", 60.0)]));
        assert!(other.ends_with("Over the day two is cheaper: $50.00, not $60.00."), "{other}");
        let same = said_of(best(), Some(&[day("one", 50.0), day("two", 60.0)]));
        assert!(same.ends_with("Over the day it is the cheapest: $50.00."), "{same}");
        let plans =
            || vec![best().remove(0), DeploymentPlan { link: "two".into(), ..plan("two", 5.0, None) }];
        let follows = said_of(plans(), Some(&[day("two", 50.0), day("one", 60.0)]));
        assert!(follows.starts_with("Best: two: $5.00 per hour at the peak"), "{follows}");
    }

    #[test]
    fn a_job_is_described_by_the_cost_of_all_of_it() {
        let job = |name, dollars, sustained_output_per_s| DeploymentPlan {
            sustained_output_per_s,
            ..plan(name, dollars, None)
        };
        let plans = vec![job("one", 8.0, 10_000.0), job("two", 4.0, 900.0)];
        let ranked_by = RankedBy::DollarsPerMillionOutput;
        let answer = Answer { plans, ranked_by, finished: true, ..Answer::default() };
        let said = short_name(lead(&answer, None));
        assert!(said.contains("one: $0.22 per million output tokens."), "{said}");
        // Half the price by the hour, and over five times as dear.
        assert!(is_affordable(&answer.plans[0], &answer) && !is_affordable(&answer.plans[1], &answer));
    }

    #[test]
    fn what_costs_nothing_is_not_compared_with_an_api() {
        let free = DeploymentPlan { dollars_per_million_total: None, ..plan("one", 0.0, Some(0.91)) };
        let text = said(vec![free]);
        assert!(text.ends_with("91 % likely to meet the limits.") && !text.contains('$'), "{text}");
    }

    #[test]
    fn an_unsure_plan_names_a_safe_one_that_is_shown() {
        let plans = |dollars| {
            vec![
                plan("one", 4.0, Some(0.61)),
                plan("two", 5.0, Some(0.7)),
                plan("three", dollars, Some(0.85)),
            ]
        };
        let named = said(plans(6.0));
        assert!(!named.starts_with("Best") && named.contains("61 %"), "{named}");
        assert!(
            ["three", "85 %", "$2.00"].iter().all(|part| named.contains(part)) && !named.contains("two"),
            "{named}"
        );
        // At one price the surest.
        let mut equal = plans(6.0);
        equal.insert(2, plan("four", 6.0, Some(0.82)));
        assert!(said(equal).contains("three is 85 %"));
        let costly = said(plans(60.0));
        assert!(!costly.contains("three") && costly.contains("61 %"), "{costly}");
    }
}
