//! The images of prompts, encoded in the step in which the prompts begin.
//!
//! Engines encode an image in the step of its first token, which is assumed to be the prompt's first step: vLLM V1
//! within the step, SGLang and TensorRT-LLM right before it. A cached prefix is assumed to contain no image, except for
//! the earlier turns of a session.

use super::{PlannedStep, layout};
use crate::config::{MissingFigure, Setup};
use crate::efficiency::Rows;
use crate::graph::{Batch, Call, encoder, pass};

impl PlannedStep {
    /// One pass of `batch`, whose sequences all begin: first come the calls that encode their images.
    pub fn beginning(setup: &Setup, batch: Batch, rows: &mut Rows) -> Result<Self, MissingFigure> {
        let mut calls = encoding(setup, batch.count());
        calls.extend(pass(&setup.model, &layout(setup), &batch));
        Self::of_calls(calls, setup, batch, rows)
    }

    /// Only the calls that encode the images of one prompt: none without images.
    pub fn of_images(setup: &Setup, rows: &mut Rows) -> Result<Self, MissingFigure> {
        Self::of_calls(encoding(setup, 1), setup, Batch::default(), rows)
    }
}

fn encoding(setup: &Setup, prompts: u64) -> Vec<Call> {
    let vision = setup.model.vision.as_ref().filter(|_| setup.workload.images > 0);
    vision.map_or_else(Vec::new, |vision| {
        let images = prompts * u64::from(setup.workload.images);
        encoder(vision, &layout(setup), images, u64::from(setup.image_tokens))
    })
}
