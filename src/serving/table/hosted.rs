//! A table with an engine's host times and calibration factors: the step costs of a run.

use std::cell::Cell;

use super::{StepTable, Work};
use crate::calibration::Factors;
use crate::config::HostTime;
use crate::latency::{HostWork, host_time};
use crate::serving::sim::{RankStep, Spent, StepCost};
use crate::units::Seconds;

/// A table with an engine's host times.
#[derive(Debug, Clone)]
pub struct Hosted<'a> {
    table: &'a StepTable,
    host: &'a HostTime,
    ahead: bool,
    factors: Factors,
    recent: Recent,
}

/// Cache of the parts of a step that depend on a token or sequence count: most decode steps have the same as the
/// previous one.
#[derive(Debug, Clone, Default)]
pub(super) struct Recent {
    pub tokens: Last,
    pub logits: Last,
    pub experts: Last,
    pub drafts: Last,
}

/// The last lookup and its result.
#[derive(Debug, Clone, Default)]
pub(super) struct Last(Cell<Option<(f64, Spent)>>);

impl Last {
    pub fn at(&self, at: f64, look_up: impl FnOnce(f64) -> Spent) -> Spent {
        match self.0.get() {
            Some((last, spent)) if last == at => spent,
            _ => {
                let spent = look_up(at);
                self.0.set(Some((at, spent)));
                spent
            }
        }
    }
}

impl<'a> Hosted<'a> {
    /// The steps of the physics alone.
    pub(super) fn new(table: &'a StepTable, host: &'a HostTime, ahead: bool) -> Self {
        Self { table, host, ahead, factors: Factors::NONE, recent: Recent::default() }
    }

    /// The same steps multiplied by these factors.
    pub fn times(&self, factors: Factors) -> Self {
        Self { factors, ..self.clone() }
    }

    /// The time of a step. `None` if the engine's record lacks its host times.
    ///
    /// The step without its prompts is multiplied by the decode factor, the rest by the prefill factor.
    pub fn step(&self, ranks: &[Work]) -> Option<Seconds> {
        Some(Seconds(self.spent_on(ranks)?.seconds))
    }

    /// The same, with energy. A step calibrated to be shorter cannot draw more than the GPUs' limit.
    fn spent_on(&self, ranks: &[Work]) -> Option<Spent> {
        let (whole, joules) = self.physical(ranks)?;
        let seconds = self.corrected(ranks, whole)?.0;
        Some(Spent { seconds, joules: joules.min(self.table.room * seconds) })
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
                let alone: Vec<Work> = ranks.iter().map(|work| Work { prompts: None, ..*work }).collect();
                self.physical(&alone)?.0.min(whole)
            }
        };
        Some(decoding * self.factors.decode + (whole - decoding) * self.factors.prefill)
    }

    /// The time of a step's kernels and unhidden host time, and the kernels' energy in joules.
    fn physical(&self, ranks: &[Work]) -> Option<(Seconds, f64)> {
        let Spent { seconds, joules } = self.table.spent(ranks, &self.recent);
        let kernels = Seconds(seconds);
        let prefill = ranks.iter().any(|work| work.prompts.is_some());
        let sequences = |work: &Work| work.prompts.map_or(0.0, |prompts| prompts.count) + work.decoding;
        let work = HostWork {
            launches: prefill.then_some(self.table.launches),
            sequences: ranks.iter().map(sequences).fold(0.0, f64::max),
            ahead: self.ahead,
        };
        let host = host_time(self.host, work, kernels)?;
        Some((kernels + host, joules))
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
