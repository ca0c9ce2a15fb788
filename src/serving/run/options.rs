//! How a load is simulated.

use super::{Hosted, Run};
use crate::calibration::Factors;

/// How a load is simulated: at step times multiplied by these factors, and whether without what only a run that is
/// shown needs, its timeline and the intervals between tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunOptions<'a> {
    pub factors: Factors,
    pub in_brief: bool,
    /// Requests of a replica at a rate, if another run decides: with other requests the runs would differ by chance too.
    pub requests: Option<u32>,
    /// Step times at the physics, whose cached lookups several runs share.
    pub steps: &'a Hosted<'a>,
}

impl<'a> RunOptions<'a> {
    /// A run that decides by itself how many requests it needs.
    pub fn new(factors: Factors, in_brief: bool, steps: &'a Hosted<'a>) -> Self {
        Self { factors, in_brief, requests: None, steps }
    }

    /// In brief, with the requests of `other`.
    pub fn beside(self, other: &Run) -> Self {
        Self { in_brief: true, requests: Some(other.requests), ..self }
    }
}
