//! What the mean TTFT of a run consists of.

use crate::calibration::Factors;
use crate::config::Setup;
use crate::graph::{Block, Phase};
use crate::serving::Report;
use crate::serving::replica::admission;
use crate::serving::report::{KernelLine, PassReport};
use crate::units::Seconds;

/// Times that add up to the mean TTFT.
pub struct TtftParts {
    /// The vision encoder's.
    pub images: Seconds,
    /// The rest of the request's own prompt, if it had its steps to itself.
    pub prompt: Seconds,
    /// Time until the request has reached the scheduler.
    pub server: Seconds,
    /// Time from a prefill worker to a decode replica.
    pub hand_over: Seconds,
    pub queue: Seconds,
    /// What other requests in the same steps add.
    pub shared: Seconds,
}

impl TtftParts {
    /// The parts for a run under load; `None` for other reports.
    pub fn of(setup: &Setup, report: &Report) -> Option<Self> {
        let (headline, alone) = (report.headline.as_ref()?, report.alone?);
        let wait = report.factors().unwrap_or(Factors::NONE).wait;
        let images =
            report.pass(Phase::Prefill).map_or(Seconds::ZERO, |pass| encoder(pass, |line| line.time));
        let rest = (headline.ttft - alone.ttft).max(Seconds::ZERO);
        let own = headline.ttft - rest;
        let server = (admission(&setup.engine.host, setup.mean_prompt()) * wait).min(own);
        let hand_over = alone.hand_over.min(own - server);
        let images = (images * wait).min(own - server - hand_over);
        // Little's law: the number waiting is the arrival rate times the waiting time, which begins at the server.
        let metrics = &report.run.as_ref()?.metrics;
        let queued = headline.e2e * (metrics.waiting / metrics.in_flight);
        // Preempted sequences also wait after their first token.
        let queue = (queued - alone.waiting).min(rest).max(Seconds::ZERO);
        let prompt = own - server - hand_over - images;
        Some(Self { images, prompt, server, hand_over, queue, shared: rest - queue })
    }
}

/// All launches of the vision encoder in a step.
pub fn encoder(pass: &PassReport, of: fn(&KernelLine) -> Seconds) -> Seconds {
    let lines = pass.kernels.iter().filter(|line| line.block == Block::Encoder);
    lines.map(|line| of(line) * line.count as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{catalog, check, link};
    use crate::efficiency::Efficiencies;
    use crate::serving::{finish, plan};

    #[test]
    fn a_single_client_shares_no_step() {
        for (link, pools) in [("c=1&isl=32768&osl=16", false), ("c=1&isl=2000&osl=16&pw=1", true)] {
            let setup = check(&link::decode(link).0.scenario, catalog()).0.expect(link);
            let (plan, _) = plan(&setup).expect(link);
            let report = finish(&plan, &Efficiencies::Roofline).expect(link);
            let parts = TtftParts::of(&setup, &report).expect(link);
            let ttft = report.headline.expect(link).ttft;
            let [others, all] = [parts.shared + parts.queue, parts.prompt + parts.server + parts.hand_over];
            assert!(
                others.0 < 1e-9 * ttft.0 && (all + others).0 > 0.999_999 * ttft.0,
                "{link}: {}",
                others.0
            );
            assert_eq!(parts.hand_over > Seconds::ZERO, pools, "{link}");
        }
    }
}
