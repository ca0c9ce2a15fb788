//! Where the page's form has the control of an input, and when it shows it.

use super::{Field, INPUTS, Input, Number};
use crate::config::Scenario;

/// A group of the form, and the place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub Group, pub u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Model,
    Gpu,
    Workload,
    Slos,
    /// The rest is folded away until it is wanted.
    Layout,
    Formats,
    Requests,
    Engine,
    Rates,
}

impl Group {
    /// Its inputs, from top to bottom.
    pub fn inputs(self) -> Vec<&'static Input> {
        let mut inputs: Vec<_> = INPUTS.iter().filter(|input| input.group() == Some(self)).collect();
        inputs.sort_by_key(|input| input.place);
        inputs
    }
}

/// The fields that the form has a control of for `scenario`, those in a fold included.
pub fn shown(scenario: &Scenario) -> impl Iterator<Item = Field> {
    INPUTS.iter().filter(|input| input.is_shown(scenario)).map(|input| input.field)
}

impl Input {
    pub fn group(&self) -> Option<Group> {
        self.place.map(|Place(group, _)| group)
    }

    /// Whether the form has a control of it for `scenario`. A number that is not at its default has one even where it
    /// means nothing, so that it can be set back.
    pub fn is_shown(&self, scenario: &Scenario) -> bool {
        let is_changed = |number: &Number| {
            (number.read)(scenario).is_some_and(|value| self.default_number() != Some(value))
        };
        let used = (self.applies)(scenario) || self.number.as_ref().is_some_and(is_changed);
        self.place.is_some() && used
    }

    /// The number of every scenario that sets no other.
    pub fn default_number(&self) -> Option<f64> {
        self.number.as_ref().and_then(|number| (number.read)(&Scenario::default()))
    }
}
