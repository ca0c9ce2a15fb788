//! Times of runs as they change with an engine's constants, linear around a point: a simulation of every run for each
//! constant, instead of one for each step of a search.

use super::{COUNT, Constants, Sample, Seen, Simulated, error};

/// Share of a constant by which it is moved to see what that does, and the least, in µs.
const STEP: (f64, f64) = (0.2, 1.0);
/// Factors tried on each constant, round by round finer.
const FACTORS: [&[f64]; 3] =
    [&[0.1, 0.2, 0.4, 0.7, 1.5, 2.5, 5.0, 10.0], &[0.6, 0.8, 1.25, 1.6], &[0.9, 0.96, 1.04, 1.1]];
/// What a constant costs that is e times as large, or as small, as the catalog's, as error: where runs tell it from the
/// others by less, it stays.
const PULL: f64 = 0.004;
/// Times of the linear form stay above this share of those it is around: further off it means nothing.
const LEAST: f64 = 0.2;

pub struct Linear {
    around: Constants,
    catalog: Constants,
    runs: Vec<LinearRun>,
}

struct LinearRun {
    seen: Seen,
    /// By constant, per µs.
    slopes: [[f64; 2]; COUNT],
}

impl Linear {
    /// Of samples that can be simulated.
    pub fn around(samples: &[&Sample<'_>], of: Simulated<'_>, around: Constants, catalog: Constants) -> Self {
        let moved: [(Constants, f64); COUNT] = std::array::from_fn(|index| {
            let mut moved = around;
            let step = (moved.0[index] * STEP.0).max(STEP.1);
            moved.0[index] += step;
            (moved, step)
        });
        let runs = samples.iter().filter_map(|sample| {
            let seen = of(sample, &around)?;
            let mut slopes = [[0.0; 2]; COUNT];
            for ((moved, step), slope) in moved.iter().zip(&mut slopes) {
                let there = of(sample, moved)?;
                *slope = [0, 1].map(|metric| (there.times[metric] - seen.times[metric]) / step);
            }
            Some(LinearRun { seen, slopes })
        });
        Self { around, catalog, runs: runs.collect() }
    }

    /// Mean error over the runs that `chosen` holds true for, and how far the constants are pulled.
    fn cost(&self, constants: &Constants, chosen: &[bool]) -> f64 {
        let far = |(ours, catalog): (f64, f64)| (ours / catalog).ln().powi(2);
        let pull: f64 = constants.0.into_iter().zip(self.catalog.0).map(far).sum();
        self.error(constants, chosen) + PULL * pull
    }

    fn error(&self, constants: &Constants, chosen: &[bool]) -> f64 {
        let runs = self.runs.iter().zip(chosen).filter(|(_, chosen)| **chosen);
        error(runs.map(|(run, _)| {
            let mut times = run.seen.times;
            for (index, slope) in run.slopes.iter().enumerate() {
                let change = constants.0[index] - self.around.0[index];
                (0..2).for_each(|metric| times[metric] += slope[metric] * change);
            }
            let times = [0, 1].map(|metric| times[metric].max(LEAST * run.seen.times[metric]));
            Seen { times, ..run.seen }
        }))
    }

    /// The constants that fit the chosen runs best, coordinate by coordinate, finer each round.
    pub fn best(&self, chosen: &[bool]) -> Constants {
        let mut best = (self.around, self.cost(&self.around, chosen));
        for factors in FACTORS {
            // Constants trade with each other: a round is repeated until it changes nothing.
            for _ in 0..20 {
                let before = best.1;
                for index in 0..COUNT {
                    for factor in factors {
                        let mut tried = best.0;
                        tried.0[index] *= factor;
                        let cost = self.cost(&tried, chosen);
                        if cost < best.1 {
                            best = (tried, cost);
                        }
                    }
                }
                if best.1 >= before {
                    break;
                }
            }
        }
        best.0
    }

    pub fn len(&self) -> usize {
        self.runs.len()
    }
}
