//! The searches that answer a question, one after the other: at several loads, or for each hour of a day.

use std::collections::VecDeque;

use super::capacity::{Capacity, Day, HOURS, Hour, LargestLoad, Question};
use super::{Answer, DeploymentPlan, Fleet, Request, Search};
use crate::config::link::Link;
use crate::config::{Load, Scenario};
use crate::units::{Order, significant};

/// A question being answered.
#[derive(Debug)]
pub struct Survey {
    request: Request,
    stage: Stage,
    /// What is known so far; the plans are those of the last search, or of the peak of the day.
    pub capacity: Capacity,
}

#[derive(Debug)]
enum Stage {
    /// The last search.
    Plans,
    /// The maximum load: the one being tried, the largest known to be served, the smallest known to break a limit.
    Most { tried: Load, meets: Option<f64>, breaks: Option<f64> },
    /// The peak of a day.
    Peak(Vec<f64>),
    /// The hours of the day, one plan after the other: the rates whose replicas are known, and the rate being tried.
    Hours { rates: Vec<f64>, plans: VecDeque<(DeploymentPlan, Scenario)>, known: Vec<(f64, u32)>, rate: f64 },
}

/// Relative precision of the maximum load.
const PRECISION: f64 = 0.03;
const GROWTH: f64 = 4.0;
const LEAST_RATE: f64 = 0.01;
const MOST_LOAD: f64 = 100_000.0;

impl Survey {
    /// Starts with the first search.
    pub fn new(request: Request, question: Question) -> (Self, Search) {
        let (stage, first) = match question {
            Question::Plans => (Stage::Plans, request.clone()),
            Question::Most(tried) => {
                (Stage::Most { tried, meets: None, breaks: None }, at(&request, tried, 1))
            }
            Question::Day(rates) => (Stage::Peak(rates), request.clone()),
        };
        (Self { request, stage, capacity: Capacity::default() }, Search::new(first))
    }

    /// Whether the result of the search is the answer rather than a step towards it.
    pub fn is_last(&self) -> bool {
        matches!(self.stage, Stage::Plans | Stage::Peak(_))
    }

    /// Whether the plans are for the peak of a day.
    pub fn is_of_day(&self) -> bool {
        matches!(self.stage, Stage::Peak(_) | Stage::Hours { .. })
    }

    /// Takes the result of the last search. Returns the next search; `None` if everything is known.
    pub fn next(&mut self, answer: Answer) -> Option<Search> {
        match &mut self.stage {
            Stage::Plans => {
                self.capacity.answer = answer;
                None
            }
            Stage::Most { tried, meets, breaks } => {
                *(if answer.plans.is_empty() { &mut *breaks } else { &mut *meets }) = Some(tried.amount());
                let field = tried.size();
                self.capacity.most = meets.map(|load| LargestLoad { field, load, breaks_at: *breaks });
                if let Some(next) = load_after((*meets, *breaks), tried.is_rate()) {
                    *tried = tried.with_amount(next);
                    return Some(Search::new(at(&self.request, *tried, 1)));
                }
                let most = meets.map_or(*tried, |most| tried.with_amount(most));
                self.stage = Stage::Plans;
                Some(Search::new(at(&self.request, most, self.request.plans)))
            }
            Stage::Peak(rates) => {
                // How replicas follow the rates is only known for replicas that do both prefill and decode.
                let shown = answer.plans.iter().take(self.request.plans);
                let read = |plan: &DeploymentPlan| Some((plan.clone(), Link::read(&plan.link).0?.scenario));
                let plans: VecDeque<_> = shown.filter_map(read).filter(|plan| !plan.1.has_pools()).collect();
                let rates = std::mem::take(rates);
                self.capacity.answer = answer;
                self.stage = Stage::Hours { rates, plans, known: Vec::new(), rate: 0.0 };
                self.hour()
            }
            Stage::Hours { plans, known, rate, .. } => {
                match answer.plans.first() {
                    Some(plan) => known.push((*rate, plan.replicas)),
                    // No number of replicas meets the limits in this hour, even though one does at the peak.
                    None => {
                        plans.pop_front();
                        known.clear();
                    }
                }
                self.hour()
            }
        }
    }

    /// The search for an hour whose replicas are not known.
    fn hour(&mut self) -> Option<Search> {
        let Stage::Hours { rates, plans, known, rate } = &mut self.stage else { return None };
        while let Some((plan, scenario)) = plans.front() {
            if known.is_empty() {
                let peak = rates.iter().copied().fold(0.0, f64::max);
                known.extend([(0.0, 0), (peak, plan.replicas)]);
            }
            let is_known = |rate: &f64| known.iter().any(|(other, _)| is_same(*other, *rate));
            if let Some(next) = rates.iter().copied().find(|rate| !is_known(rate)) {
                *rate = next;
                let alone = alone(&self.request, scenario.clone());
                return Some(Search::new(at(&alone, Load::Rate(next), 1)));
            }
            self.capacity.days.push(day(rates, plan, known));
            known.clear();
            plans.pop_front();
        }
        let ranking_cost = |day: &Day| (day.dollars_per_day.unwrap_or(f64::INFINITY), day.gpu_hours);
        let order = |a: (f64, f64), b: (f64, f64)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
        self.capacity.days.order_by(|a, b| order(ranking_cost(a), ranking_cost(b)));
        None
    }
}

/// Significant digits of a rate to try: as printed, so that what is printed is what was tried.
const DIGITS: i32 = 3;

/// The load to try next; `None` if the maximum is known.
fn load_after(known: (Option<f64>, Option<f64>), is_rate: bool) -> Option<f64> {
    // The number of clients is whole.
    let size = |load: f64| if is_rate { significant(load, DIGITS) } else { load.round() };
    match known {
        (Some(meets), None) if meets * GROWTH <= MOST_LOAD => Some(size(meets * GROWTH)),
        (None, Some(breaks)) if is_rate && breaks / GROWTH >= LEAST_RATE => Some(size(breaks / GROWTH)),
        (Some(meets), Some(breaks)) if breaks > meets * (1.0 + PRECISION) => {
            let least = if is_rate { meets } else { meets + 1.0 };
            let middle = size(f64::sqrt(meets * breaks)).max(least);
            (middle < breaks && middle > meets).then_some(middle)
        }
        _ => None,
    }
}

/// The request at another load, for this many plans.
fn at(request: &Request, load: Load, plans: usize) -> Request {
    let mut request = Request { plans, ..request.clone() };
    request.base.workload.load = load;
    request
}

/// The request for one layout, with as many replicas as required.
fn alone(request: &Request, base: Scenario) -> Request {
    Request {
        base,
        varied: Vec::new(),
        open: Vec::new(),
        gpus: None,
        runs: request.runs.clone(),
        fleet: Fleet { owned: Default::default(), ..request.fleet.clone() },
        plans: 1,
    }
}

/// Rates are given, not computed, so they can be compared exactly; none is a negative zero.
fn is_same(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits()
}

fn day(rates: &[f64], plan: &DeploymentPlan, known: &[(f64, u32)]) -> Day {
    let each = plan.gpus / plan.replicas.max(1);
    let of = |rate: &f64| known.iter().find(|(other, _)| is_same(*other, *rate)).map_or(0, |known| known.1);
    let replicas: Vec<u32> = rates.iter().map(of).collect();
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
    Day {
        name: plan.name.clone(),
        link: plan.link.clone(),
        dollars_per_day: price.map(|price| price * gpu_hours),
        dollars_per_day_at_peak: plan.dollars_per_hour.map(|dollars| dollars * HOURS as f64),
        gpu_hours,
        hours,
    }
}
