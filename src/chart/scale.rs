//! Axes for plotters: its own logarithmic coordinate has no 1-2-5 ticks and no engineering units.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::{ChartUnit, Theme};

/// Gap between labels of the x axis, in CSS pixels.
const LABEL_GAP: f64 = 6.0;
/// Ranges of more decades are marked only at powers of ten.
const FEW_DECADES: usize = 3;

/// A range of values, linear or logarithmic, with its ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    pub low: f64,
    pub high: f64,
    log: bool,
    unit: ChartUnit,
    ticks: Vec<f64>,
}

impl Scale {
    /// Covers all `values`, rounded outwards to ticks; a linear axis starts at 0.
    pub fn over(values: impl Iterator<Item = f64>, log: bool, unit: ChartUnit) -> Self {
        if log {
            return Self::log(values, (1.0, 10.0), unit);
        }
        let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        // About four steps per range.
        let step = if most > 0.0 { nice_floor(most / 4.0) } else { 1.0 };
        let steps = (most / step).ceil().max(1.0);
        let ticks = (0..=steps as u32).map(|index| f64::from(index) * step).collect();
        Self { low: 0.0, high: steps * step, log, unit, ticks }
    }

    /// The smallest range of 1-2-5 steps that covers all positive `values`, or `fallback` without any.
    pub fn log(values: impl Iterator<Item = f64>, fallback: (f64, f64), unit: ChartUnit) -> Self {
        let around = |(low, high)| (nice_floor(low), 1.0 / nice_floor(1.0 / high));
        let (low, mut high) = ends(values).map_or(fallback, around);
        if high <= low {
            high = low * 10.0;
        }
        Self::between(low, high, unit)
    }

    /// A scale from the smallest to the largest positive value exactly, or `fallback` if there is no such range.
    pub fn fitted(values: impl Iterator<Item = f64>, fallback: (f64, f64), unit: ChartUnit) -> Self {
        let (low, high) = ends(values).filter(|(low, high)| low < high).unwrap_or(fallback);
        Self::between(low, high, unit)
    }

    /// A logarithmic range.
    fn between(low: f64, high: f64, unit: ChartUnit) -> Self {
        let slack = 1e-9;
        let inside = |value: &f64| (low * (1.0 - slack)..=high * (1.0 + slack)).contains(value);
        let exponents = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let decades: Vec<f64> = exponents.map(|exponent| 10f64.powi(exponent)).collect();
        let wide = decades.iter().filter(|value| inside(value)).count() > FEW_DECADES;
        let parts: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let all = decades.iter().flat_map(|decade| parts.iter().map(move |part| part * decade));
        Self { low, high, log: true, unit, ticks: all.filter(inside).collect() }
    }

    /// The part of a logarithmic range between two fractions of its length.
    #[must_use]
    pub fn part(self, (from, to): (f64, f64)) -> Self {
        let at = |share: f64| self.low * (self.high / self.low).powf(share);
        Self::between(at(from), at(to), self.unit)
    }

    /// The scale without the ticks whose labels have no room on an axis of `width` pixels.
    #[must_use]
    pub fn thinned(mut self, width: f64, theme: Theme) -> Self {
        let mut free_from = f64::NEG_INFINITY;
        let mut ticks = std::mem::take(&mut self.ticks);
        ticks.retain(|&tick| {
            let (middle, half) = (self.share(tick) * width, theme.text_width(&self.unit.tick(tick)) / 2.0);
            let fits = middle - half >= free_from;
            if fits {
                free_from = middle + half + theme.px(LABEL_GAP);
            }
            fits
        });
        Self { ticks, ..self }
    }

    /// Position of a value between the ends, clamped to 0..1.
    fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            (value / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (self.share(*value) * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // plotters asks for major and minor lines: there are only major ones.
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        self.unit.tick(*value)
    }
}

/// The smallest and the largest positive value.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let usable = values.filter(|value| value.is_finite() && *value > 0.0);
    usable.map(|value| (value, value)).reduce(|(low, high), (value, _)| (low.min(value), high.max(value)))
}

/// The largest of 1, 2, 5 times a power of ten not above `value`.
fn nice_floor(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    let step = [5.0, 2.0, 1.0].into_iter().find(|step| step * decade <= value * (1.0 + 1e-9));
    step.unwrap_or(1.0) * decade
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Palette;

    fn log(values: &[f64]) -> Scale {
        Scale::log(values.iter().copied(), (1.0, 10.0), ChartUnit::Seconds)
    }

    #[test]
    fn ranges_are_round_and_hold_the_values() {
        let scale = log(&[3.4, 870.0]);
        assert!((scale.low - 2.0).abs() < 1e-9 && (scale.high - 1000.0).abs() < 1e-6);
        let scale = log(&[f64::NAN, 0.0]);
        assert_eq!((scale.low, scale.high), (1.0, 10.0));
        let scale = log(&[5.0]);
        assert!(scale.low < scale.high);
        let scale = Scale::fitted([3.4, 870.0].into_iter(), (1.0, 10.0), ChartUnit::Seconds);
        assert_eq!((scale.low, scale.high), (3.4, 870.0));
    }

    #[test]
    fn equal_ratios_take_equal_lengths() {
        let scale = log(&[1.0, 100.0]);
        assert_eq!(
            [0.1, 1.0, 10.0, 100.0, 1e3].map(|value| scale.map(&value, (0, 200))),
            [0, 0, 100, 200, 200]
        );
    }

    #[test]
    fn a_linear_axis_begins_at_zero_and_has_round_ticks() {
        let scale = Scale::over([3.0, 870.0].into_iter(), false, ChartUnit::Count);
        assert_eq!(scale.ticks, [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]);
        assert_eq!(scale.map(&500.0, (0, 100)), 50);
        let empty = Scale::over(std::iter::empty(), false, ChartUnit::Count);
        assert_eq!((empty.low, empty.high), (0.0, 1.0));
    }

    #[test]
    fn a_short_logarithmic_axis_has_ticks_between_its_powers() {
        let ticks: Vec<i64> = log(&[1.0, 64.0]).ticks.iter().map(|tick| tick.round() as i64).collect();
        assert_eq!(ticks, [1, 2, 5, 10, 20, 50, 100]);
        assert_eq!(log(&[1.0, 1e5]).ticks.len(), 6);
    }

    #[test]
    fn labels_keep_apart() {
        let theme = Theme::new(Palette::LIGHT, 1.0);
        for width in [60.0, 180.0, 256.0, 400.0, 900.0] {
            let scale = log(&[0.02, 50.0]).thinned(width, theme);
            assert!(!scale.ticks.is_empty(), "{width}");
            let ends = scale.ticks.iter().map(|&tick| {
                let (middle, half) =
                    (scale.share(tick) * width, theme.text_width(&scale.unit.tick(tick)) / 2.0);
                (middle - half, middle + half)
            });
            let ends: Vec<(f64, f64)> = ends.collect();
            assert!(
                ends.windows(2).all(|pair| pair[0].1 + LABEL_GAP <= pair[1].0 + 1e-9),
                "{width}: {ends:?}"
            );
        }
    }
}
