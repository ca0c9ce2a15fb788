//! The measured runs that a prediction rests on.

use serde::Serialize;

use super::{Calibration, ConfigPoint, KnownRun, Label, Labels, PlacePair};
use crate::units::Order;

/// The measured runs behind a posterior.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Support {
    /// Runs of models of the same shape, on this engine and on any.
    pub of_model_on_engine: u32,
    pub of_model: u32,
    /// Runs on the same GPU type with this engine, of such models and of any.
    pub of_model_on_gpu: u32,
    pub of_gpu_on_engine: u32,
    /// The visitor's own runs that share something with it, not included in the others.
    pub own: u32,
}

impl Calibration {
    /// The measured runs most similar to a configuration, each with the prior share (0..1) of the step-time error
    /// common to both.
    pub fn like(&self, at: &ConfigPoint) -> Vec<(f64, &KnownRun)> {
        let at = at.place();
        let likeness = |known: &KnownRun| {
            let pair = PlacePair::of(&at, &known.place);
            let [prefill, decode, _] = self.prior.each_ref().map(|of| of.between(&pair) / of.variance());
            f64::midpoint(prefill, decode)
        };
        let all = self.known.iter().map(|known| (likeness(known), known));
        let mut like: Vec<(f64, &KnownRun)> = all.filter(|(likeness, _)| *likeness > 0.0).collect();
        like.order_by(|(one, _), (other, _)| other.total_cmp(one));
        like
    }

    /// How many runs support the prediction of a configuration.
    pub fn support(&self, at: &ConfigPoint, own: &[KnownRun]) -> Support {
        let at = at.place();
        let agree: Vec<Labels> = self.known.iter().map(|known| at.agree(&known.place)).collect();
        let count = |labels: &[Label]| {
            let labels: Labels = labels.iter().copied().collect();
            agree.iter().filter(|agree| agree.contain(labels)).count() as u32
        };
        Support {
            of_model_on_engine: count(&[Label::Shape, Label::Engine]),
            of_model: count(&[Label::Shape]),
            of_model_on_gpu: count(&[Label::Shape, Label::Gpu, Label::Engine]),
            of_gpu_on_engine: count(&[Label::Gpu, Label::Engine]),
            own: own.iter().filter(|known| at.agree(&known.place).contain(self.required())).count() as u32,
        }
    }
}
