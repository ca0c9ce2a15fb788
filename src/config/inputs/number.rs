//! Inputs that are numbers: their bounds, and how they read and print.

use super::stops::{Stops, round};
use super::{INPUTS, Input};
use crate::config::catalog::{Offered, catalog};
use crate::config::link::{pointed, real, ungrouped, values, whole};
use crate::config::{Field, Gpu, Issue, Lengths, Load, Scenario, Scheduler, excerpt};
use crate::units::{count, decimal};

/// A figure of the catalog for a scenario, by its scheduler and GPU.
pub type OfCatalog = fn(&Scheduler, &Gpu, &Scenario) -> Option<f64>;

/// The range of a number, and its box and slider in the form.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    pub unit: &'static str,
    pub range: Range,
    pub whole: bool,
    pub power_of_two: bool,
    /// The number's name in `config.json`, if it is a size of the model; else empty.
    pub config_key: &'static str,
    pub stops: Stops,
    /// The catalog's figure if the scenario sets none; `None` for numbers that are always set.
    pub catalog: Option<OfCatalog>,
    pub read: fn(&Scenario) -> Option<f64>,
    /// `None` resets to the catalog's figure, if there is one.
    pub write: fn(&mut Scenario, Option<f64>),
}

/// Bounds, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub min: f64,
    pub max: f64,
}

/// A number that may have decimals, in messages.
pub const ANY: &str = "a number";

impl Range {
    pub const fn new(min: f64, max: f64) -> Self {
        Self { min, max }
    }

    /// False for NaN.
    pub fn contains(self, value: f64) -> bool {
        (self.min..=self.max).contains(&value)
    }

    /// The error message for a `given` number called `name`: one sentence for all inputs.
    pub fn wanted(self, name: &str, what: &str, given: &str) -> String {
        let bound = |value: f64| if value.fract() == 0.0 { count(value) } else { decimal(value) };
        let (min, max) = (bound(self.min), bound(self.max));
        let text = format!("{name} must be {what} between {min} and {max}");
        if given.trim().is_empty() {
            return text;
        }
        let hint = match (pointed(given), what) {
            (Some(meant), ANY) => format!(": use a decimal point, as in {meant}"),
            (Some(_), _) => ": a comma separates thousands only".into(),
            // All that a number in range may still have.
            (None, _) => match given.trim().parse() {
                Ok(meant) if given.contains(['e', 'E']) && self.contains(meant) => {
                    format!(": write it as {}", decimal(meant))
                }
                _ => String::new(),
            },
        };
        format!("{text}, not `{}`{hint}", excerpt(given))
    }
}

impl Number {
    /// Parses a number of any range.
    pub fn parse(&self, text: &str) -> Option<f64> {
        if self.whole { whole(text).ok().map(f64::from) } else { real(text).ok() }
    }

    /// A value as shown in the number's box: without digit grouping, so that it can be edited.
    pub fn print(&self, value: f64) -> String {
        decimal(round(value))
    }

    /// The catalog's figure for a scenario that sets none.
    pub fn listed(&self, scenario: &Scenario) -> Option<f64> {
        let (engine, gpu) = (Offered::of(&scenario.engine)?, catalog().gpu(&scenario.gpu)?);
        self.catalog?(&engine.scheduler, &scenario.spec.apply(gpu), scenario)
    }

    /// The scenario's number, or else the catalog's.
    pub fn effective(&self, scenario: &Scenario) -> Option<f64> {
        (self.read)(scenario).or_else(|| self.listed(scenario))
    }

    fn takes(&self, value: f64) -> bool {
        self.range.contains(value) && (!self.power_of_two || (value as u32).is_power_of_two())
    }
}

impl Input {
    /// What is wrong with `given`.
    pub fn wanted(&self, given: &str) -> String {
        let Some(number) = &self.number else { return String::new() };
        let what = match number {
            Number { power_of_two: true, .. } => "a power of two",
            Number { whole: true, .. } => "a whole number",
            _ => ANY,
        };
        number.range.wanted(self.label, what, given)
    }

    /// An error if the value is out of range.
    pub fn check(&self, value: f64) -> Option<Issue> {
        let takes = self.number.as_ref().is_none_or(|number| number.takes(value));
        let given = decimal(value);
        (!takes).then(|| Issue::error(self.field, self.wanted(&given)).with_given(given))
    }

    /// The number typed into its box: `None` if the box is empty and may be. Spaces, underscores, commas between
    /// thousands and the number's unit are ignored, and `8k` is 8,000.
    pub fn typed(&self, text: &str) -> Result<Option<f64>, Issue> {
        let Some(number) = &self.number else { return Ok(None) };
        let text = text.trim_end();
        let (amount, times) = without_unit(text, number);
        let digits = ungrouped(amount);
        if digits.is_empty() && number.catalog.is_some() {
            return Ok(None);
        }
        let error = || Issue::error(self.field, self.wanted(text));
        let value = match digits.strip_suffix(['k', 'K']) {
            Some(thousands) => real(thousands).ok().map(|value| round(value * 1e3 * times)),
            None if times != 1.0 => real(&digits).ok().map(|value| round(value * times)),
            None => number.parse(&digits),
        };
        let value = value.filter(|value| !number.whole || value.fract() == 0.0);
        value.filter(|value| number.takes(*value)).map(Some).ok_or_else(error)
    }

    /// The lengths typed into its box for the prompts of a static batch, as links write them: `128x4,1024`.
    pub fn listed(&self, text: &str, scenario: &Scenario) -> Option<Lengths> {
        if !self.may_list(text) || !is_batch(scenario) || self.typed(text).is_ok() {
            return None;
        }
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let listed = values::lengths(&text.to_ascii_lowercase()).ok()?;
        let takes = |length: &u32| self.number.is_some_and(|number| number.takes(f64::from(*length)));
        match &listed {
            Lengths::Each(all) => (!all.is_empty() && all.iter().all(takes)).then_some(listed),
            Lengths::Fixed(_) => None,
        }
    }

    /// Whether the text may be meant as a list of lengths.
    pub(super) fn may_list(&self, text: &str) -> bool {
        self.field == Field::Isl && text.contains([',', 'x', 'X'])
    }

    /// The issue of a text that is no number, with what a list of lengths takes if it may be meant as one.
    pub fn refused(&self, issue: Issue, text: &str, scenario: &Scenario) -> Issue {
        if !self.may_list(text) {
            return issue;
        }
        let hint = match is_batch(scenario) {
            true => "a list has a length for each prompt, such as 128x4,1024",
            false => "only a static batch takes a list of lengths",
        };
        Issue { text: format!("{}; {hint}", issue.text), ..issue }
    }

    /// Says that `100,200` was read as one number, if it may be meant as two prompts.
    pub fn note(&self, text: &str, scenario: &Scenario) -> Option<Issue> {
        let may_list = self.may_list(text) && is_batch(scenario);
        let read = self.typed(text).ok()?.filter(|_| may_list).map(decimal)?;
        let list = text.replace(',', "x1,");
        let text =
            format!("`{}` is read as {read}; as a list of lengths write {}", excerpt(text), excerpt(&list));
        Some(Issue::note(self.field, text))
    }
}

fn is_batch(scenario: &Scenario) -> bool {
    matches!(scenario.workload.load, Load::Batch(_))
}

/// An error for each number of `scenario` out of range.
pub fn check_ranges(scenario: &Scenario) -> impl Iterator<Item = Issue> {
    let check = |input: &Input| input.check((input.number?.read)(scenario)?);
    INPUTS.iter().filter_map(check)
}

/// A scenario field behind a number.
pub(super) trait Slot {
    fn get(&self) -> Option<f64>;
    fn put(&mut self, value: Option<f64>);
}

impl Slot for u32 {
    fn get(&self) -> Option<f64> {
        Some(f64::from(*self))
    }

    fn put(&mut self, value: Option<f64>) {
        *self = value.map_or(*self, |value| value as u32);
    }
}

impl Slot for f64 {
    fn get(&self) -> Option<f64> {
        Some(*self)
    }

    fn put(&mut self, value: Option<f64>) {
        *self = value.unwrap_or(*self);
    }
}

/// A number that prompts and outputs have in common.
impl Slot for [f64; 2] {
    fn get(&self) -> Option<f64> {
        self[0].get()
    }

    fn put(&mut self, value: Option<f64>) {
        self.iter_mut().for_each(|of| of.put(value));
    }
}

impl<T: Slot + Default> Slot for Option<T> {
    fn get(&self) -> Option<f64> {
        self.as_ref()?.get()
    }

    fn put(&mut self, value: Option<f64>) {
        *self = value.map(|value| {
            let mut slot = T::default();
            slot.put(Some(value));
            slot
        });
    }
}

/// The number in `text` without its unit, and how many times `unit` that is: `1 s` is 1,000 ms.
fn without_unit<'a>(text: &'a str, number: &Number) -> (&'a str, f64) {
    let unit = number.unit;
    let of = match unit {
        _ if !number.whole && number.range.max <= 1.0 => [("%", 0.01), (unit, 1.0)],
        "ms" => [("ms", 1.0), ("s", 1e3)],
        "s" => [("ms", 1e-3), ("s", 1.0)],
        _ if unit.ends_with("/s") => [(unit, 1.0), ("/s", 1.0)],
        _ => [(unit, 1.0); 2],
    };
    of.into_iter().find_map(|(unit, times)| Some((text.strip_suffix(unit)?, times))).unwrap_or((text, 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::FormGroup;
    use super::*;

    fn numbers() -> impl Iterator<Item = (&'static Input, &'static Number)> {
        INPUTS.iter().filter_map(|input| Some((input, input.number.as_ref()?)))
    }

    #[test]
    fn slider_stops_ascend_round_trip_and_are_in_range() {
        for (input, number) in numbers() {
            let stops = number.stops.values();
            assert!(stops.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", input.field);
            for (index, stop) in stops.iter().enumerate() {
                assert_eq!(number.stops.nearest(*stop), index, "{:?} at {stop}", input.field);
                assert!(number.takes(*stop), "{:?} at {stop}", input.field);
            }
        }
    }

    #[test]
    fn printed_values_parse_and_written_values_read_back() {
        for (input, number) in numbers() {
            for stop in number.stops.values() {
                assert_eq!(input.typed(&number.print(stop)), Ok(Some(stop)), "{:?}", input.field);
                let mut scenario = Scenario::default();
                // The default model has no experts to count.
                if input.group() == Some(FormGroup::Architecture) && !(input.applies)(&scenario) {
                    continue;
                }
                (number.write)(&mut scenario, Some(stop));
                assert_eq!((number.read)(&scenario), Some(stop), "{:?}", input.field);
            }
        }
    }

    #[test]
    fn typed_numbers_are_parsed_leniently_with_clear_errors() {
        let isl = Field::Isl.input();
        assert_eq!(isl.typed(" 4 096 "), Ok(Some(4096.0)));
        assert_eq!(isl.typed("4,096"), Ok(Some(4096.0)));
        assert_eq!([isl.typed("8k"), isl.typed("1.5 K tokens")], [Ok(Some(8000.0)), Ok(Some(1500.0))]);
        let [ttft, think, rate] = [Field::SloTtft, Field::ThinkTime, Field::Rate].map(Field::input);
        assert_eq!([ttft.typed("500ms"), ttft.typed("1.5 s")], [Ok(Some(500.0)), Ok(Some(1500.0))]);
        assert_eq!([think.typed("2 s"), think.typed("500 ms")], [Ok(Some(2.0)), Ok(Some(0.5))]);
        let share = Field::CachedShare.input();
        assert_eq!(
            [share.typed("50%"), share.typed("50 %"), share.typed("0.5")],
            [const { Ok(Some(0.5)) }; 3]
        );
        assert!(share.typed("150 %").is_err() && Field::Isl.input().typed("50 %").is_err());
        assert_eq!([rate.typed("4/s"), rate.typed("0.5")], [Ok(Some(4.0)), Ok(Some(0.5))]);
        for text in ["", "-1", "0", "1.5", "0.0015k", "k", "500 ms", "NaN", "999999999", "99999999999"] {
            let issue = isl.typed(text).expect_err(text);
            assert!(issue.text.contains("a whole number between 1 and"), "{}", issue.text);
            assert_eq!(issue.text.contains("not"), !text.is_empty(), "{}", issue.text);
        }
        assert!(Field::Tp.input().typed("3").is_err());
        let price = Field::Price.input();
        assert_eq!([price.typed(""), price.typed("2.5")], [Ok(None), Ok(Some(2.5))]);
        assert!(price.typed("inf").is_err());
    }

    #[test]
    fn a_comma_groups_thousands_and_is_never_dropped_from_decimals() {
        let rate = Field::L2Bandwidth.input();
        for (text, value) in [("1,234.5", 1234.5), ("12,345", 12345.0), ("1,234,567", 1_234_567.0)] {
            assert_eq!(rate.typed(text), Ok(Some(value)), "{text}");
        }
        for (text, meant) in [
            ("1,5", "1.5"),
            ("0,125", "0.125"),
            ("1,2345", "1.2345"),
            ("1.234,5", "1234.5"),
            ("1 234,567", "1234.567"),
        ] {
            let issue = rate.typed(text).expect_err(text);
            assert!(issue.text.ends_with(&format!("as in {meant}")), "{}", issue.text);
        }
        let issue = Field::Rate.input().typed("1e6").expect_err("an exponent");
        assert!(
            issue.text.ends_with("1\u{202f}000\u{202f}000, not `1e6`: write it as 1000000"),
            "{}",
            issue.text
        );
        for text in ["1,", ",5,", "1,5,000", "1234,567,8", "1,23.5"] {
            assert!(rate.typed(text).is_err(), "{text}");
        }
        let replicas = Field::Gpus.input().typed("1,5").expect_err("no whole number");
        assert!(!replicas.text.contains("1.5") && replicas.text.contains("thousands"), "{}", replicas.text);
    }
}
