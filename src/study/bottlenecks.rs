//! What limits a configuration, in sentences.

use super::Case;
use super::ttft::TtftParts;
use crate::config::Issue;
use crate::graph::Phase;
use crate::units::{Seconds, percent};

/// A configuration's issues, its memory, and where TTFT, TPOT and the steps spend their time.
pub fn bottlenecks(own: &Case) -> Vec<String> {
    let mut lines: Vec<String> = own.issues().iter().map(Issue::sentence).collect();
    if let Some(memory) = own.report().map(|report| &report.memory) {
        let needed = memory.kv_needed.0 / memory.kv_room.0;
        if needed.is_finite() {
            lines.push(format!(
                "Memory: weights take {} of {} usable; this load fills {} of the KV cache.",
                memory.weights.print(),
                memory.usable.print(),
                percent(needed),
            ));
        }
    }
    if let (Some(setup), Some(report), Some(headline)) = (own.setup(), own.report(), own.headline())
        && let Some(parts) = TtftParts::of(setup, report)
    {
        let handed = match parts.hand_over {
            Seconds::ZERO => String::new(),
            time => format!(", handing its KV cache to a decode replica {}", time.print()),
        };
        lines.push(format!(
            "TTFT: {} of it is spent on other requests (running steps, their prompts, waiting for a slot); prefilling the \
             prompt itself takes {}{handed}.",
            percent((parts.queue + parts.shared).0 / headline.ttft.0),
            (parts.images + parts.prompt).print(),
        ));
    }
    lines.extend(of_tpot(own));
    for phase in [Phase::Prefill, Phase::Decode] {
        lines.extend(own.pass(phase).map(|pass| pass.sentence.clone()));
    }
    lines
}

/// A sentence on how much of TPOT is not decoding, if that is much.
fn of_tpot(own: &Case) -> Option<String> {
    const MUCH: f64 = 0.25;
    let (setup, report, decode) = (own.setup()?, own.report()?, own.pass(Phase::Decode)?);
    let step = decode.time * report.decode_factor();
    let rest = 1.0 - step.0 / (report.headline.as_ref()?.tpot?.0 * setup.tokens_per_step());
    (rest > MUCH).then(|| {
        format!(
            "TPOT: {} of it is spent on other requests' prompts and larger steps; a decode step itself takes {}.",
            percent(rest),
            step.print()
        )
    })
}
