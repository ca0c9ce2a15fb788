//! The one place that turns a quantity into text: three significant digits, SI or binary prefixes.

use super::quantity::{Bytes, BytesPerSecond, Dollars, Flops, FlopsPerSecond, Seconds, Watts};

/// A number and its unit, apart, so that a page can set them in different type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    pub number: String,
    pub unit: &'static str,
}

impl std::fmt::Display for Printed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.unit.is_empty() {
            return out.write_str(&self.number);
        }
        write!(out, "{}\u{a0}{}", self.number, self.unit)
    }
}

/// Three significant digits without an exponent; an en dash where there is no number.
fn digits(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    let size = value.abs();
    let places = match size {
        s if s == 0.0 || s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.9995 => 2,
        _ => 3,
    };
    let text = format!("{value:.places$}");
    if size >= 10_000.0 { group(&text) } else { text }
}

/// Thin spaces between groups of three.
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

/// The largest step whose scale does not exceed the value; the smallest otherwise.
fn scaled(value: f64, steps: &[(f64, &'static str)]) -> Printed {
    // 0.9995 of a step already prints as 1.00 of it.
    let chosen = steps.iter().rev().find(|(scale, _)| value.abs() >= scale * 0.9995);
    let (scale, unit) = chosen.or(steps.first()).copied().unwrap_or((1.0, ""));
    Printed { number: digits(value / scale), unit }
}

impl Seconds {
    pub fn print(self) -> Printed {
        scaled(self.0, &[(1e-6, "µs"), (1e-3, "ms"), (1.0, "s"), (60.0, "min"), (3600.0, "h")])
    }
}

impl Bytes {
    /// Binary prefixes, as memory is sold and reported by drivers.
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

impl Dollars {
    pub fn print(self) -> Printed {
        let places = if self.0.abs() < 1.0 { 3 } else { 2 };
        Printed { number: format!("{:.places$}", self.0), unit: "$" }
    }
}

/// A bare count or rate: `16`, `12.3`, `0.120`; whole numbers have no decimals.
pub fn count(value: f64) -> String {
    if value.is_finite() && value.fract() == 0.0 {
        let text = format!("{value:.0}");
        return if value.abs() >= 10_000.0 { group(&text) } else { text };
    }
    digits(value)
}

/// A share in 0..1 as per cent.
pub fn percent(share: f64) -> Printed {
    let value = share * 100.0;
    let number = if value.is_finite() { format!("{value:.1}") } else { "–".into() };
    Printed { number, unit: "%" }
}

/// A factor: `1.16×`.
pub fn ratio(factor: f64) -> Printed {
    Printed { number: digits(factor), unit: "×" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_the_right_prefix() {
        assert_eq!(Seconds(0.02357).print().to_string(), "23.6\u{a0}ms");
        assert_eq!(Seconds(0.000_999_9).print().to_string(), "1.00\u{a0}ms");
        assert_eq!(Bytes(80.0 * 1024f64.powi(3)).print().to_string(), "80.0\u{a0}GiB");
        assert_eq!(FlopsPerSecond(989e12).print().to_string(), "989\u{a0}TFLOP/s");
        assert_eq!(count(1234.4), "1234");
        assert_eq!(count(16.0), "16");
        assert_eq!(count(0.0), "0");
        assert_eq!(count(1_234_567.0), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn no_number_prints_a_dash() {
        assert_eq!(Seconds(f64::NAN).print().number, "–");
        assert_eq!(count(f64::INFINITY), "–");
    }
}
