//! The numbers a visitor sets: how each is read, written, typed and slid.

use crate::config::{Engine, Field, Gpu, Lengths, Load, Scenario, link};
use crate::units::decimal;

/// The stops of a slider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stops {
    /// Powers of two.
    Doubling { low: u32, high: u32 },
    /// Four stops an octave: 1024, 1280, 1536, 1792, 2048.
    Quarters { low: u32, high: u32 },
    /// Equal steps.
    Even { low: f64, high: f64, step: f64 },
}

impl Stops {
    /// All stops, rising.
    pub fn values(self) -> Vec<f64> {
        match self {
            Self::Doubling { low, high } => {
                let doubled = std::iter::successors(Some(low), |value| value.checked_mul(2));
                doubled.take_while(|value| *value <= high).map(f64::from).collect()
            }
            Self::Quarters { low, high } => {
                let octaves = std::iter::successors(Some(low), |value| value.checked_mul(2));
                let octaves = octaves.take_while(|value| *value <= high);
                let mut stops: Vec<u32> =
                    octaves.flat_map(|value| (0..4).map(move |part| value + value * part / 4)).collect();
                stops.retain(|value| *value <= high);
                stops.dedup();
                stops.into_iter().map(f64::from).collect()
            }
            Self::Even { low, high, step } => {
                let count = ((high - low) / step).round() as u32;
                (0..=count).map(|index| round(low + f64::from(index) * step)).collect()
            }
        }
    }

    /// The stop nearest to `value`: by ratio where stops grow, by distance where they are even.
    pub fn nearest(self, value: f64) -> usize {
        let even = matches!(self, Self::Even { .. });
        let key = |value: f64| if even { value } else { value.max(f64::MIN_POSITIVE).ln() };
        let distances = self.values().into_iter().map(|stop| (key(stop) - key(value)).abs()).enumerate();
        distances.min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(index, _)| index)
    }
}

/// Binary fractions like 0.30000000000000004 never reach the visitor.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

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
            Field::Price => "2.5",
            Field::Tp | Field::Pp | Field::Gpus => "2",
            Field::Concurrency | Field::Batch => "16",
            _ => "1024",
        }
    }

    /// The number as the box shows it: no grouping, so that it can be edited.
    pub fn print(&self, value: f64) -> String {
        decimal(round(value))
    }
}

const fn whole(value: f64) -> u32 {
    value as u32
}

pub static TP: Quantity = Quantity {
    field: Field::Tp,
    label: "Tensor parallel",
    unit: "GPUs",
    stops: Stops::Doubling { low: 1, high: 16 },
    whole: true,
    help: "GPUs that share each layer",
    read: |scenario| Some(f64::from(scenario.tp)),
    write: |scenario, value| scenario.tp = value.map_or(scenario.tp, whole),
};

pub static PP: Quantity = Quantity {
    field: Field::Pp,
    label: "Pipeline parallel",
    unit: "stages",
    stops: Stops::Doubling { low: 1, high: 16 },
    whole: true,
    help: "Stages that each hold some of the layers",
    read: |scenario| Some(f64::from(scenario.pp)),
    write: |scenario, value| scenario.pp = value.map_or(scenario.pp, whole),
};

pub static REPLICAS: Quantity = Quantity {
    field: Field::Gpus,
    label: "Replicas",
    unit: "copies",
    stops: Stops::Doubling { low: 1, high: 64 },
    whole: true,
    help: "Copies of the whole deployment; the load is spread over them",
    read: |scenario| Some(f64::from(scenario.replicas)),
    write: |scenario, value| scenario.replicas = value.map_or(scenario.replicas, whole),
};

pub static ISL: Quantity = Quantity {
    field: Field::Isl,
    label: "Input length",
    unit: "tokens",
    stops: Stops::Quarters { low: 16, high: 131_072 },
    whole: true,
    help: "ISL: tokens of each prompt",
    read: |scenario| match &scenario.workload.isl {
        Lengths::Fixed(length) => Some(f64::from(*length)),
        Lengths::Each(lengths) => {
            let total: f64 = lengths.iter().copied().map(f64::from).sum();
            (!lengths.is_empty()).then(|| (total / lengths.len() as f64).round())
        }
    },
    write: |scenario, value| {
        if let Some(value) = value {
            scenario.workload.isl = Lengths::Fixed(whole(value));
        }
    },
};

pub static OSL: Quantity = Quantity {
    field: Field::Osl,
    label: "Output length",
    unit: "tokens",
    stops: Stops::Quarters { low: 1, high: 16_384 },
    whole: true,
    help: "OSL: tokens generated for each prompt",
    read: |scenario| Some(f64::from(scenario.workload.osl)),
    write: |scenario, value| scenario.workload.osl = value.map_or(scenario.workload.osl, whole),
};

pub static CONCURRENCY: Quantity = Quantity {
    field: Field::Concurrency,
    label: "Clients",
    unit: "at once",
    stops: Stops::Quarters { low: 1, high: 4096 },
    whole: true,
    help: "Each client sends its next request when its last one ends",
    read: |scenario| Some(f64::from(scenario.workload.load.size())),
    write: |scenario, value| {
        if let Some(value) = value {
            scenario.workload.load = Load::Concurrency(whole(value));
        }
    },
};

pub static BATCH: Quantity = Quantity {
    field: Field::Batch,
    label: "Prompts",
    unit: "at once",
    stops: Stops::Quarters { low: 1, high: 4096 },
    whole: true,
    help: "All prefilled in one pass, decoded together to the end",
    read: |scenario| Some(f64::from(scenario.workload.load.size())),
    write: |scenario, value| {
        if let Some(value) = value {
            scenario.workload.load = Load::Batch(whole(value));
        }
    },
};

pub static TOKEN_BUDGET: Quantity = Quantity {
    field: Field::TokenBudget,
    label: "Token budget",
    unit: "per step",
    stops: Stops::Quarters { low: 256, high: 65_536 },
    whole: true,
    help: "Tokens one step of the engine may process",
    read: |scenario| scenario.overrides.token_budget.map(f64::from),
    write: |scenario, value| scenario.overrides.token_budget = value.map(whole),
};

pub static MAX_SEQS: Quantity = Quantity {
    field: Field::MaxSeqs,
    label: "Sequences",
    unit: "at most",
    stops: Stops::Quarters { low: 1, high: 4096 },
    whole: true,
    help: "Requests the engine works on at once",
    read: |scenario| scenario.overrides.max_seqs.map(f64::from),
    write: |scenario, value| scenario.overrides.max_seqs = value.map(whole),
};

pub static MEMORY_SHARE: Quantity = Quantity {
    field: Field::MemoryShare,
    label: "Memory share",
    unit: "of the GPU",
    stops: Stops::Even { low: 0.3, high: 0.99, step: 0.01 },
    whole: false,
    help: "Share of device memory the engine may use",
    read: |scenario| scenario.overrides.memory_share,
    write: |scenario, value| scenario.overrides.memory_share = value,
};

pub static SUSTAINED: Quantity = Quantity {
    field: Field::Sustained,
    label: "Sustained clock",
    unit: "of boost",
    stops: Stops::Even { low: 0.5, high: 1.0, step: 0.01 },
    whole: false,
    help: "Share of the boost clock held through large matrix products",
    read: |scenario| scenario.overrides.sustained,
    write: |scenario, value| scenario.overrides.sustained = value,
};

pub static PRICE: Quantity = Quantity {
    field: Field::Price,
    label: "Price",
    unit: "$ / GPU h",
    stops: Stops::Even { low: 0.1, high: 20.0, step: 0.1 },
    whole: false,
    help: "What one GPU costs per hour",
    read: |scenario| scenario.overrides.price,
    write: |scenario, value| scenario.overrides.price = value,
};

/// Every quantity of the form.
#[cfg(test)]
pub static ALL: [&Quantity; 12] = [
    &TP,
    &PP,
    &REPLICAS,
    &ISL,
    &OSL,
    &CONCURRENCY,
    &BATCH,
    &TOKEN_BUDGET,
    &MAX_SEQS,
    &MEMORY_SHARE,
    &SUSTAINED,
    &PRICE,
];

#[cfg(test)]
mod tests {
    use super::*;

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
