//! Pairs a prefill layout with a decode layout, and finds the fewest workers of both that meet the limits.

use std::sync::Arc;

use super::Request;
use super::plan::{BrokenLimit, Found, meets_limits};
use super::pool_search::{MOST_OF_JOB, PoolSearch, SearchDirection};
use super::pools::PoolLayout;
use super::probe::{Slice, refused};
use super::ranking_cost::{RankedBy, RankingCost};
use super::words;
use crate::config::catalog::catalog;
use crate::config::{Field, Issue, LatencyMetric, Prefill, Scenario, Setup, check};
use crate::efficiency::{AskModels, UNANSWERED};
use crate::serving::run::{Run, Runner};
use crate::serving::{plan, runner};
use crate::units::Order;

/// Prefill workers and decode workers.
pub(super) type Workers = [u32; 2];

/// Growth factor from a failing number of workers to the next one tried.
const GROWTH: f64 = 1.2;
/// If more workers of one kind do not reduce the excess over a broken limit to this share of it, the other kind is
/// added next.
const NEARER: f64 = 0.95;
/// Largest number of workers of one kind per worker of the other with which a job starts.
const MOST_MATCHED: u32 = 64;
/// Maximum runs until some numbers of workers meet the limits.
const RUNS: u32 = 24;

/// A pair being simulated, one slice at a time.
#[derive(Debug, Clone)]
pub(super) struct PoolPair {
    request: Arc<Request>,
    scenario: Scenario,
    setup: Setup,
    issues: Vec<Issue>,
    /// Approximately what the load requires.
    about: Workers,
    /// Tried next, as long as no workers meet the limits.
    next: Workers,
    pub(super) kept: Option<(Workers, Run)>,
    /// The numbers to try if no broken limit tells which workers to add.
    pub(super) search: Option<PoolSearch>,
    /// Workers of each kind of which so many or fewer are not enough with the kept number of the other, and what breaks
    /// with one fewer.
    low: Workers,
    less: [Option<BrokenLimit>; 2],
    nearest: Option<((Workers, Run), BrokenLimit)>,
    /// The limit that broke last, by how much, and which kind of workers was added then.
    last: Option<(Field, f64, usize)>,
    is_alone_known: bool,
    /// Runs so far, and before the last slice.
    pub runs: u32,
    pub runs_before: u32,
    runner: Option<Runner>,
}

impl PoolPair {
    /// `None` if it is refused, or if the fleet has too few GPUs for it. `every`: without skipping any numbers of
    /// workers.
    pub fn new(request: &Arc<Request>, halves: [&PoolLayout; 2], every: bool) -> Option<Self> {
        let [first, then] = halves.map(|half| &half.scenario);
        let least = halves.map(|half| half.workers.map_or(1, |workers| workers.least));
        let about = halves.map(|half| half.workers.map_or(1, |workers| workers.expected));
        let is_other = first.gpu != then.gpu;
        let prefill = Prefill {
            workers: least[0],
            gpu: is_other.then(|| first.gpu.clone()),
            price: first.overrides.price.filter(|_| is_other),
            parallel: first.parallel,
            ..then.prefill.clone()
        };
        let scenario = Scenario { prefill, replicas: least[1], ..then.clone() };
        let (setup, issues) = check(&scenario, catalog());
        let request = request.clone();
        let low = least.map(|least| least.saturating_sub(1));
        let mut pair = Self {
            request,
            scenario,
            setup: setup?,
            issues,
            about,
            next: about,
            kept: None,
            search: None,
            low,
            less: [None, None],
            nearest: None,
            last: None,
            is_alone_known: false,
            runs: 0,
            runs_before: 0,
            runner: None,
        };
        pair.next = [about, least].into_iter().find_map(|workers| pair.allowed(workers))?;
        let of_job = RankedBy::of(&pair.setup.workload).is_of_job();
        let allowed = |workers| pair.allowed(workers);
        pair.search = match (every, of_job) {
            (true, true) => {
                let all =
                    (1..=MOST_OF_JOB).flat_map(|first| (1..=MOST_OF_JOB).map(move |then| [first, then]));
                Some(PoolSearch::new(SearchDirection::Given, all, allowed))
            }
            (true, false) => Some(PoolSearch::new(SearchDirection::Rising, std::iter::once(least), allowed)),
            (false, true) => {
                let [prefill, decode] = halves.map(|half| half.per_token);
                let whole = |count: f64| count.round().clamp(1.0, f64::from(MOST_MATCHED)) as u32;
                let named = pair.named().unwrap_or_else(|| vec![whole(prefill / decode)]);
                let matched = |first: u32| whole(f64::from(first) * decode / prefill);
                let begin = named.into_iter().map(|first| [first, matched(first)]).chain([least]);
                Some(PoolSearch::new(SearchDirection::Climbing, begin, allowed))
            }
            (false, false) => None,
        };
        Some(pair)
    }

    /// What a run with these workers is ranked by.
    pub(super) fn rank(&self, workers: Workers, run: &Run) -> RankingCost {
        let tokens_per_s = run.sustained(run.metrics.output_per_s);
        RankedBy::of(&self.setup.workload).rank(self.ranking_cost_of(workers), tokens_per_s)
    }

    fn ranking_cost_of(&self, workers: Workers) -> RankingCost {
        RankingCost::of(&self.sized(workers), workers[1])
    }

    /// What its next workers cost per hour.
    pub fn ranking_cost(&self) -> RankingCost {
        self.ranking_cost_of(self.tried_next().unwrap_or(self.next))
    }

    /// The numbers of prefill workers that the request names.
    fn named(&self) -> Option<Vec<u32>> {
        let named = self.request.values(Field::PrefillWorkers).filter(|named| !named.is_empty())?;
        Some(named.iter().filter_map(|text| text.parse().ok()).collect())
    }

    /// The given workers, or the next larger number that the request names; `None` if the fleet has too few GPUs.
    pub(super) fn allowed(&self, [first, then]: Workers) -> Option<Workers> {
        let first = match self.named() {
            Some(named) => named.into_iter().filter(|workers| *workers >= first.max(1)).min()?,
            None => first,
        };
        let workers = [first, then];
        self.request.fleet.holds(&self.sized(workers)).then_some(workers)
    }

    fn sized(&self, [first, then]: Workers) -> Setup {
        let mut setup = Setup { replicas: then, ..self.setup.clone() };
        setup.prefill.iter_mut().for_each(|pool| pool.setup.replicas = first);
        setup
    }

    /// Runs one slice: the step times, or one run. `ask` runs the models.
    ///
    /// # Errors
    /// Where the models do not answer.
    pub fn step(&mut self, ask: AskModels<'_>) -> Result<Slice, String> {
        self.runs_before = self.runs;
        if self.runner.is_none() {
            return match plan(&self.setup) {
                Err(issues) => Ok(refused(issues)),
                Ok((plan, rows)) => {
                    self.runner = Some(runner(&plan, &ask(&rows)?).ok_or(UNANSWERED)?);
                    Ok(Slice::More)
                }
            };
        }
        let Some(workers) = self.tried_next() else { return Ok(self.end()) };
        let run = match self.run(workers, false) {
            Ok(run) => run,
            Err(issue) => return Ok(Slice::Refused(issue)),
        };
        if let Some(search) = self.search.take() {
            if !self.searched(search, workers, &run) {
                return Ok(Slice::More);
            }
        } else if meets_limits(&run) {
            self.kept = Some((workers, run));
            return Ok(Slice::More);
        }
        let broken = words::broken(&run, self.setup.workload.load);
        if let Some((kept, _)) = &self.kept {
            let side = usize::from(workers[0] == kept[0]);
            self.low[side] = workers[side];
            self.less[side] = Some(broken);
            return Ok(Slice::More);
        }
        let grown = if self.search.is_some() { None } else { self.grown(workers, &broken) };
        words::keep_nearest(&mut self.nearest, (workers, run), broken);
        if !self.is_alone_known {
            self.is_alone_known = true;
            let run = match self.run(workers, true) {
                Ok(run) => run,
                Err(issue) => return Ok(Slice::Refused(issue)),
            };
            if !meets_limits(&run) {
                let broken = words::broken_alone(&run, self.setup.workload.load);
                self.nearest = Some(((workers, run), broken));
                return Ok(self.end());
            }
        }
        match grown {
            _ if self.search.is_some() => {}
            Some(grown) if self.runs < RUNS => self.next = grown,
            _ => return Ok(self.end()),
        }
        Ok(Slice::More)
    }

    fn run(&mut self, workers: Workers, alone: bool) -> Result<Run, Issue> {
        self.runs += 1;
        let load = if alone { self.setup.workload.load.closed(1) } else { self.setup.workload.load };
        let missing = || Issue::error(Field::PrefillWorkers, "their step times are unknown");
        let runner = self.runner.as_mut().ok_or_else(missing)?;
        runner.resize(workers)?;
        runner.trial(workers[1], load)
    }

    /// The workers to try next; `None` if the fewest are known.
    fn tried_next(&self) -> Option<Workers> {
        if let Some(search) = &self.search {
            return search.next(|workers| self.ranking_cost_of(workers));
        }
        let Some((kept, _)) = &self.kept else { return Some(self.next) };
        [0, 1].into_iter().find_map(|side| {
            let mut fewer = *kept;
            fewer[side] = self.between(side, self.low[side], kept[side])?;
            self.allowed(fewer)
        })
    }

    /// The middle one of the numbers between these two, of those that may be tried.
    fn between(&self, side: usize, low: u32, high: u32) -> Option<u32> {
        let Some(named) = self.named().filter(|_| side == 0) else {
            return (high > low + 1).then(|| low + (high - low) / 2);
        };
        let mut within: Vec<u32> =
            named.into_iter().filter(|count| (low + 1..high).contains(count)).collect();
        within.order_by_key(|count| *count);
        within.get(within.len() / 2).copied()
    }

    /// More of the workers that the broken limit depends on.
    fn grown(&mut self, workers: Workers, broken: &BrokenLimit) -> Option<Workers> {
        let scarce = |side: usize| f64::from(workers[side]) / f64::from(self.about[side].max(1));
        let mut side = match LatencyMetric::of_limit(broken.field) {
            Some(LatencyMetric::Ttft) => 0,
            Some(LatencyMetric::Tpot) => 1,
            Some(LatencyMetric::E2e) | None => usize::from(scarce(1) < scarce(0)),
        };
        let excess = words::excess(broken);
        // A full decode pool holds prompts back, too.
        if let Some((field, before, added)) = self.last
            && field == broken.field
            && excess > before * NEARER
        {
            side = 1 - added;
        }
        self.last = Some((broken.field, excess, side));
        let more = |count: u32| (f64::from(count) * GROWTH).ceil().max(f64::from(count) + 1.0) as u32;
        [more(workers[side]), workers[side] + 1].into_iter().find_map(|count| {
            let mut grown = workers;
            grown[side] = count;
            self.allowed(grown)
        })
    }

    fn end(&mut self) -> Slice {
        match (self.kept.take(), self.runner.take()) {
            (Some((workers, run)), Some(mut runner)) => match runner.resize(workers) {
                Ok(()) => Slice::Found(Box::new(self.found(workers, run).begun()), Box::new(runner)),
                Err(issue) => Slice::Refused(issue),
            },
            _ => Slice::Missed(
                self.nearest
                    .take()
                    .map(|((workers, run), broken)| Box::new((self.found(workers, run), broken))),
            ),
        }
    }

    fn found(&self, workers: Workers, run: Run) -> Found {
        let mut scenario = self.scenario.clone();
        scenario.prefill.workers = workers[0];
        let one_less = |side: usize| self.less[side].clone().filter(|_| self.low[side] + 1 == workers[side]);
        Found {
            scenario,
            setup: self.sized(workers),
            issues: self.issues.clone(),
            replicas: workers[1],
            run,
            one_less: one_less(1),
            worker_less: one_less(0),
            headroom: None,
            bands: None,
        }
    }
}
