//! Prefill and decode on workers of their own, as plans beside those whose replicas do both.
//!
//! A layout may compute prompts, decode, or be paired with another for the other half. A few learned step times say how
//! many workers the load takes of either; pairs are then simulated, those of the least cost first, until no other can
//! cost less than the best that was found.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::estimate::{Estimate, Expected};
use super::pair::Pair;
use super::plan::{Broken, Found, Worth};
use super::probe::Slice;
use super::task::Job;
use super::{Request, Search, bound, layouts, words};
use crate::calibration::Factors;
use crate::config::catalog::{catalog, constants};
use crate::config::link::{POOLED, encode};
use crate::config::{Field, Scenario, Setup, check};
use crate::efficiency::{Efficiencies, Rows};
use crate::serving::run::Runner;
use crate::units::{Order, percent};

/// Layouts that one task estimates.
const ESTIMATED: usize = 4;
/// Pairs simulated where none of them keeps to the limits.
const TRIED: u32 = 12;

/// A layout that computes prompts or decodes.
#[derive(Debug, Clone)]
pub(super) struct Half {
    pub scenario: Scenario,
    pub computes: bool,
    /// Number of such workers the load needs; `None` if the layout is refused, does not fit or is too slow.
    pub workers: Option<Expected>,
    /// Of one worker.
    gpus: u32,
    dollars: Option<f64>,
}

/// The search for pairs.
#[derive(Debug, Default)]
pub(super) struct Pools {
    begun: bool,
    waiting: VecDeque<Half>,
    halves: Vec<Half>,
    /// What each pair costs at least, the cheapest last.
    pairs: Vec<(Worth, usize, usize)>,
    probes: VecDeque<Box<Pair>>,
    /// Pairs that were simulated.
    tried: u32,
    /// What the best that was found costs.
    best: Option<Worth>,
    missed: Option<(Arc<Found>, Broken)>,
    /// Why a pair could not be simulated.
    refused: Option<String>,
}

impl Request {
    /// Whether pools are asked for.
    pub(super) fn pools(&self) -> bool {
        POOLED.iter().any(|field| self.values(*field).is_some())
    }

    /// The layouts of either half: those of replicas, on the GPUs and with the degrees that are named for prompts.
    fn halves(&self) -> VecDeque<Half> {
        let of_stages = |layout: &Scenario| layout.pp == 1 || !self.open.contains(&Field::Pp);
        let decode: Vec<Scenario> = self.layouts().into_iter().filter(of_stages).collect();
        let mut prefill = decode.clone();
        for (own, field) in [(Field::PrefillGpu, Field::Gpu), (Field::PrefillTp, Field::Tp)] {
            let Some(values) = self.values(own) else { continue };
            let with = |layout: &Scenario| {
                let own = layout.gpu.clone();
                let all = values.iter().filter_map(|text| layouts::set(layout, field.input(), text));
                let priced = all.map(move |mut layout| {
                    let same = layout.overrides.price.filter(|_| layout.gpu == own);
                    layout.overrides.price = self.price_of(&layout.gpu).or(same);
                    layout
                });
                priced.collect::<Vec<_>>()
            };
            prefill = prefill.iter().flat_map(with).collect();
        }
        let mut known = BTreeSet::new();
        prefill.retain(|layout| known.insert(encode(layout)));
        let half =
            |computes| move |scenario| Half { scenario, computes, workers: None, gpus: 0, dollars: None };
        prefill.into_iter().map(half(true)).chain(decode.into_iter().map(half(false))).collect()
    }
}

impl Half {
    /// Finds how many of it the load takes.
    ///
    /// # Errors
    /// As `ask`.
    pub fn estimate<E>(
        &mut self,
        ask: &dyn Fn(&Rows) -> Result<Efficiencies, E>,
        unanswered: &dyn Fn() -> E,
    ) -> Result<(), E> {
        let whole = check(&self.scenario, catalog()).0;
        let (Some(whole), Some(physics)) = (whole, constants().physics()) else { return Ok(()) };
        self.gpus = whole.gpus_per_replica();
        self.dollars = whole.price.map(|price| price * f64::from(self.gpus));
        // No measured run has pools.
        let (setup, factors) = match self.computes {
            true => (whole.clone().of_prompts(), Factors::NONE),
            false => (whole.clone(), Factors { prefill: 0.0, ..Factors::NONE }),
        };
        let slow =
            |setup: &Setup| bound::Bound::of(setup).map_or(true, |bound| bound.broken(setup).is_some());
        if bound::lacks(&setup) != Ok(None) || (self.computes && slow(&setup)) {
            return Ok(());
        }
        let Some((estimate, rows)) = Estimate::new(&setup, &physics) else { return Ok(()) };
        let found =
            estimate.apart(&setup, &whole, &physics, (&ask(&rows)?, factors)).ok_or_else(unanswered)?;
        self.workers = Some(found).filter(|found| found.least < u32::MAX);
        Ok(())
    }

    /// All that a pair has in common.
    fn common(&self) -> String {
        let mut layout = Scenario { tp: 1, pp: 1, dp: 1, ep: 1, gpu: String::new(), ..self.scenario.clone() };
        layout.overrides.price = None;
        encode(&layout)
    }
}

impl Search {
    /// Whether there is something to try.
    pub(super) fn begin_pools(&mut self) -> bool {
        if self.pools.begun || self.exhaustive || !self.request.pools() {
            return false;
        }
        self.pools.begun = true;
        self.pools.waiting = self.request.halves();
        true
    }

    /// Something to compute; none while that depends on what was handed out before, or if nothing remains.
    pub(super) fn pools_work(&mut self) -> Option<Job> {
        let Pools { waiting, halves, .. } = &mut self.pools;
        if !waiting.is_empty() {
            return Some(Job::Estimate(waiting.drain(..ESTIMATED.min(waiting.len())).collect()));
        }
        if !halves.is_empty() && self.pools.pairs.is_empty() && self.pools.tried == 0 {
            if self.out > 0 {
                return None;
            }
            // In one order, whichever thread was the first.
            self.pools.halves.sort_by_cached_key(|half| (half.computes, encode(&half.scenario)));
            self.pools.pairs = self.pairs();
        }
        if let Some(probe) = self.pools.probes.pop_front() {
            return Some(Job::Pair(probe));
        }
        let found = self.pools.best;
        while let Some((worth, prefill, decode)) = self.pools.pairs.pop() {
            let outdone = found.is_some_and(|best| best.order(worth).is_lt());
            if outdone || (found.is_none() && self.pools.tried >= TRIED) {
                self.pools.pairs.clear();
                break;
            }
            self.pools.tried += 1;
            let halves = [&self.pools.halves[prefill], &self.pools.halves[decode]];
            if let Some(pair) = Pair::new(&self.request, halves) {
                self.counts.simulated += 1;
                return Some(Job::Pair(Box::new(pair)));
            }
        }
        None
    }

    /// Pairs that agree in all but GPU and degrees.
    fn pairs(&self) -> Vec<(Worth, usize, usize)> {
        let mut alike: BTreeMap<String, [Vec<usize>; 2]> = BTreeMap::new();
        for (index, half) in self.pools.halves.iter().enumerate() {
            alike.entry(half.common()).or_default()[usize::from(!half.computes)].push(index);
        }
        let any_gpu = self.request.values(Field::PrefillGpu).is_some();
        let halves = &self.pools.halves;
        let all = alike.values().flat_map(|[prefill, decode]| {
            prefill.iter().flat_map(move |one| decode.iter().map(move |other| (*one, *other)))
        });
        // A link has one price, that of the GPU which decodes: another has the catalog's.
        let paired = |&(one, other): &(usize, usize)| {
            let [first, then] = [one, other].map(|index| &halves[index].scenario.gpu);
            first == then || (any_gpu && self.request.price_of(first).is_none())
        };
        let least = |half: &Half| half.workers.map_or(1, |workers| workers.least);
        let worth = |(one, other): (usize, usize)| {
            let both = [&halves[one], &halves[other]].map(|half| (f64::from(least(half)), half));
            let dollars =
                both.iter().map(|(workers, half)| Some(workers * half.dollars?)).sum::<Option<f64>>();
            let gpus = both.iter().map(|(workers, half)| workers * f64::from(half.gpus)).sum();
            (dollars.map_or(Worth::Gpus(gpus), Worth::Dollars), one, other)
        };
        let mut pairs: Vec<_> = all.filter(paired).map(worth).collect();
        pairs.order_by(|a, b| b.0.order(a.0));
        pairs
    }

    pub(super) fn estimated(&mut self, halves: Vec<Half>) {
        self.pools.halves.extend(halves.into_iter().filter(|half| half.workers.is_some()));
    }

    pub(super) fn paired(&mut self, pair: Box<Pair>, slice: Slice) {
        if let Slice::More = slice {
            return self.pools.probes.push_back(pair);
        }
        self.counts.runs += pair.runs;
        match slice {
            Slice::Found(found, runner) => {
                if !self.is_within_fleet() {
                    self.found.clear();
                }
                let better = |best: Worth| found.worth().order(best).is_lt();
                if self.pools.best.is_none_or(better) {
                    self.pools.best = Some(found.worth());
                }
                self.keep(*found, Arc::<Runner>::from(runner));
            }
            Slice::Missed(Some(missed)) => {
                let (found, broken) = *missed;
                let nearer = |(_, known): &(_, Broken)| words::excess(&broken) < words::excess(known);
                if self.pools.missed.as_ref().is_none_or(nearer) {
                    self.pools.missed = Some((Arc::new(found), broken));
                }
            }
            Slice::Refused(issue) => self.pools.refused = Some(issue.text),
            Slice::Missed(None) | Slice::More => {}
        }
    }

    /// Whether pools pay, and if not, why; `None` if they were not requested or nothing is known yet.
    pub(super) fn of_pools(&self) -> Option<String> {
        let of =
            |apart: bool| self.found.iter().map(|(found, _)| found).find(|found| found.is_apart() == apart);
        let name = |found: &Found| words::name(&found.setup, found.replicas);
        let Some(pools) = of(true) else {
            let over = self.pools.begun && self.is_finished() && !self.is_stopped();
            return over.then(|| match (&self.pools.missed, &self.pools.refused) {
                (None, Some(refused)) => format!("prefill and decode apart: {refused}"),
                (Some((found, broken)), _) => {
                    format!(
                        "prefill and decode apart do not meet the limits; nearest is {}: {}",
                        name(found),
                        broken.text
                    )
                }
                (None, None) => "no prefill and decode workers fit within the fleet and the limits".into(),
            });
        };
        let less = pools.worker_less.as_ref();
        let less =
            less.map_or(String::new(), |broken| format!("; with one prefill worker fewer, {}", broken.text));
        let against = match of(false) {
            None => "only prefill and decode apart meet the limits".to_owned(),
            Some(whole) => {
                let verdict = match pools.worth().order(whole.worth()) {
                    Ordering::Less => "pay",
                    Ordering::Equal => "make no difference to the cost",
                    Ordering::Greater => "do not pay",
                };
                let (times, takes) = match [pools, whole].map(|found| found.worth().dollars()) {
                    [Some(own), Some(other)] => (own / other, ["costs", "less", "more", "as much as"]),
                    _ => {
                        let gpus = [pools, whole].map(|found| f64::from(found.gpus()));
                        (gpus[0] / gpus[1], ["takes", "fewer GPUs", "more GPUs", "as many GPUs as"])
                    }
                };
                let (than, own, other) = (compared(times, takes), name(pools), name(whole));
                format!("prefill and decode apart {verdict}: the best, {own}, {than} {other}")
            }
        };
        Some(format!(
            "{against}{less}. No measured run calibrates pools: they are predicted by physics alone"
        ))
    }
}

/// `costs 25 % less than`; `as much as` where a percentage says nothing.
fn compared(times: f64, [takes, less, more, same]: [&str; 4]) -> String {
    let share = percent((times - 1.0).abs());
    match share.number.parse::<f64>() {
        Ok(0.0) => format!("{takes} {same}"),
        _ => format!("{takes} {share} {} than", if times < 1.0 { less } else { more }),
    }
}

#[cfg(test)]
mod tests {
    use super::compared;

    #[test]
    fn a_difference_is_a_percentage_less_or_more() {
        let words = ["costs", "less", "more", "as much as"];
        let said = [0.75, 1.25, 1.0].map(|times| compared(times, words));
        assert_eq!(said, ["costs 25\u{a0}% less than", "costs 25\u{a0}% more than", "costs as much as"]);
    }
}
