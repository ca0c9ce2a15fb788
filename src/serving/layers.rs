//! The launches of each kind of layer, in order.

use crate::config::model::Blocks;
use crate::graph::{Block, Call};
use crate::units::Seconds;

use super::plan::Plan;
use super::report::PassReport;
use super::step;

/// A kind of layer in one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerKernels {
    pub of: Blocks,
    /// The layer's kernel calls, in order.
    pub calls: Vec<LayerCall>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerCall {
    /// The part of the layer that the call belongs to; communication belongs to the part whose result it sums.
    pub part: Block,
    /// Index of the call's line in the report of the pass.
    pub line: usize,
    /// Launches over all layers of the kind.
    pub count: u64,
    /// Time of these launches.
    pub time: Seconds,
}

/// The kinds of layers of the model in `pass` of the report of `plan`.
pub fn layers(plan: &Plan, pass: &PassReport) -> Vec<LayerKernels> {
    let Some((setup, planned)) = plan.step_of(pass) else { return Vec::new() };
    let kinds = step::layers(setup, &planned.batch);
    let layer = |(of, calls): (&Blocks, Vec<Call>)| {
        let experts = calls.iter().any(|call| call.block == Block::Experts);
        let mut part = Block::Attention;
        let call = |call: Call| {
            let line = pass.line_of(&call)?;
            part = match call.block {
                Block::Communication => part,
                Block::Mlp if experts => Block::Experts,
                block => block,
            };
            Some(LayerCall {
                part,
                line,
                count: call.count,
                time: pass.kernels[line].time * call.count as f64,
            })
        };
        LayerKernels { of: of.clone(), calls: calls.into_iter().filter_map(call).collect() }
    };
    setup.model.blocks.iter().zip(kinds).map(layer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{catalog, check, link};
    use crate::efficiency::Efficiencies;
    use crate::serving::{finish, plan};

    #[test]
    fn the_layers_and_what_is_around_them_are_the_step() {
        for link in [
            "v=1&m=qwen3-32b&tp=2&c=64",
            "v=1&m=deepseek-r1&g=b200&tp=8&c=64",
            "v=1&m=deepseek-r1&g=b200&tp=1&dp=8&ep=8&e=trtllm&c=64",
            "v=1&m=qwen3-next-80b-a3b-thinking&tp=4&c=16",
            "v=1&m=llama-3.1-8b&b=8&osl=16",
        ] {
            let setup = check(&link::decode(link).0.scenario, catalog()).0.expect(link);
            let (plan, _) = plan(&setup).expect(link);
            let report = finish(&plan, &Efficiencies::Roofline).expect(link);
            for pass in &report.passes {
                let layers = layers(&plan, pass);
                assert_eq!(layers.len(), setup.model.blocks.len(), "{link}");
                let mut launches = vec![0; pass.kernels.len()];
                for call in layers.iter().flat_map(|layer| &layer.calls) {
                    launches[call.line] += call.count;
                }
                for (line, launched) in pass.kernels.iter().zip(launches) {
                    let around = matches!(line.block, Block::Embedding | Block::Head | Block::Drafting);
                    // The embedding's all-reduce, and the gather of logits.
                    let least = line.count - u64::from(line.block == Block::Communication);
                    assert!(around || (least..=line.count).contains(&launched), "{link}: {}", line.name);
                    assert!(!around || launched == 0, "{link}: {}", line.name);
                }
            }
        }
    }
}
