//! Limits on an answer's figures.

use std::str::FromStr;

use crate::find::figures::{Figure, figures};
use crate::units::percent;

/// A maximum, or a minimum for rates.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    pub name: String,
    /// Milliseconds for times, otherwise in the figure's unit.
    pub value: f64,
}

impl FromStr for Limit {
    type Err = String;

    /// Parses `ttft_p99=1000`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) =
            text.split_once('=').ok_or("expected a figure and its limit, such as ttft_p99=1000")?;
        let known: Vec<String> = figures(None).into_iter().map(|figure| figure.name).collect();
        if !known.iter().any(|known| known == name) {
            return Err(format!("there is no figure `{name}`; expected one of {}", known.join(", ")));
        }
        let number = value.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
        let value = number.ok_or_else(|| {
            format!("`{value}` is not a limit: expected a number above 0; times are in milliseconds")
        })?;
        Ok(Self { name: name.into(), value })
    }
}

impl Limit {
    /// Whether it limits a time that grows without bound under overload.
    pub fn is_on_waiting(&self) -> bool {
        ["ttft", "e2e"].iter().any(|time| self.name.starts_with(time))
    }

    /// If broken, by how much, in a sentence. Fails if the answer lacks this figure.
    pub fn broken(&self, figures: &[Figure]) -> Result<Option<String>, String> {
        let name = &self.name;
        let figure = figures.iter().find(|figure| figure.name == *name);
        let known = figure.and_then(|figure| Some((figure, figure.value?)));
        let (figure, value) =
            known.ok_or_else(|| format!("{name} is not known for this scenario, so it cannot be limited"))?;
        let limit = self.value * figure.scale();
        let (is_broken, side) = match figure.is_rate() {
            true => (value < limit, "below"),
            false => (value > limit, "above"),
        };
        if !is_broken {
            return Ok(None);
        }
        let band = match figure.band {
            Some([low, high]) => format!(
                "80 % of measurements are expected between {} and {}",
                figure.print(low),
                figure.print(high)
            ),
            None => "no band is known".into(),
        };
        let print = |value: f64| figure.print(value);
        Ok(Some(format!(
            "{name} is {}, {} ({}) {side} the limit of {}; {band}",
            print(value),
            print((value - limit).abs()),
            percent((value / limit - 1.0).abs()),
            print(limit),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(limit: &str, value: Option<f64>, band: Option<[f64; 2]>) -> Result<Option<String>, String> {
        let limit: Limit = limit.parse()?;
        let mut figures = figures(None);
        let figure = figures.iter_mut().find(|figure| figure.name == limit.name).expect("a known name");
        (figure.value, figure.band) = (value, band);
        let broken = limit.broken(&figures)?;
        Ok(broken.map(|text| text.replace('\u{a0}', " ")))
    }

    #[test]
    fn a_time_may_be_as_long_as_its_limit_and_no_longer() {
        assert_eq!(held("ttft_p99=1000", Some(1.0), None), Ok(None));
        let broken = "ttft_p99 is 1.25 s, 250 ms (25 %) above the limit of 1.00 s; \
                      80 % of measurements are expected between 1.10 s and 1.50 s";
        assert_eq!(held("ttft_p99=1000", Some(1.25), Some([1.1, 1.5])), Ok(Some(broken.into())));
    }

    #[test]
    fn a_rate_has_a_least() {
        assert_eq!(held("output_per_s=100", Some(100.0), None), Ok(None));
        let broken = "output_per_s is 50/s, 50/s (50 %) below the limit of 100/s; no band is known";
        assert_eq!(held("output_per_s=100", Some(50.0), None), Ok(Some(broken.into())));
    }

    #[test]
    fn values_beyond_their_limits_are_named() {
        for (limit, reason) in [
            ("ttft_p99", "such as ttft_p99=1000"),
            ("ttft_p98=1000", "no figure `ttft_p98`; expected one of ttft_mean, ttft_p50"),
            ("ttft_p99=soon", "`soon` is not a limit"),
            ("ttft_p99=-1", "`-1` is not a limit"),
            ("ttft_p99=1000", "ttft_p99 is not known for this scenario"),
        ] {
            let error = held(limit, None, None).expect_err(limit);
            assert!(error.contains(reason), "{limit}: {error}");
        }
    }
}
