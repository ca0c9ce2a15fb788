//! The best single change in a sentence: cheaper within the limits, faster at the same cost, or one that meets limits that are missed.

use super::metric::{COST, E2E, HeadlineMetric, PER_GPU, TPOT, TTFT};
use super::rank::SAME;
use super::{Block, Case, Span, Study, advice, change};
use crate::config::link::Link;
use crate::config::{Drafts, Scenario, Workload, catalog};
use crate::serving::Report;
use crate::units::{self, fixed};

/// Smallest saving worth a change: repeated runs of one configuration differ by this much.
const LEAST_SAVING: f64 = 0.05;
/// Without limits nothing may become slower by more than this.
const SLOWER: f64 = 1.05;
/// Unless E2E falls to this share: then prompts no longer wait, and the time per token may be longer.
const MUCH_SOONER: f64 = 0.5;

/// At the same cost E2E must fall to this share to be worth a change: a choice, twice the smallest saving.
const SOONER: f64 = 0.9;

/// Chance of meeting the limits from which on a configuration is considered sure, and how much of its chance a
/// recommended change may cost.
const SURE: f64 = 2.0 / 3.0;
const LESS_SURE: f64 = 0.25;
/// A chance this far below the best one is as good.
const AS_SURE: f64 = 0.05;

/// The changes from [`change`] that keep the load.
pub fn cases(link: &Link, of: &str) -> Vec<Case> {
    let mut cases = change::cases(link, of);
    cases.retain(|case| keeps_load(&link.scenario, &case.scenario));
    cases
}

pub fn blocks(study: &Study) -> Vec<Block> {
    // Wait until all changes are predicted.
    if study.done < study.cases.len() {
        return Vec::new();
    }
    let own = study.own();
    let Some(case) = recommended(own, study.others().iter()) else {
        return vec![match advice::goal(own) {
            Some(goal) => advice::none(own, goal).called("better"),
            None => Block::text("None of the single changes tried is better."),
        }];
    };
    let confidence = confidence(own, case)
        .map_or(String::new(), |with| format!(" ({} to hold when measured)", units::confidence(with)));
    let needs = if converts(own, case) { "It needs a checkpoint in that format. " } else { "" };
    let is_without_own = own.report().and_then(Report::without_own).is_some() && case.own_runs() == 0;
    let unlike = if is_without_own { "Your own runs say nothing about it. " } else { "" };
    let does = format!("{}: {}{confidence}. {needs}{unlike}", case.name, words(own, case));
    let does = vec![Span::plain(does), study.open("Apply", case)];
    let all = [vec![Span::plain("Better: ")], does].concat();
    vec![Block::spans(all).called("better")]
}

/// Whether `case` needs a checkpoint in another format than the form's.
pub fn converts(own: &Case, case: &Case) -> bool {
    case.scenario.weights_format() != own.scenario.weights_format()
}

/// Whether a change that needs another checkpoint would cost less than `case`.
pub fn is_cheaper_converted<'a>(own: &Case, case: &Case, mut cases: impl Iterator<Item = &'a Case>) -> bool {
    let is_less =
        |other: &Case| cost(own, other).zip(cost(own, case)).is_some_and(|(other, one)| other < one);
    !converts(own, case) && cases.any(|other| converts(own, other) && is_usable(own, other) && is_less(other))
}

/// Of the changes that meet the limits, the cheapest of those most likely to when measured, with its chance, if that is clearly
/// more likely than `case`.
pub fn surer<'a>(own: &Case, case: &Case, cases: impl Iterator<Item = &'a Case>) -> Option<(&'a Case, f64)> {
    let chance = case.chance_within_limits()?;
    let meets = |case: &&Case| is_usable(own, case) && keeps_load(&own.scenario, &case.scenario);
    let mut all: Vec<_> =
        cases.filter(meets).filter_map(|case| Some((case, case.chance_within_limits()?))).collect();
    let most = all.iter().map(|(_, with)| *with).fold(0.0, f64::max);
    all.retain(|(_, with)| *with >= most - AS_SURE && *with > chance + LESS_SURE);
    let by_cost = |case: &Case| cost(own, case).unwrap_or(f64::INFINITY);
    all.into_iter().min_by(|(a, _), (b, _)| by_cost(a).total_cmp(&by_cost(b)))
}

/// Whether a change is of the server alone, or of how its client sends the load, and without pools, which are not
/// calibrated.
fn keeps_load(own: &Scenario, case: &Scenario) -> bool {
    let Workload { start, max_in_flight, drafts, .. } = own.workload;
    // How many drafts would be accepted is not the server's choice; that there are none is.
    let drafts = if case.workload.drafts == Drafts::default() { drafts } else { case.workload.drafts };
    let workload = Workload { start, max_in_flight, drafts, ..case.workload.clone() };
    workload == own.workload && case.prefill == own.prefill
}

/// The cheapest change. Of those with the same cost one that is as sure as any: first what keeps the engine and the GPU,
/// then the checkpoint, then the surest, then the fastest, so that a change never comes with another one that gains nothing.
pub fn recommended<'a>(own: &Case, cases: impl Iterator<Item = &'a Case>) -> Option<&'a Case> {
    let is_served = |case: &&Case| keeps_load(&own.scenario, &case.scenario);
    let cases: Vec<&Case> = cases.filter(is_served).collect();
    let gains = |cost: fn(&Case, &Case) -> Option<f64>| -> Vec<(f64, &Case)> {
        let better = cases.iter().filter(|case| is_gain(own, case));
        better.filter_map(|case| Some((cost(own, case)?, *case))).collect()
    };
    let mut all = gains(cost);
    if all.is_empty() && !is_good(own) {
        // Without a price of its own, it is not compared with GPUs that have one, but they may serve the load.
        all = gains(|_, case| COST.of(case));
    }
    // Where the published format is better, nobody converts the weights to another one.
    let format = |case: &Case| case.setup().map(|setup| setup.weights);
    let published = own.scenario.model.record().map(|model| model.weights);
    let converts = |case: &Case| converts(own, case);
    if all.iter().any(|(_, case)| converts(case) && format(case) == published) {
        all.retain(|(_, case)| !converts(case) || format(case) == published);
    }
    // What does not fit, is best spread over more of the GPUs there are.
    let only_spreads = |case: &Case| {
        let (case, own) = (&case.scenario, &own.scenario);
        case.gpu == own.gpu && case.engine == own.engine && case.weights == own.weights
    };
    if own.headline().is_none() && all.iter().any(|(_, case)| only_spreads(case)) {
        all.retain(|(_, case)| only_spreads(case));
    }
    let least = all.iter().map(|(cost, _)| *cost).reduce(f64::min)?;
    let seconds = |case: &Case| E2E.of(case).unwrap_or(f64::INFINITY);
    let chance = |case: &Case| case.chance_within_limits().unwrap_or(0.0);
    // In percent, as it is shown.
    let doubt = |case: &Case| -(chance(case) * 100.0).round();
    let moves = |case: &Case| {
        let (case, own) = (&case.scenario, &own.scenario);
        case.gpu != own.gpu || case.engine != own.engine
    };
    // A setting needs no other checkpoint.
    let effort = |case: &Case| (moves(case), converts(case));
    all.retain(|(cost, _)| *cost <= least * (1.0 + SAME));
    let surest = all.iter().map(|(_, case)| chance(case)).fold(0.0, f64::max);
    let sure = all.into_iter().filter(|(_, case)| chance(case) >= surest - AS_SURE);
    let order = |a: &Case, b: &Case| {
        let doubts = effort(a).cmp(&effort(b)).then(doubt(a).total_cmp(&doubt(b)));
        doubts.then(seconds(a).total_cmp(&seconds(b)))
    };
    sure.min_by(|(_, a), (_, b)| order(a, b)).map(|(_, case)| case)
}

/// The chance that measurements confirm the change: that it meets the limits and, if the form meets them too, that it
/// is cheaper.
fn confidence(own: &Case, case: &Case) -> Option<f64> {
    let metric = if is_priced(own) { COST } else { PER_GPU };
    let cheaper = case.beats(metric).filter(|_| is_good(own) && saves(own, case)).map(|beats| beats.with);
    [cheaper, case.chance_within_limits()].into_iter().flatten().reduce(f64::min)
}

/// Whether a configuration has an answer, keeps up with the load and meets any limits.
fn is_good(case: &Case) -> bool {
    case.headline().is_some() && !case.is_overloaded() && case.meets_limits() != Some(false)
}

/// Whether the form's GPUs have a price.
fn is_priced(own: &Case) -> bool {
    let of_gpu = || catalog().gpu(&own.scenario.gpu).is_some_and(|gpu| gpu.dollars_per_hour.0.is_some());
    match own.setup() {
        Some(setup) => setup.dollars_per_hour().is_some(),
        None => own.scenario.overrides.price.is_some() || of_gpu(),
    }
}

/// Dollars per token; GPU time per token on the same GPU if it has no price.
fn cost(own: &Case, case: &Case) -> Option<f64> {
    let output = || PER_GPU.sustained(case).filter(|_| case.scenario.gpu == own.scenario.gpu);
    if is_priced(own) { COST.of(case) } else { output().map(|output| 1.0 / output) }
}

/// Cost relative to the form's; `None` if they cannot be compared.
fn cost_ratio(own: &Case, case: &Case) -> Option<f64> {
    Some(cost(own, case)? / cost(own, own)?)
}

/// Whether memory is so tight that the engine may not start.
fn may_not_start(case: &Case) -> bool {
    case.setup().zip(case.report()).is_some_and(|(setup, report)| {
        let memory = &report.memory;
        memory.kv_room - memory.kv_per_token * setup.longest_sequence() < memory.margin
    })
}

/// Whether `case` serves the load, with memory to spare unless `own` has as little, or does not fit at all.
fn is_usable(own: &Case, case: &Case) -> bool {
    let may_be_tight = own.headline().is_none() || may_not_start(own);
    is_good(case) && (may_be_tight || !may_not_start(case))
}

/// Whether `case` is better than `own`.
fn is_gain(own: &Case, case: &Case) -> bool {
    if !is_usable(own, case) {
        return false;
    }
    if !is_good(own) {
        return true;
    }
    let slower = |metric: HeadlineMetric| {
        metric.of(case).zip(metric.of(own)).is_some_and(|(new, now)| new > now * SLOWER)
    };
    let limited = own.meets_limits().is_some();
    let is_sooner = |share: f64| E2E.of(case).zip(E2E.of(own)).is_some_and(|(new, now)| new < now * share);
    let is_slower = slower(TTFT) || slower(TPOT);
    let keeps = if limited { stays_sure(own, case) } else { is_sooner(MUCH_SOONER) || !is_slower };
    let is_faster = || !limited && !is_slower && is_sooner(SOONER) && costs_no_more(own, case);
    keeps && saves(own, case) || becomes_sure(own, case) || is_faster()
}

fn saves(own: &Case, case: &Case) -> bool {
    cost_ratio(own, case).is_some_and(|ratio| ratio <= 1.0 - LEAST_SAVING)
}

fn costs_no_more(own: &Case, case: &Case) -> bool {
    cost_ratio(own, case).is_some_and(|ratio| ratio <= 1.0 + SAME)
}

/// Whether `case` makes limits sure that are not, at no more than the same cost.
fn becomes_sure(own: &Case, case: &Case) -> bool {
    let chances = own.chance_within_limits().zip(case.chance_within_limits());
    costs_no_more(own, case) && chances.is_some_and(|(now, new)| now < SURE && new >= SURE)
}

/// Whether `case` does not trade certainty for cost.
fn stays_sure(own: &Case, case: &Case) -> bool {
    let chances = own.chance_within_limits().zip(case.chance_within_limits());
    chances.is_none_or(|(now, new)| (new >= SURE || now < SURE) && new >= now - LESS_SURE)
}

/// `38 % cheaper, still meets the limits`.
fn words(own: &Case, case: &Case) -> String {
    let is_priced = is_priced(own);
    let percent = |change: f64| fixed(change.abs() * 100.0, 0);
    let price = match cost_ratio(own, case).map(|ratio| ratio - 1.0) {
        Some(change) if change.abs() < SAME && is_priced => "at the same cost".into(),
        Some(change) if change.abs() < SAME => "with the same GPU time per token".into(),
        Some(change) if is_priced && change < 0.0 => format!("{} % cheaper", percent(change)),
        Some(change) if is_priced => format!("costs {} % more per token", percent(change)),
        Some(change) => {
            format!(
                "takes {} % {} GPU time per token",
                percent(change),
                if change < 0.0 { "less" } else { "more" }
            )
        }
        None if COST.of(case).is_some() => format!("{} per M output tokens", COST.print(case)),
        None => "on GPUs without a price".into(),
    };
    match (own.headline(), own.meets_limits(), own.is_overloaded()) {
        (None, _, _) => {
            let times = [TTFT, TPOT].map(|metric| format!("{} {}", metric.name, metric.print(case)));
            let now = if own.setup().is_some() { "fits" } else { "valid" };
            format!("{now}, {}, {price}", times.join(", "))
        }
        (_, Some(false), _) => format!("meets the limits, {price}"),
        (_, _, true) => format!("serves this load, {price}"),
        (_, Some(true), _) if !saves(own, case) => format!("{price}, meets the limits more surely"),
        (_, Some(true), _) => format!("{price}, still meets the limits"),
        _ => price + &speed(own, case),
    }
}

/// `, answers 63 % sooner, but TTFT is 40 % longer`; differences of noise are none.
fn speed(own: &Case, case: &Case) -> String {
    let ratio = |metric: HeadlineMetric| metric.ratio(case, own);
    let sooner = ratio(E2E).filter(|ratio| ratio * SLOWER < 1.0);
    let later = ratio(TTFT).filter(|ratio| *ratio > SLOWER);
    let share = |ratio: f64| fixed((ratio - 1.0).abs() * 100.0, 0);
    match (sooner, later) {
        (None, _) => ", about as fast".into(),
        (Some(sooner), None) => format!(", answers {} % sooner", share(sooner)),
        (Some(sooner), Some(later)) => {
            format!(", answers {} % sooner, but TTFT is {} % longer", share(sooner), share(later))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::Field;
    use crate::config::link::decode;
    use crate::efficiency::Efficiencies;
    use crate::study::remedy;

    fn predicted(mut case: Case) -> Case {
        case.predict(&Arc::default(), |_| Ok(Efficiencies::Roofline), false).expect("predicted");
        case
    }

    /// A configuration at the roofline, and its changes.
    fn changed(text: &str) -> (Case, Vec<Case>) {
        let link = decode(text).0;
        let own = predicted(Case::new("", link.scenario.clone()));
        let all = cases(&link, "").into_iter().chain(remedy::of(&own));
        let all = all.map(predicted).collect();
        (own, all)
    }

    #[test]
    fn the_best_change_is_found() {
        for (link, name) in [
            // Far more replicas than the load needs.
            ("g=rtx-3090&n=8&r=0.1&isl=512&osl=256&st=1000&sp=60", "1 replica"),
            // The engine's limit of sequences.
            ("m=qwen3-8b&r=10&ms=4", "Max sequences as by default"),
            ("m=qwen3-8b&c=64&isl=512&osl=128&ms=4", "Max sequences as by default"),
            // Without a price, by GPU time on the same GPU.
            ("m=qwen3-32b&g=mi300x&c=64&isl=512&osl=128&ms=4", "Max sequences as by default"),
            // Faster at the same cost.
            ("g=rtx-4090&r=1&cg=0&isl=512&osl=256", "Weights in INT4 (W4A16)"),
        ] {
            let (own, all) = changed(link);
            let best = recommended(&own, all.iter()).map(|case| case.name.as_str());
            assert_eq!(best, Some(name), "{link}");
        }
    }

    #[test]
    fn an_invalid_configuration_without_a_price_is_mended_on_its_gpu() {
        let (own, all) = changed("m=llama-3.1-8b&g=mi300x&e=trtllm");
        let best = recommended(&own, all.iter()).expect("another engine");
        assert!(own.setup().is_none() && best.scenario.gpu == "mi300x", "{}", best.name);
        assert!(words(&own, best).starts_with("valid"), "{}", words(&own, best));
    }

    #[test]
    fn a_limit_of_sequences_that_overloads_replicas_is_named() {
        for link in ["m=qwen3-8b&r=500&ms=4", "m=qwen3-8b&r=500&ms=4&n=2"] {
            let (own, _) = changed(link);
            assert!(
                own.issues().iter().any(|issue| issue.field == Field::MaxSeqs),
                "{link}: {:?}",
                own.issues()
            );
        }
        let (own, _) = changed("m=qwen3-8b&r=500");
        assert!(own.is_overloaded() && !own.issues().iter().any(|issue| issue.field == Field::MaxSeqs));
    }
}
