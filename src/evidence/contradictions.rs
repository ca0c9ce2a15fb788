//! Measured closed loops that contradict others of the same configuration, or physics.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use super::cases::ServedCase;
use super::errors::grouped;
use super::launch::{LaunchLayout, launch};
use crate::config::Version;
pub(crate) use crate::config::catalog::numbers::contradictions::constants;

/// A contradictory case, and why.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Contradiction {
    pub id: String,
    /// The reasons, at least one.
    pub reasons: Vec<String>,
}

/// Two runs that cannot both be correct.
struct Conflict {
    slower: usize,
    other: usize,
    /// Slower in one time and faster in the other: it is unclear which one is wrong.
    undecided: bool,
    reason: String,
}

/// Finds the cases that contradict others, or `floor`.
///
/// Of two contradictory runs, the one in conflict with more others is named, or else the slower one: disturbances
/// slow runs down. `floor` gives the minimum time per output token in seconds, infinite if the model does not fit,
/// `None` if unknown.
pub fn contradictions(
    cases: &[&ServedCase],
    floor: &dyn Fn(&ServedCase) -> Option<f64>,
) -> Vec<Contradiction> {
    let mut reasons: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (index, case) in cases.iter().enumerate() {
        if let Some(reason) = floor(case).and_then(|floor| below(case, floor)) {
            reasons.entry(index).or_default().push(reason);
        }
    }
    for group in grouped(cases.iter().enumerate().map(|(index, case)| (key(case), index))).values() {
        name(conflicts(cases, group), &mut reasons);
    }
    let named = |(index, reasons): (usize, Vec<String>)| {
        cases.get(index).map(|case| Contradiction { id: case.id.clone(), reasons })
    };
    reasons.into_iter().filter_map(named).collect()
}

fn below(case: &ServedCase, floor: f64) -> Option<String> {
    if floor.is_infinite() {
        return Some(format!("the model does not fit on the GPUs of its label ({})", case.gpus));
    }
    let (measured, least) = (case.measured.tpot_ms?, floor * 1e3);
    (measured < least).then(|| format!("TPOT {measured:.3} ms is below the least possible {least:.3} ms"))
}

/// Properties that comparable runs share: model, formats and engine, layout, lengths, and expert kernel.
type CaseKey = ([String; 5], [u32; 2], Option<(LaunchLayout, Option<String>)>);

fn key(case: &ServedCase) -> CaseKey {
    let run = launch(case).ok().map(|launch| (launch.layout, launch.moe));
    // The same runs appear under both names.
    let model = case.model.replace("DeepSeek-V3", "DeepSeek-R1");
    let version = case.engine_version.as_ref().map_or_else(String::new, Version::to_string);
    let text = [model, case.precision.clone(), case.gpu.clone(), case.engine.clone(), version];
    (text, [case.isl, case.osl], run)
}

fn conflicts(cases: &[&ServedCase], group: &[usize]) -> Vec<Conflict> {
    let mut found = Vec::new();
    for (position, &a) in group.iter().enumerate() {
        for &b in &group[position + 1..] {
            if near(cases[a], cases[b]) {
                found.extend(conflict(cases, a, b));
            }
        }
    }
    found
}

fn conflict(cases: &[&ServedCase], a: usize, b: usize) -> Option<Conflict> {
    let (few, many) = if cases[a].concurrency <= cases[b].concurrency { (a, b) } else { (b, a) };
    let (less, more) = (cases[few], cases[many]);
    // NaN, which exceeds nothing, if one was not measured.
    let ratio = |less: Option<f64>, more: Option<f64>| less.zip(more).map_or(f64::NAN, |(a, b)| a / b);
    let tpot = ratio(less.measured.tpot_ms, more.measured.tpot_ms);
    let ttft = ratio(less.measured.ttft_ms, more.measured.ttft_ms);
    if less.concurrency < more.concurrency {
        let (what, factor) = if tpot > constants().tpot_factor {
            ("TPOT", tpot)
        } else if ttft > constants().ttft_factor {
            ("TTFT", ttft)
        } else {
            return None;
        };
        let reason = format!(
            "{what} is {factor:.2} times as long with {} clients ({}) as with {} ({})",
            less.concurrency, less.id, more.concurrency, more.id
        );
        return Some(Conflict { slower: few, other: many, undecided: false, reason });
    }
    let differs = |ratio: f64, factor: f64| ratio > factor || ratio < 1.0 / factor;
    if !differs(tpot, constants().tpot_factor) && !differs(ttft, constants().ttft_factor) {
        return None;
    }
    let (slower, other) = if tpot > 1.0 { (few, many) } else { (many, few) };
    let slowdown = |ratio: f64| if slower == few { ratio } else { 1.0 / ratio };
    let (tpot, ttft) = (slowdown(tpot), slowdown(ttft));
    let reason = format!(
        "TPOT and TTFT of {} are {tpot:.2} and {ttft:.2} times those of {}, of the same configuration",
        cases[slower].id, cases[other].id
    );
    Some(Conflict { slower, other, undecided: ttft < 1.0 / constants().ttft_factor.sqrt(), reason })
}

/// Repeatedly removes the run with most conflicts.
fn name(mut conflicts: Vec<Conflict>, reasons: &mut BTreeMap<usize, Vec<String>>) {
    while !conflicts.is_empty() {
        let mut counts: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for conflict in &conflicts {
            let slower = counts.entry(conflict.slower).or_default();
            *slower = (slower.0 + 1, slower.1 + 1);
            counts.entry(conflict.other).or_default().0 += 1;
        }
        let Some((&worst, _)) = counts.iter().max_by_key(|(_, count)| **count) else { return };
        let (mine, rest) = conflicts
            .into_iter()
            .partition(|conflict: &Conflict| conflict.slower == worst || conflict.other == worst);
        conflicts = rest;
        for conflict in mine {
            let mut add = |index: usize| reasons.entry(index).or_default().push(conflict.reason.clone());
            add(worst);
            if conflict.undecided {
                add(if conflict.slower == worst { conflict.other } else { conflict.slower });
            }
        }
    }
}

/// Measured within the same days; runs without a date only compare with each other.
fn near(a: &ServedCase, b: &ServedCase) -> bool {
    let day = |case: &ServedCase| case.measured_on.as_deref()?.parse::<NaiveDate>().ok();
    match (day(a), day(b)) {
        (Some(a), Some(b)) => (a - b).num_days().abs() <= constants().days as i64,
        _ => a.measured_on == b.measured_on,
    }
}
