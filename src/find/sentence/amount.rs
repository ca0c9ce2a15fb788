//! A phrase of a request: a limit, a number with its unit, hardware.

use super::hardware::{self, owned};
use super::limits::{SLOS, limit, limited, set_limit, share_of_requests};
use super::tokens::TOKENS;
use super::{AmountUnit, BREAK, FILLERS, Parsed, Words, is_load, money, workload};
use crate::config::link::{real, whole};
use crate::config::{Field, Load, Shape, Workload, excerpt};
use crate::find::capacity::FIRST;
use crate::find::layouts::ALL;
use crate::units::significant;

/// Words for a load whose maximum can be asked for.
const LOADS: [&str; 8] =
    ["load", "rate", "throughput", "traffic", "users", "clients", "concurrency", "sessions"];
/// Words for lengths that precede them: `prompts of 3k tokens`.
const PROMPTS: [&str; 2] = ["prompts", "inputs"];
const ANSWERS: [&str; 4] = ["answer", "answers", "outputs", "responses"];
/// Words that ask for the largest load, or limit what follows.
const LARGEST: [&str; 5] = ["highest", "largest", "max", "maximum", "most"];
/// Degrees of parallelism.
const DEGREES: [Field; 4] = [Field::Tp, Field::Pp, Field::Dp, Field::Ep];
/// The word that makes a rate one per client, and words that precede such a rate.
pub const EACH: &str = "each";
const SENDING: [&str; 6] = ["at", "makes", "making", "send", "sending", "sends"];
/// Words after the share of prompts in the prefix cache.
const CACHED: [&str; 5] = ["cache", "cached", "hit", "hits", "prefix"];
/// Words between the share and these: `80% of the prompt cached`, `50% shared prefix`.
const OF_PROMPTS: [&str; 6] = ["of", "the", "prompt", "prompts", "shared", "input"];
/// Digits of a rate by the minute.
const DIGITS: i32 = 6;

/// Reads the phrase that begins with `word`. Returns what it sets; `None` if it is not understood.
pub fn read(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    if LARGEST.contains(&word)
        && let Some(field) = most(words, parsed)
    {
        return Some(field);
    }
    limit(word, words, parsed)
        .or_else(|| asks(word, words, parsed))
        .or_else(|| of_each(word, words, parsed))
        .or_else(|| amount(word, words, parsed))
        .or_else(|| money::dated(word, words, parsed))
        .or_else(|| workload::read(word, words, parsed))
        .or_else(|| hardware::read(word, words, parsed))
}

/// `each 10 requests/hour` after `300 users`.
fn of_each(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    if word != EACH {
        return None;
    }
    words.next_if(&SENDING);
    let number = words.number()?;
    match words.next_as(AmountUnit::of)? {
        AmountUnit::Requests(each) => by_all(number * each, parsed),
        AmountUnit::TokenRate => set(number, AmountUnit::Speed, parsed),
        _ => None,
    }
}

/// The refusal of `each` without a number of clients before it, as in `1000 daily users each`.
pub fn wanted_each(counted: Option<String>) -> String {
    let counted = counted.map_or_else(String::new, |phrase| format!(", not `{}`", excerpt(&phrase)));
    format!(
        "`each` must follow a number of clients or their rate{counted}: write for example `300 users each 10 \
         requests/hour`, or the total rate, `3,000 requests/hour`"
    )
}

/// The rate of all clients if each sends this many requests per second.
fn by_all(each: f64, parsed: &mut Parsed) -> Option<Field> {
    let load = &mut parsed.link.scenario.workload.load;
    let Load::Concurrency(clients) = *load else { return None };
    if !parsed.stated.iter().any(|(field, _)| *field == Field::Load) {
        return None;
    }
    *load = Load::Rate(significant(f64::from(clients) * each, DIGITS));
    // One load, stated in two parts.
    parsed.stated.retain(|(field, _)| *field != Field::Load);
    Some(Field::Load)
}

/// A number above 0 with its unit, or after `$` or a name of lengths; 0 is refused.
fn amount(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    let from = words.at - 1;
    let field = quantity(word, words, parsed)?;
    // A prefix cache may be off, and limits have a range of their own.
    let may_be_none = field == Field::CachedShare || SLOS.contains(&field);
    let phrase = words.phrase(from, words.at);
    let is_none =
        |word: &str| word.split('/').next().is_some_and(|word| real(word.trim_start_matches('$')) == Ok(0.0));
    if !may_be_none && phrase.split(' ').any(is_none) {
        parsed.refused.push(format!("`{}`: no number here may be 0", excerpt(&phrase)));
        return None;
    }
    Some(field)
}

fn quantity(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    let Ok(number) = real(word) else {
        return match after_name(word, words)? {
            (number, AmountUnit::Dollars(hours)) => Some(money::budget(number, hours, words, parsed)),
            (number, unit) => set(number, unit, parsed),
        };
    };
    if words.next_if(&["x", "×"]) {
        return owned(number, words, parsed);
    }
    let Some(unit) = words.next_as(AmountUnit::of) else { return owned(number, words, parsed) };
    let unit = match unit {
        AmountUnit::Tokens => words.next_as(AmountUnit::of)?,
        unit => unit,
    };
    match unit {
        AmountUnit::Clients => {
            words.next_if(&["requests", "clients", "users"]);
        }
        AmountUnit::Prompt | AmountUnit::Output => length(words)?,
        AmountUnit::Dollars(hours) => return Some(money::budget(number, hours, words, parsed)),
        // `200 ms TTFT`.
        AmountUnit::Time(each) => {
            words.skip();
            let metric = words.next_as(limited)?;
            return set_limit(metric, number * each, parsed);
        }
        AmountUnit::Requests(each) if words.next_if(&[EACH]) => return by_all(number * each, parsed),
        AmountUnit::TokenRate if words.next_if(&[EACH]) => return set(number, AmountUnit::Speed, parsed),
        // `99 % of requests`, `50 % cached`.
        AmountUnit::Percent => {
            let from = words.at;
            while words.next_if(&OF_PROMPTS) {}
            if words.next_if(&CACHED) {
                while words.next_if(&CACHED) {}
                if number > 100.0 {
                    return None;
                }
                parsed.link.scenario.workload.cached_share = number / 100.0;
                return Some(Field::CachedShare);
            }
            words.at = from;
            // The share of anything else, as in `20% headroom`, is not that of the requests.
            if !share_of_requests(words) {
                return None;
            }
        }
        AmountUnit::Other => {
            words.skip();
            let of = words.next_as(queue)?;
            return queued(number, of, parsed);
        }
        _ => {}
    }
    set(number, unit, parsed)
}

/// `most load`, `max users`: asks for the largest load; with a number it states the load, as in `max rate of 20 rps`.
fn most(words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    let word = words.next_as(|word| LOADS.contains(&word).then(|| word.to_owned()))?;
    let own = parsed.link.scenario.workload.load;
    // Clients that nobody named do not limit a load.
    let is_chosen = !matches!(own, Load::Concurrency(_)) || parsed.has(&[Field::Load]);
    let kind = match word.as_str() {
        "users" | "clients" | "concurrency" => Load::Concurrency(1),
        "sessions" => Load::Sessions(1),
        _ if is_chosen && FIRST.map(Load::size).contains(&own.size()) => own,
        _ => Load::Rate(1.0),
    };
    let from = words.at;
    while words.next_if(&["of", "is", BREAK]) {}
    let at = words.at;
    if let Some(number) = words.number() {
        match words.peek() {
            Some(next) if is_load(next) => {
                words.at = at;
                let number = words.next()?;
                return amount(&number, words, parsed);
            }
            // `max users 300`.
            next if !matches!(kind, Load::Rate(_))
                && next.is_none_or(|next| next == BREAK || FILLERS.contains(&next)) =>
            {
                parsed.link.scenario.workload.load = kind.with_amount(f64::from(whole_count(number)?));
                return Some(Field::Load);
            }
            _ => {}
        }
    }
    words.at = from;
    let load = &mut parsed.link.scenario.workload.load;
    if load.size() != kind.size() {
        *load = kind.with_amount(Workload::default().load.amount());
    }
    parsed.find.set(Field::Most, "yes");
    Some(Field::Most)
}

/// The number after `$` or a name of lengths: `ISL=2048`, `prompts of 3k tokens`, but not `in 8 GPUs`.
fn after_name(word: &str, words: &mut Words) -> Option<(f64, AmountUnit)> {
    let unit = match word {
        _ if PROMPTS.contains(&word) => AmountUnit::Prompt,
        _ if ANSWERS.contains(&word) => AmountUnit::Output,
        _ => AmountUnit::of(word)?,
    };
    if matches!(unit, AmountUnit::Dollars(_)) {
        return Some((words.number()?, unit));
    }
    if !matches!(unit, AmountUnit::Prompt | AmountUnit::Output) {
        return None;
    }
    let is_apart = !words.next_if(&["of"]) && words.next_if(&[BREAK]);
    let number = words.number()?;
    let is_counted = words.peek().is_some_and(|next| match AmountUnit::of(next) {
        // `in 2048 out 512`.
        Some(AmountUnit::Prompt | AmountUnit::Output) => is_apart,
        Some(other) => !matches!(other, AmountUnit::Tokens | AmountUnit::TokenRate | AmountUnit::Dollars(_)),
        None => !hardware::wishes(next).is_empty() || ["x", "×"].contains(&next),
    });
    if is_counted {
        return None;
    }
    length(words)?;
    Some((number, unit))
}

/// `tokens` after a length; `None` before `tokens/s`, which makes the number a rate.
fn length(words: &mut Words) -> Option<()> {
    let is_rate = words.peek().and_then(AmountUnit::of) == Some(AmountUnit::TokenRate);
    words.next_if(&TOKENS);
    (!is_rate).then_some(())
}

/// The load of prompts that all arrive at once.
fn queue(word: &str) -> Option<fn(u32) -> Load> {
    match word {
        "offline" => Some(Load::Offline),
        "burst" => Some(Load::Burst),
        _ => None,
    }
}

fn queued(number: f64, of: fn(u32) -> Load, parsed: &mut Parsed) -> Option<Field> {
    parsed.link.scenario.workload.load = of(whole_count(number)?);
    Some(Field::Load)
}

fn whole_count(number: f64) -> Option<u32> {
    (number.fract() == 0.0 && number <= f64::from(u32::MAX)).then_some(number as u32)
}

fn set(number: f64, unit: AmountUnit, parsed: &mut Parsed) -> Option<Field> {
    let count = whole_count(number);
    let workload = &mut parsed.link.scenario.workload;
    let rate = |each: f64| significant(number * each, DIGITS);
    let load = match unit {
        AmountUnit::Requests(each) => Load::Rate(rate(each)),
        AmountUnit::SessionRate(each) => Load::SessionRate(rate(each)),
        AmountUnit::Clients => Load::Concurrency(count?),
        AmountUnit::Sessions => Load::Sessions(count?),
        AmountUnit::Gpus => {
            parsed.find.set(Field::BudgetGpus, &count?.to_string());
            return Some(Field::BudgetGpus);
        }
        AmountUnit::Percent => {
            parsed.slos.share = Some(number / 100.0);
            return Some(Field::SloShare);
        }
        AmountUnit::Speed => {
            parsed.slos.tpot_ms = Some(significant(1e3 / number, DIGITS)).filter(|time| time.is_finite());
            return parsed.slos.tpot_ms.map(|_| Field::SloTpot);
        }
        AmountUnit::Turns => {
            workload.turns.count = count?;
            return Some(Field::Turns);
        }
        AmountUnit::Prompt => {
            workload.set_mean_prompt(count.map(f64::from));
            return count.map(|_| Field::Isl);
        }
        AmountUnit::Output => {
            workload.set_mean_output(count.map(f64::from));
            return count.map(|_| Field::Osl);
        }
        AmountUnit::Dollars(_)
        | AmountUnit::Time(_)
        | AmountUnit::Tokens
        | AmountUnit::TokenRate
        | AmountUnit::Other => return None,
    };
    workload.load = load;
    Some(Field::Load)
}

/// Disaggregated serving, prompts at once, pauses, drafts, a power cap, degrees, the distribution of lengths.
fn asks(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    let degree = |field: &Field| Some((*field, word.strip_prefix(field.id())?));
    let (field, value) = match word {
        "disaggregated" | "disaggregation" | "pools" | "pd" => (Field::PrefillWorkers, ALL.to_owned()),
        "mtp" | "drafting" => (Field::Drafted, format!("0,{}", words.number().unwrap_or(1.0))),
        "think" => {
            words.next_if(&["time"]);
            parsed.link.scenario.workload.turns.think_s = words.milliseconds()? / 1e3;
            return Some(Field::ThinkTime);
        }
        "power" => {
            words.next_if(&["cap", "limit"]).then_some(())?;
            words.skip();
            let watts = words.number()?;
            words.next_if(&["w", "watt", "watts"]);
            (Field::PowerCap, watts.to_string())
        }
        "burst" | "offline" => {
            words.skip();
            let number = words.number()?;
            words.next_as(|word| AmountUnit::of(word).filter(|unit| *unit == AmountUnit::Other));
            return queued(number, queue(word)?, parsed);
        }
        "accepted" => {
            words.skip();
            (Field::Accepted, words.number()?.to_string())
        }
        _ => match (Shape::from_id(word), DEGREES.iter().find_map(degree)) {
            (Some(shape), _) => {
                let workload = &mut parsed.link.scenario.workload;
                workload.leave_histogram();
                workload.shape = Some(shape);
                return Some(Field::Shape);
            }
            (None, Some((field, ""))) => {
                words.next_if(&[BREAK]);
                (field, words.number()?.to_string())
            }
            (None, Some((field, typed))) => (field, whole(typed).ok()?.to_string()),
            (None, None) => return None,
        },
    };
    parsed.find.set(field, &value);
    Some(field)
}
