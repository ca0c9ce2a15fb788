//! Numbers of inputs within a text.

use super::{Number, round};
use crate::units::{count, decimal};

/// Units that a number keeps outside the form; the others only complete its box: `[16] at once`.
const MEASURES: [&str; 16] = [
    "tokens",
    "requests/s",
    "sessions/s",
    "s",
    "ms",
    "µs",
    "%",
    "W",
    "MHz",
    "TFLOP/s",
    "TOP/s",
    "GiB",
    "GiB per GPU",
    "MiB",
    "GB/s",
    "GB/s per GPU",
];

impl Number {
    /// A value as in a sentence: `8192`, `5 s`, `16 384 tokens`, `$2.5 / GPU-h`.
    pub fn said(&self, value: f64) -> String {
        let number = if value.fract() == 0.0 { count(value) } else { decimal(round(value)) };
        match self.unit.strip_prefix('$') {
            Some(per) => format!("${number}{per}"),
            None if MEASURES.contains(&self.unit) => format!("{number}\u{a0}{}", self.unit),
            None => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::INPUTS;
    use super::*;
    use crate::config::Field;

    #[test]
    fn measures_keep_their_units() {
        let said = |field: Field, value| field.input().number.expect("a number").said(value);
        assert_eq!(said(Field::ThinkTime, 5.0), "5\u{a0}s");
        assert_eq!(said(Field::SloE2e, 30_000.0), "30\u{202f}000\u{a0}ms");
        assert_eq!(said(Field::Price, 2.5), "$2.5 / GPU-h");
        assert_eq!([said(Field::Tp, 8.0), said(Field::MemoryShare, 0.92)], ["8", "0.92"]);
        let known = |measure: &&str| {
            INPUTS.iter().filter_map(|input| input.number).any(|number| number.unit == *measure)
        };
        assert_eq!(
            MEASURES.iter().filter(|measure| !known(measure)).collect::<Vec<_>>(),
            Vec::<&&str>::new()
        );
    }
}
