//! The table of inputs: a row says all that links, the JSON form, the page's form, the range checks, the locks of
//! frames and the documentation know of an input.

#[macro_use]
mod columns;

mod form;
mod number;
mod place;
mod reset;
mod stops;
mod table;

pub use form::Form;
pub use number::{Number, Range, check_ranges};
pub use place::{Group, Place, shown};
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
    /// Its key in a link; empty for what links do not hold.
    pub key: &'static str,
    pub label: &'static str,
    /// What it means: in the documentation, and as the tip of the page's label.
    pub help: &'static str,
    /// Where the form has its control, if it has one.
    pub place: Option<Place>,
    /// Whether a scenario makes use of it. Where it does not, the form shows it only to have it set back.
    pub applies: fn(&Scenario) -> bool,
    pub number: Option<Number>,
    /// How links write it, unless as that number.
    pub text: Option<Text>,
    /// The JSON form leaves it out at its default: there was one before there was this input.
    pub later: bool,
    /// No prediction depends on it, so what is wrong with it is a warning.
    pub aside: bool,
}

/// How links write an input.
#[derive(Debug)]
pub struct Text {
    pub kind: Kind,
    /// None if the scenario does not set it.
    pub get: fn(&Link) -> Option<String>,
    /// Says what is wrong with a text that cannot be read.
    pub set: fn(&mut Draft, &str) -> Result<(), String>,
}

/// What a value looks like, in links and in the JSON form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Id,
    Whole,
    Real,
    Format,
    Lengths,
    Histogram,
    Measured,
    /// A custom model.
    Packed,
    /// Other links.
    Links,
    /// What is to be found.
    Wishes,
}

/// What links hold, in the order in which they write it.
pub fn in_links() -> impl Iterator<Item = &'static Input> {
    INPUTS.iter().filter(|input| !input.key.is_empty())
}

/// The row of a link's key.
pub fn by_key(key: &str) -> Option<&'static Input> {
    in_links().find(|input| input.key == key)
}

/// The row of a name in the JSON form.
pub fn by_name(name: &str) -> Option<&'static Input> {
    in_links().find(|input| input.in_json() && input.field.id() == name)
}

impl Field {
    pub fn input(self) -> &'static Input {
        // The rows stand in the order of the variants.
        &INPUTS[self as usize]
    }
}

impl Input {
    pub fn kind(&self) -> Kind {
        match (&self.text, &self.number) {
            (Some(text), _) => text.kind,
            (None, Some(number)) if number.whole => Kind::Whole,
            (None, _) => Kind::Real,
        }
    }

    /// Whether the JSON form has a text or a number of it.
    pub fn in_json(&self) -> bool {
        !self.key.is_empty() && !matches!(self.kind(), Kind::Packed | Kind::Links | Kind::Wishes)
    }

    /// Its value as links write it; none if the scenario does not set it.
    pub fn get(&self, link: &Link) -> Option<String> {
        match (&self.text, &self.number) {
            (Some(text), _) => (text.get)(link),
            (None, number) => (number.as_ref()?.read)(&link.scenario).map(decimal),
        }
    }

    /// Reads what links write, or says what is wrong with it.
    pub fn set(&self, draft: &mut Draft, text: &str) -> Result<(), Issue> {
        let read = match (&self.text, &self.number) {
            (Some(own), _) => (own.set)(draft, text),
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
