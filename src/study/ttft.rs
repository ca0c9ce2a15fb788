//! What the mean TTFT of a run consists of.

use crate::calibration::Factors;
use crate::config::Setup;
use crate::graph::Block;
use crate::serving::replica::admission;
use crate::serving::report::{Headline, KernelLine, PassReport};
use crate::units::Seconds;

/// Times that add up to the mean TTFT.
pub struct TtftParts {
    /// The vision encoder's.
    pub images: Seconds,
    /// The rest of the request's own prompt, if it had a step to itself.
    pub prompt: Seconds,
    /// Until the request has reached the scheduler.
    pub server: Seconds,
    pub queue: Seconds,
    /// What other requests in the same steps add.
    pub shared: Seconds,
}

impl TtftParts {
    /// The parts for a run under load, from its prefill pass alone and the `factors` that calibrate the run.
    pub fn of(setup: &Setup, headline: &Headline, prefill: Option<&PassReport>, factors: Factors) -> Self {
        let step = |time: Seconds| time * (factors.prefill * factors.wait);
        let images = step(prefill.map_or(Seconds::ZERO, |pass| encoder(pass, |line| line.time)));
        let alone = step(prefill.map_or(Seconds::ZERO, |pass| pass.time)).min(headline.ttft);
        let rest = headline.ttft - alone;
        let server = (admission(&setup.engine.host, setup.mean_prompt()) * factors.wait).min(rest);
        // Little's law: the number waiting is the arrival rate times the waiting time, which begins at the server.
        let in_flight = headline.running + headline.waiting;
        let queued = headline.e2e * (headline.waiting / in_flight);
        // Preempted sequences, and those between pools, also wait after their first token.
        let queue = (queued - server).min(rest - server).max(Seconds::ZERO);
        Self { images, prompt: alone - images, server, queue, shared: rest - server - queue }
    }
}

/// All launches of the vision encoder in a step.
pub fn encoder(pass: &PassReport, of: fn(&KernelLine) -> Seconds) -> Seconds {
    let lines = pass.kernels.iter().filter(|line| line.block == Block::Encoder);
    lines.map(|line| of(line) * line.count as f64).sum()
}
