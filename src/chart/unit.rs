//! The unit of a chart's numbers, and how they print.

use serde::{Deserialize, Serialize};

use crate::units::{Dollars, FlopsPerSecond, Printed, Seconds, count, decimal, percent, significant};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChartUnit {
    #[default]
    Count,
    Seconds,
    /// A fraction, printed as a percentage.
    Share,
    Dollars,
    /// FLOP/s.
    Rate,
}

impl ChartUnit {
    /// A value as in tables.
    pub fn print(self, value: f64) -> String {
        match self {
            Self::Count => count(value),
            Self::Seconds => Seconds(value).print().to_string(),
            Self::Share => percent(value).to_string(),
            Self::Dollars => Dollars(value).print().to_string(),
            Self::Rate => FlopsPerSecond(value).print().to_string(),
        }
    }

    /// A tick label; ticks are round numbers: `10k`, `20 ms`, `100 T`.
    pub fn tick(self, value: f64) -> String {
        /// Neighbouring ticks of a linear axis may differ in the fourth digit.
        const DIGITS: i32 = 4;
        let short = |value: f64| decimal(significant(value, DIGITS));
        let trimmed = |Printed { number, unit }: Printed| {
            let digits = if number.contains('.') { number.trim_end_matches('0') } else { &number };
            format!("{} {unit}", digits.trim_end_matches('.'))
        };
        match self {
            Self::Count if value >= 1e6 => short(value / 1e6) + "M",
            Self::Count if value >= 1000.0 => short(value / 1000.0) + "k",
            Self::Count => short(value),
            Self::Dollars => format!("${}", short(value)),
            Self::Seconds if value == 0.0 => "0".into(),
            // Minutes and seconds would find no room.
            Self::Seconds if value >= 60.0 => short(value) + " s",
            Self::Seconds => trimmed(Seconds(value).print()),
            Self::Share => short(100.0 * value) + " %",
            Self::Rate => trimmed(FlopsPerSecond(value).print()).trim_end_matches("FLOP/s").into(),
        }
    }

    /// Suffix of a column's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Seconds => ", s",
            Self::Share => ", share",
            Self::Dollars => ", $",
            Self::Rate => ", FLOP/s",
            Self::Count => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short_and_values_exact() {
        let ticks = [
            ChartUnit::Count.tick(1000.0),
            ChartUnit::Seconds.tick(0.02),
            ChartUnit::Share.tick(0.5),
            ChartUnit::Rate.tick(1e14),
            ChartUnit::Seconds.tick(100.0),
        ];
        assert_eq!(ticks.map(|tick| tick.replace('\u{a0}', " ")), ["1k", "20 ms", "50 %", "100 T", "100 s"]);
        assert_eq!(ChartUnit::Count.print(1409.0), "1409");
        // Shares of a cache that is hardly used.
        let shares = [0.0, 2e-4, 4e-4, 6e-4, 0.3 * 3.0].map(|share| ChartUnit::Share.tick(share));
        assert_eq!(shares, ["0 %", "0.02 %", "0.04 %", "0.06 %", "90 %"]);
    }
}
