//! Answers of the models.

use crate::kernels::Added;
use crate::units::Seconds;

/// A model's answer for one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    pub ln_efficiency: f32,
    /// |ln(measured / predicted)| that 80 % of measurements of such calls stay within, calibrated for measured or
    /// unmeasured GPUs like this row's. `None` if not calibrated.
    pub ln_bound: Option<f32>,
    /// Whether a feature is outside the training range.
    pub outside: bool,
}

impl Answer {
    /// The efficiency of a form of the kernel that takes `times` as long.
    pub(super) fn stretched(self, times: f64) -> Self {
        Self { ln_efficiency: self.ln_efficiency - times.ln() as f32, ..self }
    }

    /// The efficiency of the whole call, if the model answered for a part of it.
    pub(super) fn with(self, added: Option<Added>) -> Self {
        let Some(Added { whole, alone, time }) = added else { return self };
        let all = alone * f64::from(-self.ln_efficiency).exp() + time;
        Self { ln_efficiency: (whole / all).ln() as f32, ..self }
    }
}

/// The answer for one call of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallAnswer {
    /// `None` if no model covers the call.
    pub answer: Option<Answer>,
    /// Extra time in service relative to the benchmark loop; negative if shorter.
    pub in_service: Seconds,
    /// Whether it lasts as long as the host needs to launch it.
    pub waits_for_host: bool,
    /// Whether measurements on this GPU trained the model.
    pub seen: bool,
}

impl CallAnswer {
    pub const NONE: Self =
        Self { answer: None, in_service: Seconds::ZERO, waits_for_host: false, seen: false };
}

/// The models' answers for a plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Learned {
    /// Release of the models.
    pub release: String,
    /// One answer per call, in the order asked.
    pub calls: Vec<CallAnswer>,
}

/// The efficiencies a plan is finished with.
#[derive(Debug, Clone, PartialEq)]
pub enum Efficiencies {
    /// Every kernel at its ideal.
    Roofline,
    Learned(Learned),
}
