//! The smallest change that makes a setup fit in memory.

use super::fit::Demand;
use super::memory::memory;
use crate::config::check::{divides, weight_formats};
use crate::config::{Dtype, Load, MissingFigure, Parallelism, Setup, Usage};
use crate::units::{Bytes, decimal};

/// The smallest change that makes `setup` fit, in words.
pub(super) fn smallest_change(setup: &Setup, demand: &Demand) -> Result<String, MissingFigure> {
    const NONE: &str = "No single change of memory share, TP, PP or weight format makes it fit: use more GPUs, or GPUs with more memory.";
    let now = setup.parallel;
    Ok(fitting(setup, demand)?.map_or(NONE.into(), |fits| {
        let over = |nodes: u32| if nodes > 1 { format!(", over {nodes} nodes") } else { String::new() };
        match fits.parallel {
            parallel if parallel.tp != now.tp => {
                let experts =
                    if parallel.ep == now.ep { String::new() } else { format!(" with EP {}", parallel.ep) };
                format!("TP {}{experts} fits{}.", parallel.tp, over(fits.nodes()))
            }
            parallel if parallel.pp != now.pp => format!("PP {} fits{}.", parallel.pp, over(fits.nodes())),
            _ if fits.weights != setup.weights => format!("{} weights fit.", fits.weights.name()),
            _ => {
                format!("A memory share of {}, the engine's default, fits.", decimal(fits.memory_share))
            }
        }
    }))
}

/// The setup with the smallest single change with which it fits: the engine's own memory share, tensor parallelism up to 8,
/// FP8, pipeline stages, a format in four bits, or tensor parallelism beyond. `None` if there is none.
pub fn fitting(setup: &Setup, demand: &Demand) -> Result<Option<Setup>, MissingFigure> {
    let fits = |trial: &Setup| -> Result<bool, MissingFigure> {
        let memory = memory(trial, demand)?;
        let needed = match trial.workload.load {
            Load::Batch(_) => demand.kv_tokens,
            _ => demand.sequence_tokens * f64::from(trial.parallel.dp),
        };
        Ok(memory.kv_room > Bytes::ZERO && memory.kv_tokens >= needed)
    };
    let with = |change: &dyn Fn(&mut Setup)| {
        let mut trial = setup.clone();
        change(&mut trial);
        trial
    };
    let usage = Usage::of(setup.parallel, &setup.workload);
    let (tokens, graph) = (f64::from(setup.token_budget), Some(setup.largest_graph));
    let usual = setup.engine.scheduler.share_on(&setup.gpu, (setup.parallel, usage), tokens, graph).0;
    let usual = usual.filter(|share| *share > setup.memory_share);
    if let Some(memory_share) = usual {
        let trial = with(&|trial| trial.memory_share = memory_share);
        if fits(&trial)? {
            return Ok(Some(trial));
        }
    }
    let now = setup.parallel;
    // If the layout can run and fits.
    let layout = |parallel: Parallelism| {
        let trial = with(&|trial| trial.parallel = parallel);
        let joined = trial.nodes() == 1 || setup.gpu.network_bandwidth().is_ok();
        let found = joined && divides(&trial) && fits(&trial)?;
        Ok(found.then_some(trial))
    };
    let wider = |tp: u32| now.with_tp(tp);
    let domain = setup.gpu.link.domain;
    for parallel in [2, 4, 8].into_iter().filter(|&tp| tp > now.tp).map(wider) {
        if parallel.gpus() <= domain
            && let Some(found) = layout(parallel)?
        {
            return Ok(Some(found));
        }
    }
    let narrowed = |weights: Dtype| {
        let Setup { gpu, engine, model, .. } = setup;
        let narrower = engine.serves(weights, model, gpu) && weights.bytes() < setup.weights.bytes();
        let formats = engine.formats_of(model, weights, gpu.arch);
        let trial = with(&|trial| (trial.weights, trial.formats) = (weights, formats));
        Ok((narrower && divides(&trial) && fits(&trial)?).then_some(trial))
    };
    if let Some(found) = narrowed(Dtype::Fp8)? {
        return Ok(Some(found));
    }
    // Pipeline stages exchange little, so they suit several nodes if one is too small.
    for pp in [2, 3, 4, 8].into_iter().filter(|&pp| pp > now.pp && pp <= setup.model.layers()) {
        if let Some(found) = layout(Parallelism { pp, ..now })? {
            return Ok(Some(found));
        }
    }
    // Checkpoints in four bits lose more, so they come last.
    for &weights in weight_formats(&setup.model) {
        if weights.bytes() < Dtype::Fp8.bytes()
            && let Some(found) = narrowed(weights)?
        {
            return Ok(Some(found));
        }
    }
    for parallel in [16, 32].into_iter().filter(|&tp| tp > now.tp).map(wider) {
        if let Some(found) = layout(parallel)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Issue, catalog, check, link};

    #[test]
    fn what_is_suggested_can_be_started() {
        for (text, wanted) in [
            ("m=glm-4.6&g=h100-sxm&tp=4&w=fp8_block", "PP 2 fits."),
            ("m=qwen3-235b-a22b&g=l40s&tp=4&w=fp8_block", "PP 2 fits."),
            ("m=deepseek-r1&g=h200-sxm&dp=2&ep=2&e=trtllm", "PP 3 fits."),
            ("m=deepseek-r1&g=h200-sxm&dp=2&ep=2", "TP 4 with EP 8 fits."),
            ("m=qwen3-32b&mem=0.7", "A memory share of 0.92, the engine's default, fits."),
        ] {
            let (link, _) = link::decode(text);
            let mut scenario = link.scenario;
            let setup = check(&scenario, catalog()).0.expect(text);
            let demand = Demand::of(&setup);
            assert_eq!(smallest_change(&setup, &demand).expect(text), wanted, "{text}");
            let found = fitting(&setup, &demand).expect(text).expect(text);
            (scenario.parallel, scenario.weights) = (found.parallel, Some(found.weights));
            scenario.overrides.memory_share = Some(found.memory_share);
            let (_, issues) = check(&scenario, catalog());
            assert!(!issues.iter().any(Issue::is_error), "{text}: {:?}: {issues:?}", found.parallel);
        }
    }
}
