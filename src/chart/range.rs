//! Ranges that axes show.

/// The smallest range of 1-2-5 steps that holds all `values`; `fallback` where there are none.
pub fn nice_range(values: impl Iterator<Item = f64>, fallback: (f64, f64)) -> (f64, f64) {
    let usable = values.filter(|value| value.is_finite() && *value > 0.0);
    let (low, high) =
        usable.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if low > high { fallback } else { (nice_floor(low), 1.0 / nice_floor(1.0 / high)) }
}

/// The largest of 1, 2, 5 times a power of ten that does not exceed `value`.
pub fn nice_floor(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    let step = [5.0, 2.0, 1.0].into_iter().find(|step| step * decade <= value * (1.0 + 1e-9));
    step.unwrap_or(1.0) * decade
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_round_and_hold_the_values() {
        let (low, high) = nice_range([3.4, 870.0].into_iter(), (1.0, 10.0));
        assert!((low - 2.0).abs() < 1e-9 && (high - 1000.0).abs() < 1e-6);
        assert_eq!(nice_range([f64::NAN, 0.0].into_iter(), (1.0, 10.0)), (1.0, 10.0));
    }
}
