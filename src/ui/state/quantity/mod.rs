//! The numbers a visitor sets: how each is read, written, typed and slid.

mod form;
mod requests;
mod stops;

use crate::config::{Engine, Field, Gpu, Scenario, link};
use crate::units::decimal;

pub use form::*;
pub use requests::*;
pub use stops::Stops;
pub use stops::round;

/// One number of the form.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    pub field: Field,
    pub label: &'static str,
    pub unit: &'static str,
    pub stops: Stops,
    pub whole: bool,
    /// What it means, for the label's tip.
    pub help: &'static str,
    /// None where the catalog's figure applies.
    read: fn(&Scenario) -> Option<f64>,
    /// `None` goes back to the catalog's figure, where there is one.
    write: fn(&mut Scenario, Option<f64>),
}

/// Why typed text is no number for a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadNumber {
    #[error("type a whole number, such as {0}")]
    NotWhole(&'static str),
    #[error("type a number, such as {0}")]
    NotNumber(&'static str),
    #[error("this number is too large")]
    TooLarge,
}

impl Quantity {
    /// Its field, as the list that findings are looked up by.
    pub fn fields(&'static self) -> &'static [Field] {
        std::slice::from_ref(&self.field)
    }

    pub fn read(&self, scenario: &Scenario) -> Option<f64> {
        (self.read)(scenario)
    }

    pub fn write(&self, scenario: &mut Scenario, value: Option<f64>) {
        (self.write)(scenario, value);
    }

    /// Whether an empty box is allowed: it stands for the catalog's figure.
    pub fn optional(&self) -> bool {
        self.default(None, None).is_some()
    }

    /// The catalog's figure for an optional quantity, as the box's placeholder; the outer `None` for
    /// quantities that every scenario sets.
    pub fn default(&self, engine: Option<&Engine>, gpu: Option<&Gpu>) -> Option<Option<f64>> {
        let scheduler = engine.map(|engine| &engine.scheduler);
        match self.field {
            Field::TokenBudget => Some(scheduler.and_then(|scheduler| scheduler.token_budget.0)),
            Field::MaxSeqs => Some(scheduler.and_then(|scheduler| scheduler.max_seqs.0)),
            Field::MemoryShare => Some(scheduler.and_then(|scheduler| scheduler.memory_share.0)),
            Field::Sustained => Some(gpu.and_then(|gpu| gpu.sustained_clock.0)),
            Field::SloTtft | Field::SloTpot => Some(None),
            Field::Price => Some(gpu.and_then(|gpu| gpu.dollars_per_hour.0)),
            _ => None,
        }
    }

    /// The number in `text`; spaces, thin spaces, commas and underscores between digits are ignored.
    /// `None` where the box is empty and may be.
    pub fn parse(&self, text: &str) -> Result<Option<f64>, BadNumber> {
        let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != '_' && *c != ',').collect();
        if text.is_empty() && self.optional() {
            return Ok(None);
        }
        if self.whole {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            if !digits {
                return Err(BadNumber::NotWhole(self.example()));
            }
            return text.parse::<u32>().map(|value| Some(f64::from(value))).map_err(|_| BadNumber::TooLarge);
        }
        // The reader of links: what is typed has to survive them.
        link::real(&text).map(Some).map_err(|_| BadNumber::NotNumber(self.example()))
    }

    fn example(&self) -> &'static str {
        match self.field {
            Field::MemoryShare | Field::Sustained => "0.9",
            Field::Spread | Field::LogSpread | Field::CachedShare => "0.2",
            Field::Price => "2.5",
            Field::Tp | Field::Pp | Field::Gpus | Field::Drafted => "2",
            Field::Concurrency | Field::Batch => "16",
            Field::Rate | Field::Burstiness | Field::Accepted => "2.5",
            Field::SloTtft => "500",
            Field::SloTpot => "30",
            _ => "1024",
        }
    }

    /// The number as the box shows it: no grouping, so that it can be edited.
    pub fn print(&self, value: f64) -> String {
        decimal(round(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every quantity of the form.
    static ALL: [&Quantity; 23] = [
        &TP,
        &PP,
        &DP,
        &EP,
        &REPLICAS,
        &ISL,
        &OSL,
        &SPREAD,
        &LOG_SPREAD,
        &CONCURRENCY,
        &BATCH,
        &RATE,
        &BURSTINESS,
        &CACHED_SHARE,
        &DRAFTED,
        &ACCEPTED,
        &SLO_TTFT,
        &SLO_TPOT,
        &TOKEN_BUDGET,
        &MAX_SEQS,
        &MEMORY_SHARE,
        &SUSTAINED,
        &PRICE,
    ];

    #[test]
    fn stops_rise_and_are_found_again() {
        for quantity in ALL {
            let stops = quantity.stops.values();
            assert!(stops.windows(2).all(|pair| pair[0] < pair[1]), "{}", quantity.label);
            for (index, stop) in stops.iter().enumerate() {
                assert_eq!(quantity.stops.nearest(*stop), index, "{} at {stop}", quantity.label);
            }
        }
    }

    #[test]
    fn what_is_printed_parses_and_what_is_written_reads() {
        for quantity in ALL {
            for stop in quantity.stops.values() {
                assert_eq!(quantity.parse(&quantity.print(stop)), Ok(Some(stop)), "{}", quantity.label);
                let mut scenario = Scenario::default();
                quantity.write(&mut scenario, Some(stop));
                assert_eq!(quantity.read(&scenario), Some(stop), "{}", quantity.label);
            }
        }
    }

    #[test]
    fn typed_text_is_read_generously_and_refused_clearly() {
        assert_eq!(ISL.parse(" 4 096 "), Ok(Some(4096.0)));
        assert_eq!(ISL.parse("4,096"), Ok(Some(4096.0)));
        assert_eq!(ISL.parse("99999999999"), Err(BadNumber::TooLarge));
        for text in ["", "-1", "1.5", "4k", "NaN"] {
            assert_eq!(ISL.parse(text), Err(BadNumber::NotWhole("1024")), "{text}");
        }
        assert_eq!(PRICE.parse(""), Ok(None));
        assert_eq!(PRICE.parse("2.5"), Ok(Some(2.5)));
        assert_eq!(PRICE.parse("inf"), Err(BadNumber::NotNumber("2.5")));
    }
}
