//! Copies of recurrent states.

use super::Work;
use crate::config::catalog::physics;
use crate::config::model::{Attention, Blocks};
use crate::config::{MissingFigure, Setup, StateCopies};
use crate::units::{Bytes, Seconds};

/// What the steps that copy states take longer for it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Copies {
    /// Per decoding sequence.
    each: Seconds,
    /// Whether every step copies states, rather than only those with prompts.
    in_every_step: bool,
}

impl Copies {
    pub fn of(setup: &Setup) -> Result<Self, MissingFigure> {
        let (rounds, in_every_step) = match (setup.engine.copies_states, setup.workload.drafts.drafted) {
            // Gathered before and scattered after.
            (StateCopies::Mixed, 0) => (2.0, false),
            (StateCopies::Verified, 1..) => (1.0, true),
            _ => return Ok(Self::default()),
        };
        let of = |blocks: &Blocks| match &blocks.attention {
            Some(Attention::Delta(delta)) => f64::from(blocks.count) * delta.state(),
            Some(Attention::Mamba(mamba)) if in_every_step => f64::from(blocks.count) * mamba.state(),
            _ => 0.0,
        };
        let states = setup.model.blocks.iter().map(of).sum::<f64>() / f64::from(setup.parallel.tp);
        // Read and written.
        let moved = Bytes(rounds * 2.0 * f64::from(setup.state_bytes) * states);
        Ok(Self { each: moved / (setup.gpu.bandwidth()? * physics().streaming_share), in_every_step })
    }

    pub fn in_step(&self, work: &Work) -> Seconds {
        let copied = self.in_every_step || work.prompts.is_some();
        if copied { self.each * work.decoding } else { Seconds::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Prompts;
    use super::*;
    use crate::config::{Drafts, ModelChoice, Scenario, catalog, check};

    fn per_sequence(engine: &str, drafted: u32, beside_prompts: bool) -> f64 {
        let mut scenario = Scenario {
            model: ModelChoice::Catalog("qwen3.5-27b".into()),
            engine: engine.into(),
            ..Scenario::default()
        };
        scenario.workload.drafts = Drafts { drafted, accepted: 0.0 };
        let setup = check(&scenario, catalog()).0.expect("sound");
        let prompts = beside_prompts.then_some(Prompts { new: 64.0, past: 0.0, count: 1.0 });
        let work = Work { decoding: 2.0, prompts, ..Work::default() };
        let copied = Copies::of(&setup).expect("complete").in_step(&work);
        copied.0 / 2.0 * setup.gpu.bandwidth().expect("known").0 * physics().streaming_share
    }

    #[test]
    fn engines_copy_states_at_different_times() {
        let state = 48.0 * 48.0 * 128.0 * 128.0 * 4.0;
        let close = |bytes: f64, states: f64| assert!((bytes - states * state).abs() < 1.0, "{bytes}");
        // Gathered and scattered beside prompts; or the accepted one to the sequence's own.
        for (engine, drafted, alone, beside) in
            [("vllm", 0, 0.0, 4.0), ("vllm", 3, 0.0, 0.0), ("sglang", 0, 0.0, 0.0), ("sglang", 3, 2.0, 2.0)]
        {
            close(per_sequence(engine, drafted, false), alone);
            close(per_sequence(engine, drafted, true), beside);
        }
    }
}
