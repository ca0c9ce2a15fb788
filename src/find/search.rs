//! The search: checks, bounds and simulates the layouts of a request, most promising first.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::answer::Counts;
use super::early::spread;
use super::headroom::Headroom;
use super::plan::{BrokenLimit, Found, SimulatedPlan};
use super::pools::Pools;
use super::probe::{BoundedLayout, Probe};
use super::ranking::Reason;
use super::task::{Job, Loaded, Task};
use super::{Fleet, Request};
use crate::calibration::KnownRun;
use crate::config::{Issue, Scenario};
use crate::efficiency::AskModels;
use crate::serving::run::Runner;
use crate::units::Order;

/// Layouts checked and bounded per task: some milliseconds.
pub(super) const SCREENED: usize = 16;
/// Layouts bounded by learned step times per task: some milliseconds.
pub(super) const REFINED: usize = 4;
/// Layouts simulated to find the closest miss when physics excludes all.
const NEAREST: usize = 8;

/// Layouts in the queue, boxed because they are large and sorted often.
pub(super) type Layouts = VecDeque<Box<BoundedLayout>>;

/// A search in progress.
#[derive(Debug)]
pub struct Search {
    pub(super) request: Arc<Request>,
    /// Whether only layouts that do not fit in memory are skipped: for comparison.
    pub(super) exhaustive: bool,
    pub(super) scenarios: VecDeque<Scenario>,
    /// Sorted, most promising last.
    pub(super) layouts: Layouts,
    /// Probes between slices.
    pub(super) probes: VecDeque<Box<Probe>>,
    /// Sorted, best first.
    pub(super) found: Vec<(Arc<Found>, Arc<Runner>)>,
    pub(super) loaded: VecDeque<Box<Loaded>>,
    /// Every plan found, shown or not.
    pub(super) tried: Vec<SimulatedPlan>,
    /// Tasks in flight, and how many of them check layouts.
    pub(super) out: usize,
    pub(super) screening: usize,
    pub(super) counts: Counts,
    /// The outcomes of the layouts within the request, kept while other layouts are tried: each layout is counted once.
    outcomes: Option<Counts>,
    /// Per GPU, the reason closest to a plan.
    pub(super) reasons: BTreeMap<String, Reason>,
    /// The closest miss.
    pub(super) missed: Option<(Arc<Found>, BrokenLimit)>,
    /// Layouts excluded only by the fleet, and those excluded by physics.
    pub(super) beyond: Layouts,
    pub(super) slow: Layouts,
    pub(super) phase: Phase,
    /// Calibration points of the visitor's runs, once known.
    pub(super) own: Option<Arc<[KnownRun]>>,
    /// Issues with those runs.
    pub(super) of_runs: Vec<Issue>,
    pub(super) pools: Pools,
    stopped: bool,
}

/// The current goal of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Plans within the request.
    Plans,
    /// If there are none: plans beyond the fleet.
    BeyondFleet,
    /// If there are none of these either: the closest miss.
    Slow,
    /// Disaggregated prefill and decode.
    Pools,
    /// The headroom of the plans.
    Headroom,
    Finished,
}

impl Search {
    pub fn new(request: Request) -> Self {
        let scenarios = spread(request.layouts());
        let layouts = scenarios.len() as u32;
        Self {
            request: Arc::new(request),
            exhaustive: false,
            scenarios,
            layouts: Layouts::new(),
            probes: VecDeque::new(),
            found: Vec::new(),
            loaded: VecDeque::new(),
            tried: Vec::new(),
            out: 0,
            screening: 0,
            counts: Counts { layouts, ..Counts::default() },
            outcomes: None,
            reasons: BTreeMap::new(),
            missed: None,
            beyond: Layouts::new(),
            slow: Layouts::new(),
            phase: Phase::Plans,
            own: None,
            of_runs: Vec::new(),
            pools: Pools::default(),
            stopped: false,
        }
    }

    /// A search without bounds, for the cheapest plan alone: every layout that fits is simulated with 1, 2, ...
    /// replicas, as long as it costs no more than the best found.
    pub fn exhaustively(self) -> Self {
        Self { exhaustive: true, ..self }
    }

    /// Runs one task; returns whether any remain.
    ///
    /// # Errors
    /// Errors of `ask`.
    pub fn step(&mut self, ask: AskModels<'_>) -> Result<bool, String> {
        if let Some(task) = self.next_task() {
            let done = task.run(ask)?;
            self.take(done);
        }
        Ok(!self.is_finished())
    }

    /// Whether nothing is left to do, or it was stopped.
    pub fn is_finished(&self) -> bool {
        self.phase == Phase::Finished
    }

    /// Stops it: results so far are kept, tasks in flight are discarded.
    pub fn stop(&mut self) {
        self.phase = Phase::Finished;
        self.stopped = true;
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// The next task; `None` if it depends on tasks in flight, or nothing is left.
    pub fn next_task(&mut self) -> Option<Task> {
        let work = self.work()?;
        self.out += 1;
        Some(Task(work))
    }

    fn work(&mut self) -> Option<Job> {
        loop {
            if !self.scenarios.is_empty() && !self.is_early() {
                self.screening += 1;
                let some = self.scenarios.drain(..SCREENED.min(self.scenarios.len())).collect();
                return Some(Job::Screen(self.request.clone(), some, self.exhaustive));
            }
            // The most promising layout is known once no bound is in progress: the layouts are then sorted.
            if self.screening > 0 {
                return None;
            }
            let Some(own) = self.own.clone() else {
                // Only once: nothing else is in flight.
                return (self.out == 0).then(|| Job::Observe(self.request.clone()));
            };
            if let Some(probe) = self.probes.pop_front() {
                if self.is_outdone(&probe.layout.setup, probe.ranking_cost()) {
                    self.pruned(&probe.layout, probe.ranking_cost());
                    continue;
                }
                return Some(Job::Probe(self.aimed(probe)));
            }
            if let Some(layout) = self.early().or_else(|| self.promising()) {
                if !layout.is_refined && !self.exhaustive {
                    let others = std::iter::from_fn(|| self.unrefined()).take(REFINED - 1);
                    let all: Layouts = others.collect();
                    let all = std::iter::once(layout).chain(all).map(|layout| *layout);
                    return Some(Job::Refine(all.collect()));
                }
                self.counts.simulated += 1;
                let begun = if self.phase == Phase::Slow {
                    Probe::alone(*layout, own)
                } else {
                    Probe::new(*layout, self.exhaustive, own)
                };
                return Some(Job::Probe(self.aimed(Box::new(begun))));
            }
            if self.phase == Phase::Pools
                && let Some(work) = self.pools_work()
            {
                return Some(work);
            }
            if let Some(loaded) = self.loaded.pop_front() {
                return Some(Job::Headroom(loaded));
            }
            if self.out > 0 || self.phase == Phase::Finished {
                return None;
            }
            self.next_phase();
        }
    }

    /// Limits a probe to the most replicas that could still be shown: if these miss the limits, the layout is out.
    fn aimed(&self, mut probe: Box<Probe>) -> Box<Probe> {
        let layout = &probe.layout;
        let (mut shown, mut pruned) = (probe.low.saturating_add(1), u32::MAX);
        while pruned - shown > 1 {
            let middle = shown + (pruned - shown) / 2;
            if self.is_outdone(&layout.setup, layout.ranking_cost_of(middle)) {
                pruned = middle
            } else {
                shown = middle
            }
        }
        probe.most_shown = shown;
        probe
    }

    /// The layout with the best bound among those that could still be shown.
    fn promising(&mut self) -> Option<Box<BoundedLayout>> {
        while let Some(layout) = self.layouts.pop_back() {
            if !self.is_outdone(&layout.setup, layout.ranking_cost()) {
                return Some(layout);
            }
            self.counts.pruned += 1;
            self.pruned(&layout, layout.ranking_cost());
        }
        None
    }

    /// The layout with the best bound among those that could still be shown, if that bound is from physics alone.
    fn unrefined(&mut self) -> Option<Box<BoundedLayout>> {
        let is_next = self.layouts.back().is_some_and(|layout| !layout.is_refined);
        if is_next { self.promising() } else { None }
    }

    /// Moves to the next phase.
    fn next_phase(&mut self) {
        let nothing = self.found.is_empty();
        let phase = self.phase;
        self.outcomes.get_or_insert(self.counts);
        self.phase = match phase {
            Phase::Plans if nothing && !self.beyond.is_empty() => {
                self.beyond_fleet();
                Phase::BeyondFleet
            }
            Phase::Plans | Phase::BeyondFleet
                if nothing && self.missed.is_none() && !self.slow.is_empty() =>
            {
                self.nearest_to_physics();
                Phase::Slow
            }
            Phase::Plans | Phase::BeyondFleet | Phase::Slow if self.begin_pools() => Phase::Pools,
            Phase::Plans | Phase::BeyondFleet | Phase::Slow | Phase::Pools => {
                self.loaded = self.to_load();
                Phase::Headroom
            }
            Phase::Headroom | Phase::Finished => Phase::Finished,
        };
        self.sort();
    }

    /// Layouts beyond the fleet, with as many replicas as needed.
    fn beyond_fleet(&mut self) {
        let unbounded = Fleet::default();
        self.layouts = std::mem::take(&mut self.beyond);
        for layout in self.layouts.iter_mut().filter(|_| self.request.gpus.is_none()) {
            layout.most = unbounded.replicas(&layout.setup);
        }
    }

    /// The layouts that physics excludes most narrowly; a run of a lone request shows by how much. A layout can be
    /// excluded at every batch size without breaking a limit at its bound, so all are ranked by how close their bounds
    /// come to a limit.
    fn nearest_to_physics(&mut self) {
        let excess = |layout: &BoundedLayout| {
            layout.bound.tightest(&layout.setup).map_or(1.0, |(_, at, limit)| at / limit)
        };
        self.slow.make_contiguous().order_by(|a, b| excess(a).total_cmp(&excess(b)));
        self.slow.truncate(NEAREST);
        self.layouts = std::mem::take(&mut self.slow);
        for layout in &mut self.layouts {
            (layout.least, layout.is_refined) = (1, true);
        }
    }

    /// The plans that may be shown.
    fn to_load(&self) -> VecDeque<Box<Loaded>> {
        let candidates = self.candidates().into_iter().map(|index| &self.found[index]);
        let loaded = |(found, runner): &(Arc<Found>, Arc<Runner>)| {
            Box::new(Loaded {
                found: found.clone(),
                runner: runner.clone(),
                headroom: Headroom::new(),
                bands: None,
                one_less: found.one_less.clone(),
            })
        };
        candidates.map(loaded).collect()
    }

    /// Most promising last.
    pub(super) fn sort(&mut self) {
        self.layouts.make_contiguous().order_by(|a, b| b.ranking_cost().order(a.ranking_cost()));
    }

    /// Every plan found so far, in order of discovery.
    pub fn tried(&self) -> &[SimulatedPlan] {
        &self.tried
    }

    /// Number of layouts, and their outcomes so far.
    pub fn counts(&self) -> Counts {
        let outcomes = self.outcomes.unwrap_or(self.counts);
        Counts { remaining: self.remaining(), runs: self.counts.runs, ..outcomes }
    }

    /// Layouts still to be checked or simulated.
    pub(super) fn remaining(&self) -> u32 {
        (self.scenarios.len() + self.layouts.len() + self.probes.len()) as u32
    }
}
