//! Error statistics of predictions.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::units::quantile;

/// Errors of one metric over some cases, in % of the measured value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Errors {
    pub cases: usize,
    pub mean: f64,
    pub median: f64,
    pub p90: f64,
    /// Signed mean: positive if predictions are too large.
    pub bias: f64,
}

impl Errors {
    /// `None` if there is nothing to compare.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let signed: Vec<f64> =
            pairs.iter().map(|(predicted, measured)| 100.0 * (predicted / measured - 1.0)).collect();
        if signed.is_empty() {
            return None;
        }
        let mut sizes: Vec<f64> = signed.iter().map(|error| error.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let count = sizes.len() as f64;
        Some(Self {
            cases: sizes.len(),
            mean: sizes.iter().sum::<f64>() / count,
            median: quantile(&sizes, 0.5),
            p90: quantile(&sizes, 0.9),
            bias: signed.iter().sum::<f64>() / count,
        })
    }
}

/// The values of each key, in order.
pub fn grouped<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, Vec<V>> {
    let mut groups: BTreeMap<K, Vec<V>> = BTreeMap::new();
    pairs.into_iter().for_each(|(key, value)| groups.entry(key).or_default().push(value));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_by_hand() {
        let errors = Errors::of(&[(110.0, 100.0), (80.0, 100.0), (100.0, 100.0)]).unwrap();
        assert!((errors.mean - 10.0).abs() < 1e-9);
        assert!((errors.median - 10.0).abs() < 1e-9);
        assert!((errors.p90 - 18.0).abs() < 1e-9);
        assert!((errors.bias + 10.0 / 3.0).abs() < 1e-9);
        assert_eq!(Errors::of(&[]), None);
    }
}
