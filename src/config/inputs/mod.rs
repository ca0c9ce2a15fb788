//! The table of inputs: each row defines an input for links, the JSON form, the page's form, range checks, frame
//! locks and the documentation.

#[macro_use]
mod columns;

mod bounds;
mod form;
mod number;
mod place;
mod reset;
mod said;
mod stops;
mod table;

pub use form::Form;
pub use number::{ANY, Number, Range, check_ranges};
pub use place::{FormGroup, FormPlace};
pub use reset::reset;
pub use stops::{Stops, round};
pub use table::{Field, INPUTS};

use super::link::{Draft, Link};
use super::{Issue, Scenario};
use crate::units::decimal;

/// One row of the table.
#[derive(Debug)]
pub struct Input {
    pub field: Field,
    /// The input's key in a link; empty if links do not hold it.
    pub key: &'static str,
    pub label: &'static str,
    /// The input's meaning, for the documentation and the label's tooltip.
    pub help: &'static str,
    /// The position of its control in the form, if any.
    pub place: Option<FormPlace>,
    /// Whether a scenario uses it. If not, the form shows it only so that it can be reset.
    pub applies: fn(&Scenario) -> bool,
    pub number: Option<Number>,
    /// How links write it, if not as that number.
    pub text: Option<LinkText>,
    /// Left out of the JSON form at its default, because the JSON form is older than this input.
    pub later: bool,
    /// No prediction depends on it, so problems are warnings.
    pub aside: bool,
}

/// How links write an input.
#[derive(Debug)]
pub struct LinkText {
    pub kind: InputKind,
    /// `None` if the scenario does not set it.
    pub get: fn(&Link) -> Option<String>,
    /// Returns what is wrong with text that cannot be read.
    pub set: fn(&mut Draft, &str) -> Result<(), String>,
}

/// The kind of value, in links and in the JSON form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    Id,
    Whole,
    Real,
    Format,
    Lengths,
    Histogram,
    Measured,
    /// A custom model.
    Packed,
    /// Links to other configurations.
    Links,
    /// A search.
    Wishes,
}

/// The inputs in links, in the order they are written.
pub fn in_links() -> impl Iterator<Item = &'static Input> {
    INPUTS.iter().filter(|input| !input.key.is_empty())
}

/// The row for a link key.
pub fn by_key(key: &str) -> Option<&'static Input> {
    in_links().find(|input| input.key == key)
}

/// The row for a name in the JSON form.
pub fn by_name(name: &str) -> Option<&'static Input> {
    in_links().find(|input| input.in_json() && input.field.id() == name)
}

/// The row of a size of the model, by its name in `config.json`.
pub fn by_config_key(key: &str) -> Option<&'static Input> {
    let is = |number: &Number| !key.is_empty() && number.config_key == key;
    INPUTS.iter().find(|input| input.number.as_ref().is_some_and(is))
}

impl Field {
    pub fn input(self) -> &'static Input {
        // Rows are in the order of the variants.
        &INPUTS[self as usize]
    }
}

impl Input {
    pub fn kind(&self) -> InputKind {
        match (&self.text, &self.number) {
            (Some(text), _) => text.kind,
            (None, Some(number)) if number.whole => InputKind::Whole,
            (None, _) => InputKind::Real,
        }
    }

    /// Whether the JSON form holds it as text or a number.
    pub fn in_json(&self) -> bool {
        !self.key.is_empty()
            && !matches!(self.kind(), InputKind::Packed | InputKind::Links | InputKind::Wishes)
    }

    /// The input's value as written in links; `None` if the scenario does not set it.
    pub fn get(&self, link: &Link) -> Option<String> {
        match (&self.text, &self.number) {
            (Some(text), _) => (text.get)(link),
            (None, number) => (number.as_ref()?.read)(&link.scenario).map(decimal),
        }
    }

    /// Parses the text from a link, or returns what is wrong with it.
    pub fn set(&self, draft: &mut Draft, text: &str) -> Result<(), Issue> {
        let read = match (&self.text, &self.number) {
            (Some(own), _) => (own.set)(draft, text).map_err(|reason| match self.field {
                Field::Isl | Field::Osl if !self.may_list(text) => self.wanted(text),
                _ => reason,
            }),
            (None, Some(number)) => match number.parse(text) {
                Some(value) => {
                    (number.write)(&mut draft.link.scenario, Some(value));
                    Ok(())
                }
                None => Err(self.wanted(text)),
            },
            (None, None) => Ok(()),
        };
        let issue = if self.aside { Issue::warning } else { Issue::error };
        read.map_err(|reason| issue(self.field, reason).with_given(text))
    }
}
