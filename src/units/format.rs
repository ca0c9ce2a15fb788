//! Formats numbers and quantities as text: three significant digits, SI or binary prefixes.

use super::order::Order;
use super::quantity::{Bytes, BytesPerSecond, Dollars, Flops, FlopsPerSecond, Joules, Seconds, Watts};

/// A number and its unit, separate so that a page can style them differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    pub number: String,
    pub unit: &'static str,
}

impl Printed {
    /// Whether the unit can be left out because `other` shows the same one: not for minutes and seconds, which print
    /// two units.
    pub fn has_unit_of(&self, other: &Self) -> bool {
        self.unit == other.unit && ![self, other].iter().any(|one| one.number.contains('\u{a0}'))
    }

    /// `112 to 140 ms`: the range from here to `high`, with the unit only once if both have the same.
    pub fn to(&self, high: &Self) -> String {
        if self.has_unit_of(high) {
            format!("{} to {high}", self.number)
        } else {
            format!("{self} to {high}")
        }
    }
}

impl std::fmt::Display for Printed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.unit.is_empty() {
            return out.write_str(&self.number);
        }
        write!(out, "{}\u{a0}{}", self.number, self.unit)
    }
}

/// Significant digits of `decimal`: as many as every double keeps.
const DIGITS: usize = 15;

/// `value` with this many decimals, rounded half up; `NaN` and `inf` unchanged.
pub fn fixed(value: f64, places: usize) -> String {
    let scale = 10f64.powi(places as i32);
    let rounded = if value.abs() * scale < WHOLE { (value * scale).round() / scale } else { value };
    // No minus sign on zero.
    format!("{:.places$}", rounded + 0.0)
}

/// Below this a double holds every whole number and half.
const WHOLE: f64 = 1e15;

/// A number with as many digits as needed, up to 15, and no exponent: the form in links and files.
pub fn decimal(value: f64) -> String {
    let size = value.abs();
    // Digits before the point; negative if zeros follow it.
    let lead = if size > 0.0 && size.is_finite() { size.log10().floor() as i32 + 1 } else { 1 };
    let places = (DIGITS as i32 - lead).clamp(0, 300) as usize;
    let text = fixed(value, places);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Three significant digits without exponent, fewer below 0.1 but at least one; an en dash for NaN.
fn digits(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    let size = value.abs();
    let places = match size {
        s if s == 0.0 || s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.9995 => 2,
        s if s >= 0.0005 => 3,
        s => (-s.log10().floor() as usize).min(DIGITS),
    };
    let text = fixed(value, places);
    if size >= 10_000.0 { group(&text) } else { text }
}

/// Separates groups of three digits by thin spaces.
fn group(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (index, digit) in rest.chars().enumerate() {
        if index > 0 && (rest.len() - index).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// Uses the largest scale not above the value, or else the smallest.
fn scaled(value: f64, steps: &[(f64, &'static str)]) -> Printed {
    // 0.9995 of a step already prints as 1.00 of it.
    let chosen = steps.iter().rev().find(|(scale, _)| value.abs() >= scale * 0.9995);
    let (scale, unit) = chosen.or(steps.first()).copied().unwrap_or((1.0, ""));
    Printed { number: digits(value / scale), unit }
}

impl Seconds {
    /// A time in one unit, or in two from one minute on: `1 min 19 s`, `2 h 5 min`.
    pub fn print(self) -> Printed {
        // 59.95 s already print as 60.0.
        if self.0.is_finite() && self.0 >= 59.95 {
            let seconds = self.0.round();
            let minutes = (seconds / 60.0).round();
            return match minutes < 60.0 {
                true => clock((seconds / 60.0).floor(), "min", seconds % 60.0, "s"),
                false => clock((minutes / 60.0).floor(), "h", minutes % 60.0, "min"),
            };
        }
        scaled(self.0, &[(1e-6, "µs"), (1e-3, "ms"), (1.0, "s")])
    }
}

/// A time in two units; the smaller one is left out if zero.
fn clock(larger: f64, unit: &'static str, smaller: f64, of: &'static str) -> Printed {
    let number = count(larger);
    if smaller > 0.0 {
        return Printed { number: format!("{number}\u{a0}{unit}\u{a0}{}", count(smaller)), unit: of };
    }
    Printed { number, unit }
}

impl Bytes {
    /// Binary prefixes, as memory is sold and as drivers report it.
    pub fn print(self) -> Printed {
        const KI: f64 = 1024.0;
        scaled(
            self.0,
            &[(1.0, "B"), (KI, "KiB"), (KI * KI, "MiB"), (KI * KI * KI, "GiB"), (KI * KI * KI * KI, "TiB")],
        )
    }
}

impl Flops {
    pub fn print(self) -> Printed {
        scaled(self.0, &[(1.0, "FLOP"), (1e6, "MFLOP"), (1e9, "GFLOP"), (1e12, "TFLOP"), (1e15, "PFLOP")])
    }
}

impl BytesPerSecond {
    pub fn print(self) -> Printed {
        scaled(self.0, &[(1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")])
    }
}

impl FlopsPerSecond {
    pub fn print(self) -> Printed {
        scaled(self.0, &[(1e9, "GFLOP/s"), (1e12, "TFLOP/s"), (1e15, "PFLOP/s")])
    }
}

impl Watts {
    pub fn print(self) -> Printed {
        scaled(self.0, &[(1.0, "W"), (1e3, "kW")])
    }
}

impl Joules {
    pub fn print(self) -> Printed {
        scaled(self.0, &[(1e-3, "mJ"), (1.0, "J"), (1e3, "kJ"), (1e6, "MJ")])
    }
}

impl Dollars {
    /// An amount to the cent, to the tenth of a cent if small, and in whole dollars if large: `$0.40`, `$0.032`, `$17 500`.
    pub fn print(self) -> Printed {
        let number = match self.0.abs() {
            size if !size.is_finite() => "–".into(),
            size if size < 0.0995 => fixed(self.0, 3),
            size if size < 1000.0 => fixed(self.0, 2),
            _ => count(self.0.round()),
        };
        Printed { number: format!("${number}"), unit: "" }
    }
}

/// A plain count or rate: `16`, `12.3`, `0.120`; whole numbers without decimals.
pub fn count(value: f64) -> String {
    if value.is_finite() && value.fract() == 0.0 {
        let text = fixed(value, 0);
        return if value.abs() >= 10_000.0 { group(&text) } else { text };
    }
    digits(value)
}

/// Escaped for HTML and SVG: text and attribute values.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

/// `1 client`, `8 clients`.
pub fn counted(amount: impl Into<f64>, one: &str) -> String {
    let amount = amount.into();
    format!("{} {one}{}", count(amount), if amount == 1.0 { "" } else { "s" })
}

/// `value` rounded to this many significant digits. Zero, negative and non-finite numbers are unchanged.
pub fn significant(value: f64, digits: i32) -> f64 {
    // Of zero and below there is no logarithm.
    let places = f64::from(digits - 1) - value.log10().floor();
    let scale = 10f64.powi(places.abs() as i32);
    if !places.is_finite() || !scale.is_finite() {
        return value;
    }
    // Dividing by a power of ten gives the nearest number, which multiplying by its inverse may miss.
    if places > 0.0 { (value * scale).round() / scale } else { (value / scale).round() * scale }
}

/// A share in 0..1 as a percentage with two significant digits, since no prediction is more precise: `83 %`, `8.3
/// %`, `0.4 %`, `100 %`. Shares close to 1 show what is missing: `99.8 %`.
pub fn percent(share: f64) -> Printed {
    let value = share * 100.0;
    let places = usize::from(value != 0.0 && (value.abs() < 9.95 || (99.0..99.95).contains(&value)));
    let number = if value.is_finite() { fixed(value, places) } else { "–".into() };
    Printed { number, unit: "%" }
}

/// A factor: `1.16×`.
pub fn ratio(factor: f64) -> Printed {
    Printed { number: digits(factor), unit: "×" }
}

/// Decimals with which these amounts of dollars print differently: cents, tenths where one is small, and up to four more where
/// cents would hide which is less.
pub fn cents(amounts: impl Iterator<Item = f64>) -> usize {
    let mut all: Vec<f64> = amounts.filter(|amount| amount.is_finite()).collect();
    all.order_by(f64::total_cmp);
    let least = if all.iter().any(|amount| amount.abs() < 0.0995) { 3 } else { 2 };
    let differ = |pair: &[f64], places| {
        pair[1] - pair[0] <= pair[1].abs() * TOLERANCE || fixed(pair[0], places) != fixed(pair[1], places)
    };
    let tells = |&places: &usize| all.windows(2).all(|pair| differ(pair, places));
    (least..MOST_CENTS).find(tells).unwrap_or(MOST_CENTS)
}

const MOST_CENTS: usize = 6;
/// Amounts within this share of each other are equal.
const TOLERANCE: f64 = 1e-5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_decimals_that_tell_them_apart() {
        let of = |amounts: &[f64]| cents(amounts.iter().copied());
        assert_eq!(of(&[17.94, 37.66]), 2);
        assert_eq!(of(&[0.4901, 0.4938, 0.65]), 3);
        assert_eq!(of(&[0.032_41, 0.032_44]), 5);
        assert_eq!(of(&[2.0, 2.0, 2.0 + 1e-9]), 2, "equal ones stay short");
    }

    #[test]
    fn significant_digits_are_kept() {
        for (value, digits, wanted) in [(4.7619, 3, 4.76), (0.123_456, 2, 0.12), (98_765.0, 2, 99_000.0)] {
            assert_eq!(significant(value, digits), wanted);
        }
        for value in [0.0, -1.5, f64::INFINITY] {
            assert_eq!(significant(value, 3), value);
        }
    }

    #[test]
    fn a_range_across_a_minute_keeps_both_units() {
        let same = |low: f64, high: f64| Seconds(low).print().has_unit_of(&Seconds(high).print());
        assert!(same(36.5, 59.0) && !same(36.5, 100.0) && !same(60.0, 68.0) && !same(0.9, 1.0));
    }

    #[test]
    fn three_digits_and_the_right_prefix() {
        assert_eq!(Seconds(0.02357).print().to_string(), "23.6\u{a0}ms");
        assert_eq!(Seconds(0.000_999_9).print().to_string(), "1.00\u{a0}ms");
        assert_eq!(Bytes(80.0 * 1024f64.powi(3)).print().to_string(), "80.0\u{a0}GiB");
        for (seconds, text) in [
            (59.94, "59.9 s"),
            (59.96, "1 min"),
            (79.4, "1 min 19 s"),
            (3599.6, "1 h"),
            (7512.0, "2 h 5 min"),
        ] {
            assert_eq!(Seconds(seconds).print().to_string().replace('\u{a0}', " "), text);
        }
        assert_eq!(FlopsPerSecond(989e12).print().to_string(), "989\u{a0}TFLOP/s");
        assert_eq!(count(1234.4), "1234");
        assert_eq!(count(16.0), "16");
        assert_eq!(count(0.0), "0");
        assert_eq!([0.0123, 0.0006, 0.000_23, 7e-6].map(count), ["0.012", "0.001", "0.0002", "0.000007"]);
        assert_eq!(count(1_234_567.0), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn shares_have_two_digits() {
        let all = [0.8333, 0.0996, 0.083, 0.0042, 0.0, 1.0, 0.998].map(|share| percent(share).to_string());
        let wanted = ["83 %", "10 %", "8.3 %", "0.4 %", "0 %", "100 %", "99.8 %"];
        assert_eq!(all.map(|text| text.replace('\u{a0}', " ")), wanted);
    }

    #[test]
    fn money_is_in_cents() {
        for (dollars, text) in [(0.396, "$0.40"), (12.0, "$12.00"), (0.0316, "$0.032"), (0.0, "$0.000")] {
            assert_eq!(Dollars(dollars).print().to_string(), text);
        }
    }

    #[test]
    fn decimals_read_back_as_they_were() {
        for text in
            ["0", "1", "-2.5", "0.1", "0.000123", "123456789012345", "0.92", "1e300", "85017493504", "1e-9"]
        {
            let value: f64 = text.parse().expect(text);
            assert_eq!(decimal(value).parse(), Ok(value), "{text}");
        }
        assert_eq!(decimal(0.1 + 0.2), "0.3");
        assert_eq!(decimal(1e21), "1000000000000000000000");
        assert_eq!(decimal(f64::NEG_INFINITY), "-inf");
    }

    #[test]
    fn fixed_decimals_round_and_fill_up() {
        assert_eq!(fixed(1234.5678, 2), "1234.57");
        assert_eq!(fixed(-0.05, 3), "-0.050");
        assert_eq!(fixed(0.9996, 3), "1.000");
        assert_eq!(fixed(2.5, 0), "3");
        assert_eq!(fixed(1e16, 1), "10000000000000000.0");
        assert_eq!(fixed(f64::NAN, 2), "NaN");
    }

    #[test]
    fn no_number_prints_a_dash() {
        assert_eq!(Seconds(f64::NAN).print().number, "–");
        assert_eq!(count(f64::INFINITY), "–");
    }
}
