//! Columns of a trace, by their names in published traces.

use super::time;

/// A property of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    Arrival,
    Prompt,
    Output,
}

/// Names in lower case without separators, in order: our own, then those of Azure's LLM inference traces, BurstGPT,
/// Mooncake, Vidur and OpenAI's API.
const ARRIVAL: [&str; 6] = ["arrival", "timestamp", "arrivedat", "arrivaltime", "time", "arrivals"];
const PROMPT: [&str; 8] = [
    "prompt",
    "contexttokens",
    "requesttokens",
    "inputlength",
    "numprefilltokens",
    "prompttokens",
    "inputtokens",
    "isl",
];
const OUTPUT: [&str; 8] = [
    "output",
    "generatedtokens",
    "responsetokens",
    "outputlength",
    "numdecodetokens",
    "completiontokens",
    "outputtokens",
    "osl",
];
/// Identifies Mooncake's traces, which are in milliseconds.
const MOONCAKE: &str = "hashids";
pub const MOONCAKE_JSON: &str = "\"hash_ids\"";

impl Column {
    /// The column's name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arrival => "arrival",
            Self::Prompt => "prompt tokens",
            Self::Output => "output tokens",
        }
    }

    pub fn is_named(self, plain: &str) -> bool {
        match self {
            Self::Arrival => ARRIVAL.contains(&plain),
            Self::Prompt => PROMPT.contains(&plain),
            Self::Output => OUTPUT.contains(&plain),
        }
    }
}

/// The index of each column, and the unit of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Columns {
    places: [usize; 3],
    pub milliseconds: bool,
}

impl Columns {
    /// # Errors
    /// Which column is missing, and its possible names.
    pub fn of<'a>(names: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let plain: Vec<String> = names.map(plain).collect();
        let mut milliseconds = plain.iter().any(|name| name == MOONCAKE);
        let mut places = [0; 3];
        for (column, place) in [Column::Arrival, Column::Prompt, Column::Output].into_iter().zip(&mut places)
        {
            let exact = plain.iter().position(|name| column.is_named(name));
            // `arrival_ms`.
            let scaled = || {
                let named = |name: &String| name.strip_suffix("ms").is_some_and(|name| column.is_named(name));
                let found = plain.iter().position(named).filter(|_| column == Column::Arrival);
                milliseconds |= found.is_some();
                found
            };
            *place = exact.or_else(scaled).ok_or_else(|| missing(column))?;
        }
        Ok(Self { places, milliseconds })
    }

    pub fn place(&self, column: Column) -> usize {
        self.places[column as usize]
    }

    /// A time in seconds; `None` if invalid or before the start.
    pub fn seconds(&self, text: &str) -> Option<f64> {
        match text.parse::<f64>() {
            Ok(number) => {
                let seconds = if self.milliseconds { number * 1e-3 } else { number };
                (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
            }
            Err(_) => time::seconds(text),
        }
    }
}

/// `name` in lower case, without separators.
pub fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn missing(column: Column) -> String {
    let names = match column {
        Column::Arrival => "`arrival` (seconds), `arrival_ms` or `timestamp`",
        Column::Prompt => "`prompt`, `prompt_tokens` or `input_length`",
        Column::Output => "`output`, `output_tokens` or `output_length`",
    };
    format!("the header has no {}: expected {names}", column.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_whatever_their_order_and_spelling() {
        let columns = Columns::of(["Output Tokens", "x", "arrived_at", "num-prefill-tokens"].into_iter());
        let columns = columns.expect("all there");
        assert_eq!(
            [Column::Arrival, Column::Prompt, Column::Output].map(|column| columns.place(column)),
            [2, 3, 0]
        );
        assert_eq!(columns.seconds("1500"), Some(1500.0));
        let columns = Columns::of(["arrival_ms", "prompt", "output"].into_iter()).expect("all there");
        assert_eq!(columns.seconds("1500"), Some(1.5));
        for bad in ["-1", "NaN", "inf", "", "later"] {
            assert_eq!(columns.seconds(bad), None, "{bad}");
        }
    }
}
