//! Where the form has an input's control, and when it shows it.

use super::{INPUTS, Input};
use crate::config::Scenario;
use crate::units::Order;

/// A group of the form, and the position in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormPlace(pub FormGroup, pub u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FormGroup {
    Model,
    Gpu,
    Workload,
    Slos,
    /// The first group in a collapsed fold; all below are, too.
    Layout,
    Formats,
    Requests,
    Engine,
    Rates,
    /// The GPU's figures.
    Hardware,
    /// The model's sizes.
    Architecture,
}

impl FormGroup {
    /// The group's inputs, from top to bottom.
    pub fn inputs(self) -> Vec<&'static Input> {
        let mut inputs: Vec<_> = INPUTS.iter().filter(|input| input.group() == Some(self)).collect();
        inputs.order_by_key(|input| input.place);
        inputs
    }
}

impl Input {
    pub fn group(&self) -> Option<FormGroup> {
        self.place.map(|FormPlace(group, _)| group)
    }

    /// Whether the form has a control for `scenario`. A number not at its default has one even where it has no
    /// effect, so that it can be reset.
    pub fn is_shown(&self, scenario: &Scenario) -> bool {
        self.place.is_some() && ((self.applies)(scenario) || self.is_unused(scenario))
    }

    /// Whether it holds a number other than its default, to no effect.
    pub fn is_unused(&self, scenario: &Scenario) -> bool {
        let number = self.number.as_ref().and_then(|number| (number.read)(scenario));
        !(self.applies)(scenario) && number.is_some_and(|value| self.default_number() != Some(value))
    }

    /// The number that scenarios have by default.
    pub fn default_number(&self) -> Option<f64> {
        self.number.as_ref().and_then(|number| (number.read)(&Scenario::default()))
    }
}
