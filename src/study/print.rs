//! What several studies print alike.

use super::Block;
use crate::chart::{Bars, Chart};
use crate::units::{Printed, fixed};

/// CSS pixels of a bar, and of what stands around all of them.
const BAR: u32 = 24;
const AROUND: u32 = 32;

/// A figure as high as its bars ask for.
pub fn bars(name: &str, chart: Bars, words: impl Into<String>) -> Block {
    let height = AROUND + BAR * chart.bars.len() as u32;
    Block::figure(name, height, Chart::Bars(chart), words)
}

/// A value as it is printed; a dash where there is none.
pub fn or_dash(printed: Option<Printed>) -> String {
    printed.map_or_else(|| "–".into(), |printed| printed.to_string())
}

/// `+12 %`: how much more `value` is than `was`; none where that says nothing.
pub fn change(value: f64, was: f64) -> Option<String> {
    let change = (value / was - 1.0) * 100.0;
    let sign = if change >= 0.0 { "+" } else { "−" };
    change.is_finite().then(|| format!("{sign}{} %", fixed(change.abs(), 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign() {
        assert_eq!(change(112.0, 100.0).as_deref(), Some("+12 %"));
        assert_eq!(change(50.0, 100.0).as_deref(), Some("−50 %"));
        assert_eq!(change(1.0, 0.0), None);
    }
}
