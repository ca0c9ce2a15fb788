//! What the models answer.

use crate::units::Seconds;

/// What a model says of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    pub ln_efficiency: f32,
    /// |ln(measured / predicted)| that 80 % of measurements of such calls stay within, on GPUs measured or
    /// not as this row's is. None if training did not calibrate it.
    pub ln_bound: Option<f32>,
    /// Whether a feature lies beyond all that the model was trained on.
    pub outside: bool,
}

/// What is known of one call of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallAnswer {
    /// None if no model covers the call.
    pub answer: Option<Answer>,
    /// What the call takes longer in service than in the loop it was measured in; below zero where shorter.
    pub in_service: Seconds,
    /// Whether measurements on this GPU trained the model.
    pub seen: bool,
}

impl CallAnswer {
    pub const NONE: Self = Self { answer: None, in_service: Seconds::ZERO, seen: false };
}

/// The models' answer to a plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Learned {
    /// Release of the models.
    pub release: String,
    /// One per call, in the order asked.
    pub calls: Vec<CallAnswer>,
}

/// What a plan is finished with.
#[derive(Debug, Clone, PartialEq)]
pub enum Efficiencies {
    /// Every kernel at its ideal.
    Roofline,
    Learned(Learned),
}
