//! Capacity questions: the maximum load a fleet or budget serves within the limits, and what a day with changing
//! rates costs if replicas follow them. Each is answered by searches at several loads.

use serde::Serialize;
use serde_json::Value;

use super::request::repeated;
use super::{Answer, Fleet, Plan, Request, Search};
use crate::config::inputs::Range;
use crate::config::link::Link;
use crate::config::{Field, Issue, Load, json};
use crate::units::{count, fixed};

/// The question asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// Plans for a load.
    Plans,
    /// The maximum load, of this size input.
    Most(Field),
    /// Requests per second in each hour of a day.
    Day(Vec<f64>),
}

/// Plans, and the answer to the question.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Capacity {
    /// At the maximum load, or at the peak of the day.
    #[serde(flatten)]
    pub answer: Answer,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<Most>,
    /// A day for each plan, cheapest first; those without a price by GPU hours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<Day>,
}

/// The maximum load served within the limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Most {
    /// `rate`, `constant_rate`, `concurrency`, `sessions` or `session_rate`.
    pub field: Field,
    pub load: f64,
    /// The smallest load tried that no plan serves, if any.
    pub breaks_at: Option<f64>,
}

/// A plan whose replicas follow the rates over a day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Day {
    /// The plan at the peak.
    pub name: String,
    pub link: String,
    pub hours: Vec<Hour>,
    /// If a price is known, like the next one.
    pub dollars_per_day: Option<f64>,
    /// With the peak's replicas all day.
    pub dollars_per_day_at_peak: Option<f64>,
    pub gpu_hours: f64,
}

/// One hour of it, from 0 on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Hour {
    /// Requests per second.
    pub rate: f64,
    /// 0 without requests.
    pub replicas: u32,
    pub gpus: u32,
    /// Replicas added or removed since the previous hour; the first follows the last.
    pub step: i64,
}

const DAY: &str = "day";
const MOST: &str = "most";
const HOURS: usize = 24;
const RATE: Range = Range::new(0.0, 100_000.0);
/// Loads whose maximum can be asked for.
const SIZES: [Field; 5] =
    [Field::Rate, Field::ConstantRate, Field::Concurrency, Field::Sessions, Field::SessionRate];
/// Relative precision of the maximum load.
const PRECISION: f64 = 0.03;
const GROWTH: f64 = 4.0;
const LEAST_RATE: f64 = 0.01;
const MOST_LOAD: f64 = 100_000.0;

impl Question {
    /// Reads a request with `"rate": "most"`, a `"day"` of 24 rates, or a plain load.
    ///
    /// If there is no request, the issues hold an error.
    pub fn from_json(text: &str) -> (Option<Request>, Self, Vec<Issue>) {
        let Ok(Value::Object(mut object)) = json::parse(text) else {
            let (request, issues) = Request::from_json(text);
            return (request, Self::Plans, issues);
        };
        let size =
            SIZES.into_iter().find(|field| object.get(field.id()).and_then(Value::as_str) == Some(MOST));
        let day = object.remove(DAY);
        if size.is_none() && day.is_none() {
            let (request, issues) = Request::from_json(text);
            return (request, Self::Plans, issues);
        }
        let mut issues = repeated(text);
        let question = match (size, day) {
            (Some(size), Some(_)) => {
                let text = format!("`{DAY}` gives the rates: `{}` cannot be asked for besides", size.id());
                issues.push(Issue::error(size, text));
                Self::Most(size)
            }
            (Some(size), None) => {
                object.insert(size.id().into(), 1.into());
                Self::Most(size)
            }
            (None, day) => {
                let rates = rates(&day.unwrap_or_default(), &mut issues);
                if SIZES.iter().any(|size| object.contains_key(size.id())) {
                    issues.push(Issue::error(Field::Rate, format!("give a load or a `{DAY}`, not both")));
                }
                let peak = rates.iter().copied().fold(0.0, f64::max);
                object.insert(Field::Rate.id().into(), peak.into());
                Self::Day(rates)
            }
        };
        if issues.iter().any(Issue::is_error) {
            return (None, question, issues);
        }
        let (request, found) = Request::from_json(&Value::Object(object).to_string());
        issues.extend(found);
        let unbounded = |request: &Request| request.gpus.is_none() && request.fleet.is_unbounded();
        if let (Self::Most(size), Some(asked)) = (&question, &request)
            && unbounded(asked)
        {
            let text = "the most of an unbounded fleet has no end: give `owned`, `gpus`, `budget_gpus` or `budget_dollars`";
            issues.push(Issue::error(*size, text));
            return (None, question, issues);
        }
        (request, question, issues)
    }

    /// Answers the question; `finish` runs a search to its end.
    ///
    /// # Errors
    /// Errors of `finish`.
    pub fn answer<E>(
        &self,
        request: Request,
        finish: impl Fn(Search) -> Result<Answer, E>,
    ) -> Result<Capacity, E> {
        match self {
            Self::Plans => Ok(Capacity { answer: finish(Search::new(request))?, ..Capacity::default() }),
            Self::Most(size) => most(&request, *size, finish),
            Self::Day(rates) => days(&request, rates, finish),
        }
    }
}

fn rates(value: &Value, issues: &mut Vec<Issue>) -> Vec<f64> {
    let hours = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let rates: Vec<f64> = hours
        .iter()
        .filter_map(Value::as_f64)
        .filter(|rate| RATE.contains(*rate))
        .map(|rate| rate + 0.0)
        .collect();
    let text = if hours.len() != HOURS {
        let given = if value.is_array() { hours.len().to_string() } else { json::kind(value).to_owned() };
        format!("`{DAY}` must hold {HOURS} rates, in requests per second from midnight on, not {given}")
    } else if rates.len() != HOURS {
        let other = hours.iter().find(|hour| !hour.as_f64().is_some_and(|rate| RATE.contains(rate)));
        RATE.wanted(&format!("each rate of `{DAY}`"), "a number", &other.unwrap_or(value).to_string())
    } else if rates.iter().all(|rate| *rate == 0.0) {
        format!("`{DAY}` has no requests in any hour")
    } else {
        return rates;
    };
    issues.push(Issue::error(Field::Rate, text));
    rates
}

/// The same request at another load.
fn at(request: &Request, load: Load, plans: usize) -> Request {
    let mut request = Request { plans, ..request.clone() };
    request.base.workload.load = load;
    request
}

fn most<E>(
    request: &Request,
    size: Field,
    finish: impl Fn(Search) -> Result<Answer, E>,
) -> Result<Capacity, E> {
    let is_rate = Load::of(size, 1.0).is_rate();
    let takes = |load: f64| -> Result<bool, E> {
        Ok(!finish(Search::new(at(request, Load::of(size, load), 1)))?.plans.is_empty())
    };
    let (mut keeps, mut breaks, mut load) = (None, None, 1.0);
    loop {
        if takes(load)? {
            keeps = Some(load);
        } else {
            breaks = Some(load);
        }
        load = match (keeps, breaks) {
            (Some(keeps), None) if keeps * GROWTH <= MOST_LOAD => keeps * GROWTH,
            (None, Some(breaks)) if is_rate && breaks / GROWTH >= LEAST_RATE => breaks / GROWTH,
            (Some(keeps), Some(breaks)) if breaks > keeps * (1.0 + PRECISION) => {
                let middle = f64::sqrt(keeps * breaks);
                // Clients are whole numbers.
                let middle = if is_rate { rounded(middle) } else { middle.round().max(keeps + 1.0) };
                if middle >= breaks || middle <= keeps {
                    break;
                }
                middle
            }
            _ => break,
        };
    }
    let answer = finish(Search::new(at(request, Load::of(size, keeps.unwrap_or(load)), request.plans)))?;
    let most = keeps.map(|load| Most { field: size, load, breaks_at: breaks });
    Ok(Capacity { answer, most, days: Vec::new() })
}

/// Rates are typed, not computed; none is a negative zero.
fn is_same(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits()
}

/// Rounded to four digits, so that it prints exactly.
fn rounded(load: f64) -> f64 {
    format!("{load:.3e}").parse().unwrap_or(load)
}

fn days<E>(
    request: &Request,
    rates: &[f64],
    finish: impl Fn(Search) -> Result<Answer, E>,
) -> Result<Capacity, E> {
    let answer = finish(Search::new(request.clone()))?;
    let mut days = Vec::new();
    for plan in answer.plans.iter().take(request.plans) {
        days.extend(day(request, rates, plan, &finish)?);
    }
    let worth = |day: &Day| (day.dollars_per_day.unwrap_or(f64::INFINITY), day.gpu_hours);
    days.sort_by(|a, b| worth(a).0.total_cmp(&worth(b).0).then(worth(a).1.total_cmp(&worth(b).1)));
    Ok(Capacity { answer, most: None, days })
}

/// `None` if no number of replicas meets the limits in some hour, although one does at the peak.
fn day<E>(
    request: &Request,
    rates: &[f64],
    plan: &Plan,
    finish: &impl Fn(Search) -> Result<Answer, E>,
) -> Result<Option<Day>, E> {
    let Some(link) = Link::read(&plan.link).0 else { return Ok(None) };
    // The plan's layout, with as many replicas as needed.
    let alone = Request {
        base: link.scenario,
        varied: Vec::new(),
        open: Vec::new(),
        gpus: None,
        runs: request.runs.clone(),
        fleet: Fleet { owned: Default::default(), ..request.fleet.clone() },
        plans: 1,
    };
    let peak = rates.iter().copied().fold(0.0, f64::max);
    let mut known: Vec<(f64, u32)> = vec![(0.0, 0), (peak, plan.replicas)];
    for &rate in rates {
        if known.iter().any(|(other, _)| is_same(*other, rate)) {
            continue;
        }
        let found = finish(Search::new(at(&alone, Load::Rate(rate), 1)))?;
        let Some(found) = found.plans.first() else { return Ok(None) };
        known.push((rate, found.replicas));
    }
    let each = plan.gpus / plan.replicas.max(1);
    let replicas: Vec<u32> = rates
        .iter()
        .map(|rate| {
            known.iter().find(|(other, _)| is_same(*other, *rate)).map_or(0, |(_, replicas)| *replicas)
        })
        .collect();
    let before = |hour: usize| replicas[(hour + replicas.len() - 1) % replicas.len()];
    let hours = rates.iter().zip(&replicas).enumerate().map(|(hour, (&rate, &replicas))| Hour {
        rate,
        replicas,
        gpus: replicas * each,
        step: i64::from(replicas) - i64::from(before(hour)),
    });
    let hours: Vec<Hour> = hours.collect();
    let gpu_hours: f64 = hours.iter().map(|hour| f64::from(hour.gpus)).sum();
    let price = plan.dollars_per_hour.map(|dollars| dollars / f64::from(plan.gpus));
    Ok(Some(Day {
        name: plan.name.clone(),
        link: plan.link.clone(),
        dollars_per_day: price.map(|price| price * gpu_hours),
        dollars_per_day_at_peak: plan.dollars_per_hour.map(|dollars| dollars * HOURS as f64),
        gpu_hours,
        hours,
    }))
}

impl Capacity {
    /// As text: the table of plans, followed by the answer to the question.
    pub fn to_table(&self) -> String {
        let mut lines = vec![self.answer.to_table()];
        if let Some(most) = self.most {
            let breaks =
                most.breaks_at.map_or(String::new(), |load| format!("; {} is too much", count(load)));
            lines.push(format!("most: {} {}{breaks}", most.field.id(), count(most.load)));
        }
        lines.extend(self.days.iter().map(Day::line));
        lines.join("\n")
    }
}

impl Day {
    fn line(&self) -> String {
        let money = |dollars: Option<f64>| {
            dollars.map_or("no price".into(), |dollars| format!("$ {}", fixed(dollars, 2)))
        };
        let steps = self.hours.iter().enumerate().filter(|(_, hour)| hour.step != 0);
        let steps: Vec<String> = steps.map(|(at, hour)| format!("{at}h {}", hour.replicas)).collect();
        format!(
            "day: {} a day, {} with the peak's replicas all day: {}: replicas {}",
            money(self.dollars_per_day),
            money(self.dollars_per_day_at_peak),
            self.name,
            if steps.is_empty() { "never change".to_owned() } else { steps.join(", ") },
        )
    }
}
