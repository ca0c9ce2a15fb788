//! The decomposed covariance of the observations that a posterior rests on.

use std::sync::{Arc, Mutex, PoisonError};

use nalgebra::{Cholesky, DMatrix, Dyn};

use super::{Calibration, Observation, PerFactor, Place, PlacePair};

/// An observation, and the place of its run.
pub(super) type GramRow = (Place, Observation);

/// The last decomposition, kept because the next configuration mostly rests on the same runs, and a row depends only on
/// the rows before it.
#[derive(Debug, Default)]
pub(super) struct Recent(Mutex<Arc<Decomposed>>);

impl Clone for Recent {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[derive(Debug, Default)]
pub(super) struct Decomposed {
    rows: Vec<GramRow>,
    /// The lower triangle, row by row.
    lower: Vec<f64>,
    /// A solver with the lower triangle; `None` if the covariance is not positive definite.
    pub solver: Option<Cholesky<f64, Dyn>>,
}

/// Rows decomposed together: each sum has to wait for its previous addition, so several advance in the meantime.
const TOGETHER: usize = 8;

impl Calibration {
    /// The covariance of these observations, decomposed. Those of a run are next to each other.
    pub(super) fn decomposed(&self, rows: Vec<GramRow>) -> Arc<Decomposed> {
        let last = || self.recent.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = last().clone();
        if before.rows == rows {
            return before;
        }
        let same = before.rows.iter().zip(&rows).take_while(|(one, other)| one == other).count();
        let same = if before.solver.is_some() { same } else { 0 };
        let mut lower = before.lower[..start(same)].to_vec();
        let is_positive = self.extend(&mut lower, &rows, same);
        let solver = is_positive.then(|| {
            let at = |row, column| if column <= row { lower[start(row) + column] } else { 0.0 };
            Cholesky::pack_dirty(DMatrix::from_fn(rows.len(), rows.len(), at))
        });
        let decomposed = Arc::new(Decomposed { rows, lower, solver });
        *last() = decomposed.clone();
        decomposed
    }

    /// Decomposes the rows after the first `known` ones. Returns whether that is possible.
    fn extend(&self, lower: &mut Vec<f64>, rows: &[GramRow], known: usize) -> bool {
        let mut shared: Vec<PerFactor> = Vec::new();
        let mut covariances = Vec::new();
        for first in (known..rows.len()).step_by(TOGETHER) {
            let block = first..rows.len().min(first + TOGETHER);
            // Covariances, each column of the block's rows together.
            covariances.clear();
            covariances.resize(block.end, [0.0; TOGETHER]);
            for row in block.clone() {
                if row == first || rows[row].0 != rows[row - 1].0 {
                    shared.clear();
                }
                for column in shared.len()..=row {
                    let again = column > 0 && rows[column].0 == rows[column - 1].0;
                    shared.push(match shared.last() {
                        Some(&last) if again => last,
                        _ => self.shared(&rows[row].0, &rows[column].0),
                    });
                }
                for (column, of) in shared.iter().enumerate() {
                    covariances[column][row - first] = between(&rows[row].1, &rows[column].1, of);
                }
                let one = &rows[row].1;
                covariances[row][row - first] += self.noise.of(one.metric) / one.weight;
            }
            // Columns before the block, then its own.
            for column in 0..first {
                let (before, rest) = covariances.split_at_mut(column);
                let above = &lower[start(column)..=start(column) + column];
                for (solved, by) in before.iter().zip(above) {
                    for (sum, one) in rest[0].iter_mut().zip(solved) {
                        *sum -= by * one;
                    }
                }
                rest[0].iter_mut().for_each(|sum| *sum /= above[column]);
            }
            for row in block {
                let place = row - first;
                for column in first..=row {
                    let of = |at: usize| covariances[at][place] * covariances[at][column - first];
                    let sum = (0..column).fold(covariances[column][place], |sum, at| sum - of(at));
                    covariances[column][place] = match column == row {
                        true if sum > 0.0 => sum.sqrt(),
                        true => return false,
                        false => sum / covariances[column][column - first],
                    };
                }
                lower.extend(covariances[..=row].iter().map(|column| column[place]));
            }
        }
        true
    }

    /// What two configurations share of the error of each factor.
    pub(super) fn shared(&self, one: &Place, other: &Place) -> PerFactor {
        let pair = PlacePair::of(one, other);
        self.prior.each_ref().map(|of| of.between(&pair))
    }
}

/// Where a row of the triangle starts.
fn start(row: usize) -> usize {
    row * (row + 1) / 2
}

/// The covariance of two observations whose runs share this much of each factor's error.
fn between(one: &Observation, other: &Observation, shared: &PerFactor) -> f64 {
    shared.iter().enumerate().map(|(factor, of)| one.response[factor] * other.response[factor] * of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::shipped;

    #[test]
    fn rows_after_known_ones_are_decomposed_as_if_all_were_new() {
        let calibration = shipped();
        let rows = |runs: &[usize]| -> Vec<GramRow> {
            let known = runs.iter().map(|&run| &calibration.known[run]);
            known.flat_map(|known| known.observed.iter().map(|one| (known.place, *one))).collect()
        };
        let (first, second) = (rows(&[0, 1, 2, 3, 5, 8, 9]), rows(&[0, 1, 2, 4, 5, 6, 7, 8, 10, 11]));
        let one = calibration.clone();
        for rows in [&first, &second, &first, &second] {
            let again = one.decomposed(rows.clone());
            let fresh = calibration.clone().decomposed(rows.clone());
            assert_eq!(again.lower, fresh.lower);
            let whole = again.solver.as_ref().expect("positive").l();
            let product = &whole * whole.transpose();
            let noise = calibration.noise.of(rows[3].1.metric) / rows[3].1.weight;
            let own = between(&rows[3].1, &rows[3].1, &calibration.shared(&rows[3].0, &rows[3].0)) + noise;
            assert!((product[(3, 3)] / own - 1.0).abs() < 1e-9);
        }
    }
}
