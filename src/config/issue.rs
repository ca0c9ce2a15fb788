//! Issues: what is wrong with an input, and which field it concerns.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::{Dtype, Field};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, strum::Display)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Severity {
    /// There is no answer until this is fixed.
    #[default]
    Error,
    /// There is an answer, with this caveat.
    Warning,
    /// Something was changed, or read differently from how it was written.
    Note,
}

/// One finding: the field and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Issue {
    pub field: Field,
    pub severity: Severity,
    pub text: String,
    /// The text that could not be read: the page keeps it in the field.
    #[serde(default)]
    pub given: Option<String>,
    /// The id of the GPU that it is about, of a field with a value for each GPU.
    #[serde(default)]
    pub of: Option<String>,
}

impl Serialize for Issue {
    /// Readers by name do without fields that hold nothing; readers by position need all of them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { field, severity, text, given, of } = self;
        let is_named = serializer.is_human_readable();
        let others = [("given", given), ("of", of)];
        let others = others.into_iter().filter(|(_, value)| !is_named || value.is_some());
        let mut issue = serializer.serialize_struct("Issue", 3 + others.clone().count())?;
        issue.serialize_field("field", field)?;
        issue.serialize_field("severity", severity)?;
        issue.serialize_field("text", text)?;
        for (name, value) in others {
            issue.serialize_field(name, value)?;
        }
        issue.end()
    }
}

impl Issue {
    pub fn error(field: Field, text: impl Into<String>) -> Self {
        Self { field, severity: Severity::Error, text: text.into(), ..Self::default() }
    }

    pub fn warning(field: Field, text: impl Into<String>) -> Self {
        Self { field, severity: Severity::Warning, text: text.into(), ..Self::default() }
    }

    pub fn note(field: Field, text: impl Into<String>) -> Self {
        Self { field, severity: Severity::Note, text: text.into(), ..Self::default() }
    }

    /// Attaches the original text.
    pub fn with_given(mut self, given: impl Into<String>) -> Self {
        self.given = Some(given.into());
        self
    }

    /// The text as a sentence of its own, for readers: capitalised, unless it starts with a name (`vLLM`, `gpt-oss-20b`),
    /// and with inputs by their labels, as the page shows them.
    pub fn sentence(&self) -> String {
        let text = self.labelled();
        let first = text.split(' ').next().unwrap_or_default();
        let is_word = first.trim_end_matches([',', ':']).chars().all(|c| c.is_ascii_lowercase());
        match text.split_at_checked(1) {
            Some((head, tail)) if is_word => head.to_ascii_uppercase() + tail,
            _ => text,
        }
    }

    /// The text with labels for the names of inputs: programs know `budget_gpus`, and the page has a "Max GPUs". Issues of
    /// links and JSON are about the names themselves.
    fn labelled(&self) -> String {
        let label = |(index, part): (usize, &str)| {
            let field = Field::from_id(part).filter(|field| index % 2 == 1 && *field != Field::Link);
            let named = Dtype::from_id(part).filter(|_| index % 2 == 1);
            match (field, index % 2) {
                (Some(field), _) => field.input().label.to_owned(),
                _ if let Some(format) = named => format.name().to_owned(),
                (None, 1) => format!("`{part}`"),
                (None, _) => part.to_owned(),
            }
        };
        let is_paired = self.text.matches('`').count().is_multiple_of(2);
        match is_paired && self.field != Field::Link {
            true => self.text.split('`').enumerate().map(label).collect(),
            false => self.text.clone(),
        }
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Jaro-Winkler similarity above which an id is suggested.
const MIN_SIMILARITY: f64 = 0.8;

/// The entry of `known` most similar to `given` with its similarity, if similar enough.
pub(super) fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<(f64, &'a str)> {
    let given = given.to_ascii_lowercase();
    let alike = known.map(|other| (strsim::jaro_winkler(&given, other), other));
    alike.filter(|(likeness, _)| *likeness >= MIN_SIMILARITY).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Up to 60 characters of user input, safe to quote in a sentence.
pub(crate) fn excerpt(text: &str) -> String {
    const CHARACTERS: usize = 60;
    let mut out: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(CHARACTERS).collect();
    if text.chars().nth(CHARACTERS).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_begin_with_a_capital_or_a_name() {
        for (text, wanted) in [
            ("no kernel of vLLM", "No kernel of vLLM"),
            ("vLLM has none", "vLLM has none"),
            ("gpt-oss-20b has none", "gpt-oss-20b has none"),
            ("`x` is no model", "`x` is no model"),
            ("`day` has 3, not `24`", "Daily load has 3, not `24`"),
            ("give `owned` or `budget_gpus`", "Give GPUs owned or Max GPUs"),
            ("not ```", "Not ```"),
            ("", ""),
        ] {
            assert_eq!(Issue::error(Field::Model, text).sentence(), wanted);
        }
    }

    #[test]
    fn issues_of_a_link_keep_the_names_it_is_written_with() {
        assert_eq!(Issue::error(Field::Link, "`isl` is a JSON name").sentence(), "`isl` is a JSON name");
    }

    #[test]
    fn ids_are_the_serialised_names() {
        for field in Field::ALL {
            assert_eq!(serde_json::to_value(field).unwrap(), field.id());
            assert_eq!(field.input().field, *field);
        }
    }
}
