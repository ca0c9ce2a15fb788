//! The images of prompts, encoded in the step in which the prompts begin.
//!
//! Engines encode an image in the step of its first token, which is assumed to be the prompt's first step: vLLM V1
//! within the step, SGLang and TensorRT-LLM right before it. A cached prefix is assumed to contain no image, except for
//! the earlier turns of a session.

use super::{PlannedStep, layout};
use crate::config::catalog::Physics;
use crate::config::{MissingFigure, Setup};
use crate::efficiency::Rows;
use crate::graph::{Batch, Call, encoder, pass};

impl PlannedStep {
    /// One pass of `batch`, all of whose sequences start; the calls that encode their images come first.
    pub fn beginning(
        setup: &Setup,
        physics: &Physics,
        batch: Batch,
        rows: &mut Rows,
    ) -> Result<Self, MissingFigure> {
        let mut calls = encoding(setup, physics, batch.count());
        calls.extend(pass(&setup.model, &layout(setup, physics), &batch));
        Self::of_calls(calls, setup, physics, batch, rows)
    }

    /// Only the calls that encode the images of one prompt: none without images.
    pub fn of_images(setup: &Setup, physics: &Physics, rows: &mut Rows) -> Result<Self, MissingFigure> {
        Self::of_calls(encoding(setup, physics, 1), setup, physics, Batch::default(), rows)
    }
}

fn encoding(setup: &Setup, physics: &Physics, prompts: u64) -> Vec<Call> {
    let vision = setup.model.vision.as_ref().filter(|_| setup.images > 0);
    vision.map_or_else(Vec::new, |vision| {
        let images = prompts * u64::from(setup.images);
        encoder(vision, &layout(setup, physics), images, u64::from(setup.image_tokens))
    })
}
