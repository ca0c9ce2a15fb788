//! Bounds of end-to-end times, calibrated on other models than they are asked of.

use std::collections::BTreeMap;

use serde::Serialize;

/// Share of cases that bounds are made to hold for.
const HELD: f64 = 0.8;

/// How wide 80 % bounds are, and for how many cases they hold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coverage {
    /// Measured times lie within `predicted / factor` and `predicted * factor`: that of all cases.
    pub factor: f64,
    /// Per cent of cases within the bounds that the cases of the other models give (split conformal).
    pub covered: f64,
}

/// Of `(model, predicted, measured)`; none with fewer than two models.
pub fn coverage<'a>(cases: impl Iterator<Item = (&'a str, f64, f64)>) -> Option<Coverage> {
    let mut models: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (model, predicted, measured) in cases {
        models.entry(model).or_default().push((predicted / measured).ln().abs());
    }
    if models.len() < 2 {
        return None;
    }
    let bound = |left_out: Option<&str>| {
        let others = models.iter().filter(|(model, _)| left_out != Some(**model));
        let mut sizes: Vec<f64> = others.flat_map(|(_, sizes)| sizes).copied().collect();
        sizes.sort_by(f64::total_cmp);
        // The conformal rank: one more than the cases there are.
        let rank = ((sizes.len() + 1) as f64 * HELD).ceil() as usize;
        sizes.get(rank.saturating_sub(1).min(sizes.len().saturating_sub(1))).copied().unwrap_or(f64::INFINITY)
    };
    let (mut held, mut all) = (0.0, 0.0);
    for (model, sizes) in &models {
        let bound = bound(Some(model));
        held += sizes.iter().filter(|size| **size <= bound).count() as f64;
        all += sizes.len() as f64;
    }
    Some(Coverage { factor: bound(None).exp(), covered: 100.0 * held / all })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_come_from_the_other_models() {
        // One model off by up to a tenth, the other by up to a fifth.
        let narrow = (1..=10).map(|tenth| ("narrow", 1.0 + f64::from(tenth) / 100.0, 1.0));
        let wide = (1..=10).map(|tenth| ("wide", 1.0 + f64::from(tenth) / 50.0, 1.0));
        let found = coverage(narrow.chain(wide)).expect("two models");
        // The ninth of ten: 1.18 holds all ten narrow ones, 1.09 four of the wide ones.
        assert!((found.covered - 70.0).abs() < 1e-9, "{found:?}");
        assert!((found.factor - 1.14).abs() < 0.021, "{found:?}");
        assert_eq!(coverage([("one", 1.0, 1.0)].into_iter()), None);
    }
}
