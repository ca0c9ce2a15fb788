//! Sorting that compiles the standard library's sort once instead of once per type: it sorts indices, then moves the
//! items. Each copy adds kilobytes to the download, and there would be thirty.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The larger of two numbers that are not NaN. `f64::max` and `f64::min` have rules for NaN that WebAssembly lacks, so
/// there they are calls of a library, millions of them in a run.
pub fn larger(one: f64, other: f64) -> f64 {
    if one < other { other } else { one }
}

/// The smaller of two numbers that are not NaN.
pub fn smaller(one: f64, other: f64) -> f64 {
    if other < one { other } else { one }
}

/// Stable sorting of lists of anything.
pub trait Order<T> {
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    fn order_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.order_by(|a, b| key(a).cmp(&key(b)));
    }
}

impl<T> Order<T> for [T] {
    fn order_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut order = positions(self.len(), &mut |a, b| compare(&self[a], &self[b]));
        for start in 0..order.len() {
            // Follow each cycle once; what is in its place points to itself.
            let mut to = start;
            while order[to] != start {
                let from = order[to];
                self.swap(to, from);
                order[to] = to;
                to = from;
            }
            order[to] = to;
        }
    }
}

/// The position that each item of the sorted list has now.
fn positions(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|a, b| compare(*a, *b));
    order
}

/// A map of these pairs; of several with one key the last counts. They are inserted one by one, since collecting sorts them
/// first.
pub fn map_of<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(pairs);
    map
}

/// The set of these items, inserted one by one for the same reason.
pub fn set_of<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}

/// A quantile of ascending values, interpolated linearly; 0 without any.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    let position = share * last as f64;
    let (low, high) = (values[position as usize], values[(position as usize + 1).min(last)]);
    low + (high - low) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_as_by_the_standard_library() {
        let mut seed = 1u32;
        for len in 0..60 {
            let mut list: Vec<(u32, usize)> = (0..len)
                .map(|at| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (seed >> 28, at)
                })
                .collect();
            let mut expected = list.clone();
            expected.sort_by_key(|(key, _)| *key);
            list.order_by_key(|(key, _)| *key);
            assert_eq!(list, expected);
        }
    }
}
