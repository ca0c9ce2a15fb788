//! Disaggregated prefill and decode, as plans alongside those whose replicas do both.
//!
//! A layout may prefill, decode, or be paired with another layout for the other half. A few learned step times estimate
//! how many workers of either kind the load requires. Pairs are then simulated in order of least cost, until no other
//! pair can cost less than the best one found.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::estimate::{Estimate, Expected};
use super::pair::PoolPair;
use super::plan::{BrokenLimit, Found};
use super::pool_search::MOST_OF_JOB;
use super::probe::Slice;
use super::ranking_cost::RankingCost;
use super::task::Job;
use super::{Request, Search, bound, layouts, words};
use crate::calibration::Factors;
use crate::config::catalog::catalog;
use crate::config::link::{POOLED, encode};
use crate::config::{Field, Issue, Parallelism, Scenario, Setup, check};
use crate::efficiency::{AskModels, UNANSWERED};
use crate::serving::run::Runner;
use crate::units::{Dollars, Order, count};

/// Layouts estimated per task.
const ESTIMATED: usize = 4;
/// Pairs simulated if none of them meets the limits.
const TRIED: u32 = 12;
/// Slices of pairs in a search without bounds: trying all workers cheaper than the best plan would take too long if
/// there are many layouts, or if none meets the limits.
const SLICES: u32 = 2000;

/// A layout that prefills or decodes.
#[derive(Debug, Clone)]
pub(super) struct PoolLayout {
    pub scenario: Scenario,
    pub is_prefill: bool,
    /// Number of such workers the load needs; `None` if the layout is refused, does not fit or is too slow.
    pub workers: Option<Expected>,
    /// The least seconds of a worker for each output token; 0 if not estimated.
    pub per_token: f64,
    /// GPUs and price of one worker.
    gpus: u32,
    dollars: Option<f64>,
}

/// The search for pairs.
#[derive(Debug, Default)]
pub(super) struct Pools {
    pub begun: bool,
    waiting: VecDeque<PoolLayout>,
    halves: Vec<PoolLayout>,
    /// The least cost of each pair, cheapest last.
    pairs: Vec<(RankingCost, usize, usize)>,
    probes: VecDeque<Box<PoolPair>>,
    /// Pairs that were simulated, and slices of them.
    tried: u32,
    slices: u32,
    /// The least cost of the workers that a search without bounds did not get to.
    cut: Option<RankingCost>,
    /// The cost of the best pair found.
    best: Option<RankingCost>,
    pub missed: Option<(Arc<Found>, BrokenLimit)>,
    /// Why a pair could not be simulated.
    pub refused: Option<String>,
}

impl Request {
    /// Whether pools are asked for.
    pub(super) fn pools(&self) -> bool {
        POOLED.iter().any(|field| self.values(*field).is_some())
    }

    /// The layouts of either half: those of replicas and, for prefill, on the GPUs and with the degrees that the
    /// request names.
    fn halves(&self) -> VecDeque<PoolLayout> {
        let of_stages = |layout: &Scenario| layout.parallel.pp == 1 || !self.open.contains(&Field::Pp);
        let decode: Vec<Scenario> = self.layouts().into_iter().filter(of_stages).collect();
        let mut prefill = decode.clone();
        for (own, field) in [(Field::PrefillGpu, Field::Gpu), (Field::PrefillTp, Field::Tp)] {
            let Some(values) = self.values(own) else { continue };
            let with = |layout: &Scenario| {
                let own = layout.gpu.clone();
                let all = values.iter().filter_map(|text| layouts::set(layout, field.input(), text));
                let stated = &self.base.prefill;
                let priced = all.map(move |mut layout| {
                    let same = layout.overrides.price.filter(|_| layout.gpu == own);
                    let own = stated.price.filter(|_| stated.gpu.as_ref() == Some(&layout.gpu));
                    layout.overrides.price = self.fleet.given_price(&layout.gpu).or(same).or(own);
                    layout
                });
                priced.collect::<Vec<_>>()
            };
            prefill = prefill.iter().flat_map(with).collect();
        }
        let mut known = BTreeSet::new();
        prefill.retain(|layout| known.insert(encode(layout)));
        let half = |is_prefill| {
            move |scenario| PoolLayout {
                scenario,
                is_prefill,
                workers: None,
                per_token: 0.0,
                gpus: 0,
                dollars: None,
            }
        };
        prefill.into_iter().map(half(true)).chain(decode.into_iter().map(half(false))).collect()
    }
}

impl PoolLayout {
    /// Finds how many of these workers the load requires; if `exhaustive`, only whether one fits.
    ///
    /// # Errors
    /// As `ask`.
    pub fn estimate(&mut self, exhaustive: bool, ask: AskModels<'_>) -> Result<(), String> {
        let whole = check(&self.scenario, catalog()).0;
        let Some(whole) = whole else { return Ok(()) };
        self.gpus = whole.parallel.gpus();
        self.dollars = whole.price.map(|price| price * f64::from(self.gpus));
        // No measured run with pools calibrates.
        let (setup, factors) = match self.is_prefill {
            true => (whole.of_prompts(), Factors::NONE),
            false => (whole.clone(), Factors { prefill: 0.0, ..Factors::NONE }),
        };
        let slow =
            |setup: &Setup| bound::Bound::of(setup).map_or(true, |bound| bound.broken(setup).is_some());
        if bound::lacks(&setup) != Ok(None) {
            return Ok(());
        }
        if exhaustive {
            self.workers = Some(Expected { least: 1, expected: 1 });
            return Ok(());
        }
        if self.is_prefill && slow(&setup) {
            return Ok(());
        }
        let Some((estimate, rows)) = Estimate::new(&setup) else { return Ok(()) };
        let (found, per_request) =
            estimate.disaggregated(&setup, &whole, (&ask(&rows)?, factors)).ok_or(UNANSWERED)?;
        self.workers = Some(found).filter(|found| found.least < u32::MAX);
        self.per_token = per_request / f64::from(whole.workload.osl);
        Ok(())
    }

    /// Everything that both halves of a pair have in common.
    fn common(&self) -> String {
        let mut layout =
            Scenario { parallel: Parallelism::NONE, gpu: String::new(), ..self.scenario.clone() };
        layout.overrides.price = None;
        encode(&layout)
    }
}

impl Search {
    /// Starts the search for pairs. Returns whether there is anything to try.
    pub(super) fn begin_pools(&mut self) -> bool {
        if self.pools.begun || !self.request.pools() {
            return false;
        }
        self.pools.begun = true;
        self.pools.waiting = self.request.halves();
        true
    }

    /// The next task; `None` if it depends on tasks in flight, or nothing remains.
    pub(super) fn pools_work(&mut self) -> Option<Job> {
        let Pools { waiting, halves, .. } = &mut self.pools;
        if !waiting.is_empty() {
            let some = waiting.drain(..ESTIMATED.min(waiting.len())).collect();
            return Some(Job::Estimate(some, self.exhaustive));
        }
        if !halves.is_empty() && self.pools.pairs.is_empty() && self.pools.tried == 0 {
            if self.out > 0 {
                return None;
            }
            // In a fixed order, whichever thread finished first.
            let keyed = self.pools.halves.drain(..);
            let keyed = keyed.map(|half| ((half.is_prefill, encode(&half.scenario)), half));
            let mut keyed: Vec<_> = keyed.collect();
            keyed.order_by(|one, other| one.0.cmp(&other.0));
            self.pools.halves.extend(keyed.into_iter().map(|(_, half)| half));
            self.pools.pairs = self.pairs();
        }
        if self.exhaustive {
            return self.cheapest_of_all().map(Job::Pair);
        }
        if let Some(probe) = self.pools.probes.pop_front() {
            return Some(Job::Pair(probe));
        }
        let found = self.pools.best;
        while let Some((ranking_cost, prefill, decode)) = self.pools.pairs.pop() {
            let pruned = found.is_some_and(|best| best.order(ranking_cost).is_lt());
            if pruned || (found.is_none() && self.pools.tried >= TRIED) {
                self.pools.pairs.clear();
                break;
            }
            self.pools.tried += 1;
            let halves = [&self.pools.halves[prefill], &self.pools.halves[decode]];
            if let Some(pair) = PoolPair::new(&self.request, halves, false) {
                self.counts.simulated += 1;
                return Some(Job::Pair(Box::new(pair)));
            }
        }
        None
    }

    /// In a search without bounds, the pair whose next workers cost least, until these cost more than the best found.
    fn cheapest_of_all(&mut self) -> Option<Box<PoolPair>> {
        let is_of_job = self.ranked_by().is_of_job();
        let Pools { probes, pairs, halves, best, slices, cut, tried, .. } = &mut self.pools;
        loop {
            let begun = (0..probes.len()).map(|index| (probes[index].ranking_cost(), index));
            let begun = begun.min_by(|one, other| one.0.order(other.0));
            let next = match (begun, pairs.last()) {
                (Some((own, _)), Some((other, ..))) if own.order(*other).is_gt() => *other,
                (Some((own, _)), _) => own,
                (None, Some((other, ..))) => *other,
                (None, None) => return None,
            };
            // The cost of a job depends on how well its workers match, not on their number.
            let pruned = !is_of_job && best.is_some_and(|best| best.order(next).is_lt());
            if pruned || *slices >= SLICES {
                *cut = Some(next).filter(|_| !pruned).or(*cut);
                probes.clear();
                pairs.clear();
                return None;
            }
            if let Some((_, index)) = begun.filter(|(own, _)| own.order(next).is_eq()) {
                *slices += 1;
                return probes.remove(index);
            }
            let (_, prefill, decode) = pairs.pop()?;
            *tried += 1;
            if let Some(pair) = PoolPair::new(&self.request, [&halves[prefill], &halves[decode]], true) {
                self.counts.simulated += 1;
                probes.push_back(Box::new(pair));
            }
        }
    }

    /// What a search without bounds left out.
    pub(super) fn not_tried(&self) -> Option<Issue> {
        let text = match self.pools.cut {
            Some(RankingCost::Dollars(cost)) => {
                format!("all that cost {} per hour or more", Dollars(cost).print())
            }
            Some(RankingCost::Gpus(gpus)) => format!("all that take {} GPUs or more", count(gpus)),
            None if self.exhaustive && self.pools.begun && self.ranked_by().is_of_job() => {
                format!("more than {MOST_OF_JOB} of either kind")
            }
            None => return None,
        };
        let text = format!("brute force left out some prefill and decode workers: {text}");
        Some(Issue::warning(Field::PrefillWorkers, text))
    }

    /// Pairs that differ only in GPU and degrees.
    fn pairs(&self) -> Vec<(RankingCost, usize, usize)> {
        let mut alike: BTreeMap<String, [Vec<usize>; 2]> = BTreeMap::new();
        for (index, half) in self.pools.halves.iter().enumerate() {
            alike.entry(half.common()).or_default()[usize::from(!half.is_prefill)].push(index);
        }
        let any_gpu = self.request.values(Field::PrefillGpu).is_some();
        let halves = &self.pools.halves;
        let all = alike.values().flat_map(|[prefill, decode]| {
            prefill.iter().flat_map(move |one| decode.iter().map(move |other| (*one, *other)))
        });
        let paired = |&(one, other): &(usize, usize)| {
            any_gpu || halves[one].scenario.gpu == halves[other].scenario.gpu
        };
        // A job costs the same with any number of matching workers: its cost follows from their seconds.
        let of_job = self.ranked_by().is_of_job() && !self.exhaustive;
        let least = |half: &PoolLayout| match half.workers {
            _ if of_job => half.per_token,
            workers => f64::from(workers.map_or(1, |workers| workers.least)),
        };
        let ranking_cost = |(one, other): (usize, usize)| {
            let both = [&halves[one], &halves[other]].map(|half| (least(half), half));
            let dollars =
                both.iter().map(|(workers, half)| Some(workers * half.dollars?)).sum::<Option<f64>>();
            let gpus = both.iter().map(|(workers, half)| workers * f64::from(half.gpus)).sum();
            let ranking_cost = dollars.map_or(RankingCost::Gpus(gpus), RankingCost::Dollars);
            (if of_job { ranking_cost.of_job(1.0) } else { ranking_cost }, one, other)
        };
        let mut pairs: Vec<_> = all.filter(paired).map(ranking_cost).collect();
        pairs.order_by(|a, b| b.0.order(a.0));
        pairs
    }

    pub(super) fn estimated(&mut self, halves: Vec<PoolLayout>) {
        self.pools.halves.extend(halves.into_iter().filter(|half| half.workers.is_some()));
    }

    pub(super) fn paired(&mut self, pair: Box<PoolPair>, slice: Slice) {
        self.counts.runs += pair.runs - pair.runs_before;
        match slice {
            Slice::More => self.pools.probes.push_back(pair),
            Slice::Found(found, runner) => {
                if !self.is_within_fleet() {
                    self.found.clear();
                }
                let better = |best: RankingCost| found.rank().order(best).is_lt();
                if self.pools.best.is_none_or(better) {
                    self.pools.best = Some(found.rank());
                }
                self.keep(*found, Arc::<Runner>::from(runner));
            }
            Slice::Missed(Some(missed)) => {
                let (found, broken) = *missed;
                words::keep_nearest(&mut self.pools.missed, Arc::new(found), broken);
            }
            Slice::Refused(issue) => self.pools.refused = Some(issue.text),
            Slice::Missed(None) => {}
        }
    }
}
