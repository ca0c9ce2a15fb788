//! What a request's first token takes without any other request.

use super::{RunOptions, Runner};
use crate::calibration::Factors;
use crate::serving::sim::{Arrivals, Request};
use crate::units::Seconds;

/// Times of a request of mean length, in sessions a first one, that has the system to itself.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Alone {
    pub ttft: Seconds,
    /// The part without a slot: at the server and, with pools, during the handover.
    pub waiting: Seconds,
    /// Handing over a prefilled prompt to a decode replica, until its first token there.
    pub hand_over: Seconds,
}

impl Runner {
    /// A request alone, at step times multiplied by `factors`; `None` if it cannot be served.
    pub fn without_others(&self, factors: Factors) -> Option<Alone> {
        let workload = &self.setup.workload;
        let prompt = workload.isl.first();
        let steps = self.steps();
        let options = RunOptions::new(factors, true, &steps);
        // An answer of one token is not handed over.
        let ttft_of = |output: u32| {
            let requests = [Request::new(prompt, output.min(workload.osl))];
            let (outcome, _) = self.outcome(&requests, &Arrivals::Closed { clients: 1 }, options).ok()?;
            Some((Seconds(outcome.requests.first()?.ttft()), Seconds(outcome.queued)))
        };
        let ((prefilled, _), (ttft, waiting)) = (ttft_of(1)?, ttft_of(2)?);
        Some(Alone { ttft, waiting, hand_over: ttft - prefilled })
    }
}
