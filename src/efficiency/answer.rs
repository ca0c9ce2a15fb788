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

    /// Numbers that a message spends on an answer.
    pub const WIDTH: usize = 5;

    /// As numbers, for a message.
    pub fn to_numbers(self) -> [f32; Self::WIDTH] {
        let flag = |flag: bool| if flag { 1.0 } else { 0.0 };
        let answer =
            self.answer.unwrap_or(Answer { ln_efficiency: f32::NAN, ln_bound: None, outside: false });
        let bound = answer.ln_bound.unwrap_or(f32::NAN);
        [answer.ln_efficiency, bound, flag(answer.outside), self.in_service.0 as f32, flag(self.seen)]
    }

    pub fn from_numbers(numbers: [f32; Self::WIDTH]) -> Self {
        let [ln_efficiency, ln_bound, outside, in_service, seen] = numbers;
        let ln_bound = Some(ln_bound).filter(|bound| !bound.is_nan());
        let answer = Answer { ln_efficiency, ln_bound, outside: outside > 0.0 };
        Self {
            answer: Some(answer).filter(|answer| !answer.ln_efficiency.is_nan()),
            in_service: Seconds(f64::from(in_service)),
            seen: seen > 0.0,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_survive_a_message() {
        for (ln_bound, outside) in [(Some(0.1), false), (None, true)] {
            let answer = Some(Answer { ln_efficiency: -0.5, ln_bound, outside });
            let call = CallAnswer { answer, in_service: Seconds(0.5), seen: true };
            assert_eq!(CallAnswer::from_numbers(call.to_numbers()), call);
        }
        assert_eq!(CallAnswer::from_numbers(CallAnswer::NONE.to_numbers()), CallAnswer::NONE);
    }
}
