//! Which loads to run: a curve over clients or rates, then the largest load that meets the SLOs.

use std::collections::VecDeque;

use super::capacity::MOST_CLIENTS;
use super::{Bands, Point, Run, Runner};
use crate::config::check::MAX_OF_SESSIONS;
use crate::config::{Issue, Load};
use crate::units::{Order, significant};

/// A curve over clients runs from one to this multiple of the load's, or at least this many.
const BEYOND: u32 = 4;
const LEAST_TOP: u32 = 64;
/// Points of a curve over rates, as shares of capacity.
const SHARES: [f64; 12] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2];
/// Relative precision of the largest load.
const PRECISION: f64 = 0.02;

/// The largest number of clients on the curve around `clients`.
pub fn most_clients(clients: u32) -> u32 {
    clients.max(clients.saturating_mul(BEYOND).clamp(LEAST_TOP, MOST_CLIENTS))
}

/// A run and its bands.
type Known = (Run, Option<Bands>);

/// The largest load that met the SLOs, and the smallest that did not.
#[derive(Debug, Clone, Copy, Default)]
struct Bracket {
    met: Option<f64>,
    missed: Option<f64>,
}

/// What a load is run for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Purpose {
    Point,
    Stated,
    Ramped,
}

/// Loads run one after another.
#[derive(Debug, Clone)]
pub struct Sweep {
    points: VecDeque<Load>,
    /// Number of points on the curve; further runs look for the largest load.
    total: usize,
    /// A load of the kind that varies.
    own: Load,
    /// The largest load tried beyond the curve.
    most: f64,
    /// Bounds found with the setup's own start, as on the curve.
    stated: Bracket,
    /// Bounds found by [`Runner::for_trial`]; `None` if the curve starts that way anyway.
    ramped: Option<Bracket>,
    /// The curve so far.
    curve: Vec<Point>,
    /// A run that is already known, with its bands.
    known: Option<Known>,
}

impl Sweep {
    /// Around the load of `runner`'s setup, whose run may be known. Loads sent all at once have no curve.
    pub fn of(runner: &Runner, known: Option<Known>) -> Self {
        let load = runner.setup.workload.load;
        let turns = runner.setup.workload.session().map(|turns| f64::from(turns.count.max(1)));
        let most = turns.map_or(f64::INFINITY, |turns| MAX_OF_SESSIONS as f64 / turns);
        let amounts: Vec<f64> = match load {
            Load::Concurrency(clients) | Load::Sessions(clients) => {
                clients_around(clients).map(f64::from).filter(|users| *users <= most).collect()
            }
            Load::Rate(_) | Load::ConstantRate(_) | Load::SessionRate(_) => {
                runner.rates_around(load.amount())
            }
            Load::Burst(_) | Load::Offline(_) | Load::Batch(_) => Vec::new(),
        };
        let points = amounts.into_iter().map(|amount| load.with_amount(amount)).collect();
        let ramped = runner.ramps_clients(load).then(Bracket::default);
        let most = most.min(f64::from(MOST_CLIENTS));
        Self { known, ramped, most, ..Self::new(points, load) }
    }

    fn new(points: VecDeque<Load>, own: Load) -> Self {
        let total = points.len();
        let (stated, most) = (Bracket::default(), f64::from(MOST_CLIENTS));
        Self { points, total, own, most, stated, ramped: None, curve: Vec::new(), known: None }
    }

    /// Runs the next load, if there is one.
    ///
    /// # Errors
    /// If the load cannot be served; larger ones cannot either.
    pub fn advance(&mut self, runner: &Runner) -> Result<bool, Issue> {
        let Some((load, purpose)) = self.next_load() else { return Ok(false) };
        let run = match purpose {
            Purpose::Point => self.point(runner, load)?,
            Purpose::Stated => runner.in_brief_under(load)?,
            Purpose::Ramped => runner.trial(runner.setup.replicas, load)?,
        };
        if purpose != Purpose::Ramped {
            self.stated.record(&run);
        }
        let Some(ramped) = &mut self.ramped else { return Ok(true) };
        // Clients who start one after another wait no longer than those who start at once.
        if purpose == Purpose::Point && run.meets_limits() == Some(false) {
            ramped.record(&runner.trial(runner.setup.replicas, load)?);
        } else if purpose == Purpose::Ramped || run.meets_limits() == Some(true) {
            ramped.record(&run);
        }
        Ok(true)
    }

    /// Runs a load of the curve.
    fn point(&mut self, runner: &Runner, load: Load) -> Result<Run, Issue> {
        let (run, bands) = match self.known.take_if(|(known, _)| known.load == load.amount()) {
            Some(known) => known,
            None => {
                let (run, calibrated) = runner.calibrated(load)?;
                (run, calibrated.map(|calibrated| calibrated.bands))
            }
        };
        self.curve.push(run.point(bands.as_ref()));
        Ok(run)
    }

    /// The points run so far.
    pub fn curve(&self) -> &[Point] {
        &self.curve
    }

    /// Total points of the curve.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The next load to run, and what for.
    fn next_load(&mut self) -> Option<(Load, Purpose)> {
        match self.points.pop_front() {
            Some(load) => Some((load, Purpose::Point)),
            None => {
                let stated = self.stated.between(self.own).map(|load| (load, Purpose::Stated));
                let ramped = || {
                    let ramped = self.ramped?;
                    ramped.between(self.own).or_else(|| ramped.beyond(self.own, self.most))
                };
                stated.or_else(|| ramped().map(|load| (load, Purpose::Ramped)))
            }
        }
    }

    /// The largest load that met the SLOs with the start of the setup, as on the curve: `None` if not even the smallest
    /// does, or there are no SLOs.
    pub fn largest_as_stated(&self) -> Option<f64> {
        self.stated.met
    }

    /// The largest load that met the SLOs with clients or users who start one after another ([`Runner::for_trial`]);
    /// `None` if none did, or trials start as stated.
    pub fn largest_ramped(&self) -> Option<f64> {
        self.ramped?.met
    }

    /// The largest load that met the SLOs; for clients and users, starting one after another unless a start was stated.
    pub fn largest(&self) -> Option<f64> {
        self.largest_ramped().or(self.stated.met)
    }
}

impl Bracket {
    /// Records the result of a load.
    fn record(&mut self, run: &Run) {
        match run.meets_limits() {
            Some(true) => self.met = Some(self.met.map_or(run.load, |met| met.max(run.load))),
            Some(false) => self.missed = Some(self.missed.map_or(run.load, |missed| missed.min(run.load))),
            None => {}
        }
    }

    /// Halfway between the bounds, unless they are close.
    fn between(&self, own: Load) -> Option<Load> {
        let (met, missed) = (self.met?, self.missed?);
        if missed <= met * (1.0 + PRECISION) {
            return None;
        }
        let middle = (met * missed).sqrt();
        if own.is_rate() {
            return Some(own.with_amount(middle));
        }
        let middle = middle.round().max(met + 1.0).min(missed - 1.0);
        (middle > met).then_some(own.with_amount(middle))
    }

    /// Twice the largest load up to `most`, as long as every load met the SLOs.
    fn beyond(&self, own: Load, most: f64) -> Option<Load> {
        let more = self.met.filter(|_| self.missed.is_none())? * 2.0;
        (more <= most).then_some(own.with_amount(more))
    }
}

/// Powers of two and `clients` itself, ascending.
fn clients_around(clients: u32) -> impl Iterator<Item = u32> {
    let top = most_clients(clients);
    let doubling = std::iter::successors(Some(1u32), |count| count.checked_mul(2));
    let mut all: Vec<u32> = doubling.take_while(move |&count| count <= top).chain([clients, top]).collect();
    all.order_by_key(|count| *count);
    all.dedup();
    all.into_iter()
}

impl Runner {
    /// Rates up to just beyond capacity, and `rate` itself if within reach. Where no overload was found, around `rate`.
    fn rates_around(&self, rate: f64) -> Vec<f64> {
        // Of sessions, not requests.
        let capacity = self.capacity().map_or(rate, |capacity| capacity / self.setup.requests_at(1.0));
        let mut rates: Vec<f64> = SHARES.iter().map(|share| significant(share * capacity, 3)).collect();
        if rates.last().is_some_and(|&last| rate < last) {
            rates.push(rate);
        }
        rates.order_by(f64::total_cmp);
        rates.dedup();
        rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serving::sim::{Metrics, Stats};

    /// A system whose TTFT in seconds equals its load.
    fn run(load: Load, limit: f64) -> Run {
        let load = load.amount();
        let metrics = Metrics { requests_per_s: 1.0, ..Metrics::default() };
        let goodput_per_s = Some(if load <= limit { 1.0 } else { 0.0 });
        let ttft = Stats { mean: load, ..Stats::default() };
        Run {
            load,
            metrics: Metrics { ttft, ..metrics },
            goodput_per_s,
            required: [1.0; 2],
            ..Run::default()
        }
    }

    fn largest(limit: f64) -> (Option<f64>, usize) {
        let points: VecDeque<Load> = clients_around(16).map(Load::Concurrency).collect();
        let mut sweep = Sweep::new(points, Load::Concurrency(16));
        let mut runs = 0;
        while let Some((load, _)) = sweep.next_load() {
            sweep.stated.record(&run(load, limit));
            runs += 1;
        }
        (sweep.largest_as_stated(), runs)
    }

    #[test]
    fn the_largest_load_is_found() {
        assert_eq!(largest(0.5).0, None, "not even one client");
        assert_eq!(largest(1.0).0, Some(1.0));
        assert_eq!(largest(37.0).0, Some(37.0));
        let (all, runs) = largest(1e9);
        assert_eq!((all, runs), (Some(64.0), 7), "no run beyond the curve");
        assert!(largest(37.0).1 < 16);
    }

    #[test]
    fn the_curve_holds_the_load_itself() {
        for clients in [1, 3, 16, 100, 5000] {
            let all: Vec<u32> = clients_around(clients).collect();
            assert!(all.contains(&clients) && all.is_sorted() && all[0] == 1, "{all:?}");
            assert_eq!(all.last(), Some(&most_clients(clients)));
        }
    }
}
