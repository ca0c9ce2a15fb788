//! A phrase of a request: a limit, a number with its unit, hardware.

use super::hardware::{self, owned};
use super::words::TOKENS;
use super::{Said, Unit, Words};
use crate::config::link::{real, whole};
use crate::config::{Field, Load, Shape};
use crate::find::layouts::ALL;
use crate::units::significant;

/// What there may be the most of: the load, and words for it.
const LOADS: [&str; 4] = ["load", "rate", "throughput", "traffic"];
/// Words for the largest, of a load or of what follows.
const LARGEST: [&str; 3] = ["max", "maximum", "most"];
/// Degrees of parallelism.
const DEGREES: [Field; 4] = [Field::Tp, Field::Pp, Field::Dp, Field::Ep];
/// Digits of a rate by the minute.
const DIGITS: i32 = 6;

/// Reads the phrase that begins with `word`. What it sets; `None` if it is not understood.
pub fn read(word: &str, words: &mut Words, said: &mut Said) -> Option<Field> {
    if LARGEST.contains(&word) && words.next_if(&LOADS) {
        said.find.set(Field::Most, "yes");
        return Some(Field::Most);
    }
    limit(word, words, said)
        .or_else(|| asks(word, words, said))
        .or_else(|| amount(word, words, said))
        .or_else(|| hardware::read(word, words, said))
}

fn limit(word: &str, words: &mut Words, said: &mut Said) -> Option<Field> {
    let slos = &mut said.slos;
    let (field, slot) = match word {
        "ttft" => (Field::SloTtft, &mut slos.ttft_ms),
        "tpot" | "itl" => (Field::SloTpot, &mut slos.tpot_ms),
        "e2e" | "latency" => (Field::SloE2e, &mut slos.e2e_ms),
        _ => {
            let percentile = word.strip_prefix('p')?.parse().ok()?;
            slos.percentile = Some(percentile);
            return Some(Field::SloPercentile);
        }
    };
    *slot = Some(words.milliseconds()?);
    Some(field)
}

/// A number with its unit, or after `$` or a name of lengths.
fn amount(word: &str, words: &mut Words, said: &mut Said) -> Option<Field> {
    let Ok(number) = real(word) else {
        let unit =
            Unit::of(word).filter(|unit| matches!(unit, Unit::Dollars | Unit::Prompt | Unit::Output))?;
        let number = words.number()?;
        match unit {
            Unit::Dollars => drop(words.next_if(&["/h", "/hr", "/hour"])),
            _ => drop(words.next_if(&TOKENS)),
        }
        return set(number, unit, said);
    };
    if words.next_if(&["x", "×"]) {
        return owned(number, words, said);
    }
    let Some(unit) = words.next_as(Unit::of) else { return owned(number, words, said) };
    let unit = match unit {
        Unit::Tokens => words.next_as(Unit::of)?,
        unit => unit,
    };
    match unit {
        Unit::Clients => {
            words.next_if(&["requests", "clients", "users"]);
        }
        Unit::Prompt | Unit::Output => drop(words.next_if(&TOKENS)),
        // `99 % of requests`.
        Unit::Percent => {
            words.skip();
            words.next_if(&["requests"]);
        }
        _ => {}
    }
    set(number, unit, said)
}

fn set(number: f64, unit: Unit, said: &mut Said) -> Option<Field> {
    let count = (number.fract() == 0.0 && number <= f64::from(u32::MAX)).then_some(number as u32);
    let workload = &mut said.link.scenario.workload;
    let rate = |each: f64| significant(number * each, DIGITS);
    let load = match unit {
        Unit::Requests(each) => Load::Rate(rate(each)),
        Unit::SessionRate(each) => Load::SessionRate(rate(each)),
        Unit::Clients => Load::Concurrency(count?),
        Unit::Sessions => Load::Sessions(count?),
        Unit::Gpus => {
            said.find.set(Field::BudgetGpus, &count?.to_string());
            return Some(Field::BudgetGpus);
        }
        Unit::Dollars => {
            said.find.set(Field::BudgetDollars, &number.to_string());
            return Some(Field::BudgetDollars);
        }
        Unit::Percent => {
            said.slos.share = Some(number / 100.0);
            return Some(Field::SloShare);
        }
        Unit::Prompt => {
            workload.set_mean_prompt(count.map(f64::from));
            return count.map(|_| Field::Isl);
        }
        Unit::Output => {
            workload.set_mean_output(count.map(f64::from));
            return count.map(|_| Field::Osl);
        }
        Unit::Time(_) | Unit::Tokens | Unit::Other => return None,
    };
    workload.load = load;
    Some(Field::Load)
}

/// Prefill and decode on workers of their own, drafts, degrees, the shape of lengths.
fn asks(word: &str, words: &mut Words, said: &mut Said) -> Option<Field> {
    let degree = |field: &Field| Some((*field, word.strip_prefix(field.id())?));
    let (field, value) = match word {
        "disaggregated" | "disaggregation" | "pools" | "pd" => (Field::PrefillWorkers, ALL.to_owned()),
        "mtp" | "drafting" => (Field::Drafted, format!("0,{}", words.number().unwrap_or(1.0))),
        "accepted" => {
            words.skip();
            (Field::Accepted, words.number()?.to_string())
        }
        _ => match (Shape::from_id(word), DEGREES.iter().find_map(degree)) {
            (Some(shape), _) => {
                let workload = &mut said.link.scenario.workload;
                workload.leave_histogram();
                workload.shape = Some(shape);
                return Some(Field::Shape);
            }
            (None, Some((field, ""))) => (field, words.number()?.to_string()),
            (None, Some((field, typed))) => (field, whole(typed).ok()?.to_string()),
            (None, None) => return None,
        },
    };
    said.find.set(field, &value);
    Some(field)
}
