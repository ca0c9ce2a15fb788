//! Capacity questions: the maximum load a fleet or budget serves within the limits, and what a day with changing
//! rates costs if replicas follow them. Each is answered by searches at several loads.

use serde::Serialize;
use serde_json::{Map, Value};

use super::request::{number, stated};
use super::survey::Survey;
use super::{Answer, DeploymentPlan, Request, Search};
use crate::config::inputs::Range;
use crate::config::link::{Link, repeated};
use crate::config::{Field, Issue, Load, json};
use crate::units::{Dollars, count, decimal};

/// The question asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// Plans for a load.
    Plans,
    /// The maximum load of a kind, after this one is tried.
    Most(Load),
    /// Requests per second in each hour of a day.
    Day(Vec<f64>),
}

/// Plans, and the answer to the question.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Capacity {
    /// The plans at the maximum load, or at the peak of the day.
    #[serde(flatten)]
    pub answer: Answer,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<LargestLoad>,
    /// A day for each plan, cheapest first; those without a price by GPU hours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<Day>,
}

/// The maximum load served within the limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LargestLoad {
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
    /// Absent if no price is known.
    pub dollars_per_day: Option<f64>,
    /// Cost of a day with the peak's replicas all the time; absent if no price is known.
    pub dollars_per_day_at_peak: Option<f64>,
    pub gpu_hours: f64,
}

/// One hour of a day, from 0 on.
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
pub(super) const HOURS: usize = 24;
/// Rates of an hour with requests, per second.
const RATE: Range = Range::new(0.001, 100_000.0);
/// Loads whose maximum can be asked for, each the first one tried.
pub(super) const FIRST: [Load; 5] = [
    Load::Rate(1.0),
    Load::ConstantRate(1.0),
    Load::Concurrency(1),
    Load::Sessions(1),
    Load::SessionRate(1.0),
];

impl Question {
    /// Reads a request with `"rate": "most"`, a `"day"` of 24 rates, or a plain load.
    ///
    /// If there is no request, the issues hold an error.
    pub fn from_json(text: &str) -> (Option<Request>, Self, Vec<Issue>) {
        let Ok(Value::Object(object)) = json::parse(text) else {
            let (request, issues) = Request::from_json(text);
            return (request, Self::Plans, issues);
        };
        let mut issues = repeated(text);
        let (request, question, found) = Self::from_object(object);
        let sound = issues.is_empty();
        issues.extend(found);
        (request.filter(|_| sound), question, issues)
    }

    /// Reads a request, like [`Self::from_json`], from JSON that is already parsed.
    fn from_object(mut object: Map<String, Value>) -> (Option<Request>, Self, Vec<Issue>) {
        let stated = |load: &Load| object.get(load.size().id());
        let most = FIRST.into_iter().find(|load| stated(load).and_then(Value::as_str) == Some(MOST));
        let day = object.remove(DAY).filter(|day| !day.is_null());
        if most.is_none() && day.is_none() {
            let (request, issues) = Request::from_object(object);
            return (request, Self::Plans, issues);
        }
        let mut issues = Vec::new();
        let question = match (most, day) {
            (Some(load), Some(_)) => {
                let text = format!("`{DAY}` gives the rates: leave out the largest load");
                issues.push(Issue::error(load.size(), text));
                Self::Most(load)
            }
            (Some(load), None) => {
                object.insert(load.size().id().into(), 1.into());
                Self::Most(load)
            }
            (None, day) => {
                let rates = rates(&day.unwrap_or_default(), &mut issues);
                if FIRST.iter().any(|load| object.contains_key(load.size().id())) {
                    issues.push(Issue::error(Field::Day, format!("give a load or a `{DAY}`, not both")));
                }
                let peak = rates.iter().copied().fold(0.0, f64::max);
                object.insert(Field::Rate.id().into(), peak.into());
                Self::Day(rates)
            }
        };
        if issues.iter().any(Issue::is_error) {
            return (None, question, issues);
        }
        let (request, found) = Request::from_object(object);
        issues.extend(found);
        let unbounded = |request: &Request| request.gpus.is_none() && request.fleet.is_unbounded();
        if let (Self::Most(load), Some(stated)) = (&question, &request)
            && unbounded(stated)
        {
            let text =
                "finding the largest load needs a bound: give `budget_gpus`, `budget_dollars` or `owned`";
            issues.push(Issue::error(load.size(), text));
            return (None, question, issues);
        }
        let is_endless = |request: &Request| request.base.workload.slos.limits().next().is_none();
        if let (Self::Most(load @ (Load::Concurrency(_) | Load::Sessions(_))), Some(stated)) =
            (&question, &request)
            && is_endless(stated)
        {
            let text =
                "state a limit on TTFT, TPOT or E2E: without one, any number of clients is served eventually";
            issues.push(Issue::error(load.size(), text));
            return (None, question, issues);
        }
        (request, question, issues)
    }

    /// What a link asks, as from [`Self::from_json`]: its model, load, limits and settings apply to all plans, its
    /// restrictions of the search to the rest. Unrestricted hardware, layout and engine are open; formats stay as
    /// configured.
    pub fn from_link(link: &Link) -> (Option<Request>, Self, Vec<Issue>) {
        let (find, mut object) = (link.find.clone().unwrap_or_default(), stated(link));
        let load = link.scenario.workload.load.size();
        let hours = find.hours();
        if !hours.is_empty() {
            FIRST.map(Load::size).iter().chain([&load]).for_each(|size| drop(object.remove(size.id())));
            object.insert(DAY.into(), hours.into_iter().map(number).collect());
        }
        let most = find.get(Field::Most).is_some();
        if most {
            object.insert(load.id().into(), MOST.into());
        }
        let (request, question, mut issues) = Self::from_object(object);
        // A link gives this along with its load, which is not at fault.
        for issue in issues.iter_mut().filter(|issue| most && issue.field == load) {
            issue.field = Field::Most;
        }
        (request.map(|request| Request { runs: link.runs.clone(), ..request }), question, issues)
    }

    /// Answers the question; `finish` runs a search to its end.
    ///
    /// # Errors
    /// Errors of `finish`.
    pub fn answer<E>(
        self,
        request: Request,
        finish: impl Fn(Search) -> Result<Answer, E>,
    ) -> Result<Capacity, E> {
        let (mut survey, mut search) = Survey::new(request, self);
        loop {
            match survey.next(finish(search)?) {
                Some(next) => search = next,
                None => return Ok(survey.capacity),
            }
        }
    }
}

/// Whether a rate can be one of a day: an hour may have no requests at all.
fn is_of_hour(rate: f64) -> bool {
    rate == 0.0 || RATE.contains(rate)
}

fn rates(value: &Value, issues: &mut Vec<Issue>) -> Vec<f64> {
    let hours = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let rates: Vec<f64> = hours
        .iter()
        .filter_map(Value::as_f64)
        .filter(|rate| is_of_hour(*rate))
        .map(|rate| rate + 0.0)
        .collect();
    let text = if hours.len() != HOURS {
        let given = if value.is_array() { hours.len().to_string() } else { json::kind(value).to_owned() };
        format!("`{DAY}` must have {HOURS} rates, in requests per second from midnight on, not {given}")
    } else if rates.len() != HOURS {
        let other = hours.iter().find(|hour| !hour.as_f64().is_some_and(is_of_hour));
        RATE.wanted(&format!("each rate of `{DAY}`"), "0 or a number", &json::shown(other.unwrap_or(value)))
    } else if rates.iter().all(|rate| *rate == 0.0) {
        format!("`{DAY}` has no requests in any hour")
    } else {
        return rates;
    };
    issues.push(Issue::error(Field::Day, text));
    rates
}

impl Capacity {
    /// The table of plans, followed by the answer to the question, as text.
    pub fn to_table(&self) -> String {
        let mut lines = vec![self.answer.to_table()];
        let best = self.answer.plans.first();
        lines.extend(self.most.map(|most| format!("most: {}", most.text(best))));
        lines.extend(self.days.iter().map(Day::line));
        lines.join("\n")
    }
}

impl LargestLoad {
    /// `these 8 GPUs serve up to 32 requests/s; at 32.7 a limit breaks`; of the plan, if it is known.
    pub fn text(&self, plan: Option<&DeploymentPlan>) -> String {
        let these = match plan.map(|plan| plan.gpus) {
            None => "the GPUs serve".to_owned(),
            Some(1) => "this GPU serves".to_owned(),
            Some(gpus) => format!("these {gpus} GPUs serve"),
        };
        let unit = match self.field {
            Field::Concurrency => "clients",
            Field::Sessions => "users with sessions",
            field => field.input().number.map_or("", |number| number.unit),
        };
        let breaks =
            self.breaks_at.map_or(String::new(), |load| format!("; at {} a limit is missed", count(load)));
        let ramp = plan.and_then(|plan| plan.config.get(Field::Ramp.id())?.as_f64());
        let start = ramp.map_or(String::new(), |seconds| {
            format!(" that start one after another, over {} s", decimal(seconds))
        });
        format!("{these} up to {} {unit}{start}{breaks}", count(self.load))
    }
}

impl Day {
    fn line(&self) -> String {
        let money = |dollars: Option<f64>| {
            dollars.map_or("no price".into(), |dollars| Dollars(dollars).print().to_string())
        };
        format!(
            "day: {} a day, {} with the peak's replicas all day: {}: replicas {}",
            money(self.dollars_per_day),
            money(self.dollars_per_day_at_peak),
            self.name,
            self.steps(),
        )
    }

    /// `1 from 0:00, 2 from 8:00, 1 from 20:00`: the number of replicas at first, and from each hour on at which it changes.
    pub fn steps(&self) -> String {
        let steps = self.hours.iter().enumerate().filter(|(at, hour)| *at == 0 || hour.step != 0);
        let steps: Vec<String> = steps.map(|(at, hour)| format!("{} from {at}:00", hour.replicas)).collect();
        steps.join(", ")
    }
}
