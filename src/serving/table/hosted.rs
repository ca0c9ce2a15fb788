//! A table with an engine's host times and calibration factors: the step costs of a run.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::grid::Near;
use super::{RankMaximum, StepTable, Work};
use crate::calibration::Factors;
use crate::config::HostTime;
use crate::latency::{HostWork, StepTime};
use crate::serving::sim::{RankStep, Spent, StepCost};
use crate::units::{Seconds, smaller};

/// A table with an engine's host times.
#[derive(Debug, Clone)]
pub struct Hosted<'a> {
    table: &'a StepTable,
    host: &'a HostTime,
    ahead: bool,
    factors: Factors,
    recent: Rc<Recent>,
}

/// Cache of lookups for all runs with the same table: the parts of a step that depend on a token or sequence count, and
/// the last cell of attention.
#[derive(Debug, Clone, Default)]
pub(super) struct Recent {
    pub tokens: Kept,
    pub logits: Kept,
    pub experts: Kept,
    pub drafts: Kept,
    /// The sum of tokens, logits, experts and drafts for the last step: consecutive decode steps have the same counts.
    pub alike: Cell<Option<([f64; 4], Spent)>>,
    /// The prompts of the last step that had some: most steps have one more of the same length.
    pub prompts: Cell<Option<([f64; 3], Spent)>>,
    /// Grid cells of decode attention with and without prompts, which are not padded to the same number of sequences.
    pub decodes: RefCell<[Near; 2]>,
}

/// The result of `look_up` at this point, cached if it was also the last one requested.
pub(super) fn once<At: Copy + PartialEq>(
    last: &Cell<Option<(At, Spent)>>,
    at: At,
    look_up: impl FnOnce() -> Spent,
) -> Spent {
    if let Some((_, spent)) = last.get().filter(|(known, _)| *known == at) {
        return spent;
    }
    let spent = look_up();
    last.set(Some((at, spent)));
    spent
}

/// Largest count that is cached.
const MOST_KEPT: f64 = 65_536.0;

/// Results by whole number; NaN if not looked up yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept(RefCell<Vec<Spent>>);

impl Kept {
    pub fn at(&self, at: f64, look_up: impl FnOnce(f64) -> Spent) -> Spent {
        let index = at as usize;
        if index as f64 != at || at >= MOST_KEPT {
            return look_up(at);
        }
        let mut known = self.0.borrow_mut();
        if known.len() <= index {
            known.resize(index + 1, Spent { seconds: f64::NAN, joules: 0.0 });
        }
        if known[index].seconds.is_nan() {
            known[index] = look_up(at);
        }
        known[index]
    }
}

impl<'a> Hosted<'a> {
    /// The steps of the physics alone.
    pub(super) fn new(table: &'a StepTable, host: &'a HostTime, ahead: bool) -> Self {
        Self { table, host, ahead, factors: Factors::NONE, recent: Rc::default() }
    }

    /// These steps with their times multiplied by `factors`. Both share cached lookups.
    pub fn times(&self, factors: Factors) -> Self {
        Self { factors, ..self.clone() }
    }

    /// The time of a step. `None` if the engine's record lacks its host times.
    ///
    /// The step without its prompts is multiplied by the decode factor, the rest by the prefill factor.
    pub fn step(&self, ranks: &[Work]) -> Option<Seconds> {
        Some(Seconds(self.spent_on(ranks)?.seconds))
    }

    /// Time and energy of a step. A step calibrated to be shorter cannot draw more than the GPUs' limit.
    fn spent_on(&self, ranks: &[Work]) -> Option<Spent> {
        let (whole, joules) = self.physical(ranks)?;
        let seconds = if self.table.image_launches > 0.0 && ranks.iter().any(|work| work.begun > 0.0) {
            // No measured run has images: only the rest is calibrated.
            let others = ranks.iter().map(|work| Work { begun: 0.0, ..*work }).collect::<Vec<_>>();
            let without = self.physical(&others)?.0;
            (self.corrected(&others, without)? + (whole - without)).0
        } else {
            self.corrected(ranks, whole)?.0
        };
        Some(Spent { seconds, joules: smaller(joules, self.table.room * seconds) })
    }

    /// Calibrates the time of a step.
    fn corrected(&self, ranks: &[Work], whole: Seconds) -> Option<Seconds> {
        if self.factors == Factors::NONE {
            return Some(whole);
        }
        let decoding = match ranks.iter().all(|work| work.prompts.is_none()) {
            true => whole,
            false if ranks.iter().all(|work| work.decoding <= 0.0) => Seconds::ZERO,
            false => {
                let alone = |work: &Work| Work { prompts: None, ..*work };
                let decoding = match ranks {
                    [work] => self.physical(&[alone(work)]),
                    ranks => self.physical(&ranks.iter().map(alone).collect::<Vec<_>>()),
                };
                decoding?.0.min(whole)
            }
        };
        Some(decoding * self.factors.decode + (whole - decoding) * self.factors.prefill)
    }

    /// The time of a step's kernels and unhidden host time, and the kernels' energy in joules.
    fn physical(&self, ranks: &[Work]) -> Option<(Seconds, f64)> {
        let all = RankMaximum::of(ranks);
        let Spent { seconds, joules } = self.table.spent(ranks, &all, &self.recent);
        let kernels = Seconds(seconds);
        // Steps with few prompt tokens replay a graph, but for their attention.
        let prefill = all.prompts;
        let replayed = self.table.replays(&all);
        let launches = self.table.launches[usize::from(prefill && replayed)];
        // The images of all prompts are encoded together.
        let images = if all.begun > 0.0 { self.table.image_launches } else { 0.0 };
        let work = HostWork {
            launches: (prefill || !replayed).then_some(launches + images),
            sequences: all.sequences,
            ahead: self.ahead && !(prefill && self.table.waits),
        };
        Some((StepTime::of(self.host, work, kernels)?.total, joules))
    }
}

impl StepCost for Hosted<'_> {
    fn seconds(&self, ranks: &[RankStep<'_>]) -> f64 {
        self.spent(ranks).seconds
    }

    fn spent(&self, ranks: &[RankStep<'_>]) -> Spent {
        let spent = match ranks {
            // The usual case, without allocating a list.
            [rank] => self.spent_on(&[Work::of(rank)]),
            ranks => self.spent_on(&ranks.iter().map(Work::of).collect::<Vec<_>>()),
        };
        spent.unwrap_or(Spent { seconds: f64::NAN, joules: 0.0 })
    }
}
