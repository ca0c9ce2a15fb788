//! The kernels of a layer in execution order: a graph for each kind of layer in the model.

use super::{Block, Row, Span, Study, refused};
use crate::config::model::{Attention, Blocks, Ffn};
use crate::graph::{self, Phase};
use crate::latency::Provenance;
use crate::serving::report::PassReport;
use crate::serving::{LayerCall, LayerKernels, layers, plan};
use crate::study::words;
use crate::units::{Seconds, count, percent};

/// Most of a request's time is decode.
pub const CHOICES: [(&str, &str); 2] = [("decode", "Decode"), ("prefill", "Prefill")];

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    let phase = if study.chosen == "prefill" { Phase::Prefill } else { Phase::Decode };
    let (Some(setup), Some(pass)) = (own.setup(), own.pass(phase)) else {
        let refused = refused(own.issues());
        let none = "No decode step: prefill gives each request's only token.";
        return if refused.is_empty() { vec![Block::text(none)] } else { refused };
    };
    let Ok((plan, _)) = plan(setup) else { return refused(own.issues()) };
    let kinds: Vec<LayerKernels> =
        layers(&plan, pass).into_iter().filter(|layer| !layer.calls.is_empty()).collect();
    let mut blocks = vec![Block::text(format!(
        "A {} step takes {}. Shares are of the whole step, over all layers of a kind. Click a kernel for its formula.",
        pass.phase.id(),
        pass.time.print(),
    ))];
    for (index, layer) in kinds.iter().enumerate() {
        blocks.push(Block::heading(heading(layer, pass)));
        blocks.extend(graph(index, layer, pass));
    }
    let inside: Seconds = kinds.iter().flat_map(|layer| &layer.calls).map(|call| call.time).sum();
    let around = (pass.time - inside).max(Seconds::ZERO);
    let has = |of: graph::Block| pass.kernels.iter().any(|line| line.block == of);
    let others = [
        (has(graph::Block::Encoder), ", the vision encoder"),
        (has(graph::Block::Drafting), ", the drafting layer"),
        (setup.parallel.pp > 1, ", transfers between stages"),
    ];
    let others = others.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect::<Vec<_>>();
    blocks.push(Block::text(format!(
        "Outside the layers: {} of the step, {}, for the embedding, the LM head, sampling{} and the host.",
        percent(around / pass.time),
        around.print(),
        others.concat(),
    )));
    blocks
}

/// `58 layers of latent attention and experts: 91 % of the step, 310 µs each`.
fn heading(layer: &LayerKernels, pass: &PassReport) -> String {
    let time: Seconds = layer.calls.iter().map(|call| call.time).sum();
    let number = layer.of.count;
    let (layers, each) = if number == 1 { ("layer", "") } else { ("layers", " each") };
    format!(
        "{} {layers} of {}: {} of the step, {}{each}",
        count(f64::from(number)),
        kind(&layer.of),
        percent(time / pass.time),
        (time * (1.0 / f64::from(number.max(1)))).print(),
    )
}

fn kind(of: &Blocks) -> String {
    let attention = of.attention.as_ref().map(|attention| match attention {
        Attention::Gqa(gqa) => match gqa.window {
            Some(window) => format!("attention in a window of {}", count(f64::from(window))),
            None => "attention".into(),
        },
        Attention::Mla(mla) if mla.indexer.is_some() => "sparse latent attention".into(),
        Attention::Mla(_) => "latent attention".into(),
        Attention::Delta(_) => "gated delta rule".into(),
        Attention::Mamba(_) => "Mamba".into(),
        Attention::Compressed(_) => "compressed attention".into(),
    });
    let ffn = of.ffn.as_ref().map(|ffn| match ffn {
        Ffn::Dense(_) => "MLP".to_owned(),
        Ffn::Moe(_) => "experts".to_owned(),
    });
    attention.into_iter().chain(ffn).collect::<Vec<_>>().join(" and ")
}

/// A table for each part of the layer, which the page shows as connected nodes.
fn graph(index: usize, layer: &LayerKernels, pass: &PassReport) -> Vec<Block> {
    let node = |call: &LayerCall| {
        let kernel = &pass.kernels[call.line];
        let overlapped = if kernel.provenance == Provenance::Overlapped { ", overlapped" } else { "" };
        Row::new(vec![
            Span::link(words::kernel(kernel.name), format!("view:explain/{}", pass.kernel_id(call.line))),
            format!("{}{overlapped}", kernel.name).into(),
            percent(call.time / pass.time).to_string().into(),
            Span::link(words::bound(kernel), format!("class:{}", words::colour(kernel.limit))),
        ])
    };
    let part = |calls: &[LayerCall]| {
        let part = words::block(calls[0].part);
        let head = [part, "Name in a profile", "Of the step", "Bound by"];
        let id = format!("layer-{index}-{}", part.to_ascii_lowercase());
        Block::table(format!("{part} of {}", kind(&layer.of)), &head, calls.iter().map(node)).called(&id)
    };
    layer.calls.chunk_by(|a, b| a.part == b.part).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::efficiency::Efficiencies;
    use crate::study::Content;
    use crate::study::Topic;

    /// The headings, and the kernels under each.
    fn graphs(link: &str, of: &str) -> Vec<(String, Vec<String>)> {
        let mut study = Study::new(Topic::Layers, of, link, "");
        while study.step(|_| Ok(Efficiencies::Roofline)).expect("answered") {}
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for block in blocks(&study) {
            match (block.content, all.last_mut()) {
                (Content::Heading, _) => all.push((block.name, Vec::new())),
                (Content::Table(table), Some((_, names))) => {
                    names.extend(table.rows.into_iter().map(|row| row.cells[1].text.clone()));
                }
                _ => {}
            }
        }
        all
    }

    #[test]
    fn each_kind_of_layer_has_its_graph() {
        let all = graphs("v=1&m=deepseek-r1&g=b200&tp=8&c=64", "decode");
        assert_eq!(all.len(), 2);
        assert!(all[0].0.starts_with("3 layers of latent attention and MLP: "), "{}", all[0].0);
        assert!(all[1].0.starts_with("58 layers of latent attention and experts: "), "{}", all[1].0);
        assert!(all[1].1.contains(&"fused_moe".to_owned()));
        let hybrid = graphs("v=1&m=qwen3-next-80b-a3b-thinking&tp=4&c=16", "prefill");
        assert_eq!(hybrid.len(), 2);
        assert!(hybrid.iter().any(|(_, names)| names.contains(&"delta_rule_prefill".to_owned())));
    }

    #[test]
    fn a_recurrence_is_no_attention_and_an_ungated_mlp_has_no_gate() {
        let mut study = Study::new(Topic::Layers, "decode", "v=1&m=nemotron-h-56b-base-8k&tp=8&c=16", "");
        while study.step(|_| Ok(Efficiencies::Roofline)).expect("answered") {}
        let names: Vec<String> = blocks(&study).into_iter().map(|block| block.name).collect();
        assert!(names.contains(&"Recurrence of Mamba".to_owned()), "{names:?}");
        assert!(names.contains(&"Attention of attention".to_owned()), "{names:?}");
        let all = graphs("v=1&m=nemotron-h-56b-base-8k&tp=8&c=16", "decode");
        let of_mlp = all.iter().find(|(heading, _)| heading.contains("of MLP")).expect("a layer of an MLP");
        assert_eq!(of_mlp.1, ["post_norm", "up_proj", "activation", "down_proj", "all_reduce"]);
    }

    #[test]
    fn kernels_stand_in_their_order() {
        let all = graphs("v=1&m=qwen3-32b&tp=2&c=64", "decode");
        assert_eq!(
            all[0].1,
            [
                "input_norm",
                "qkv_proj",
                "qk_norm",
                "rope",
                "attention_decode",
                "o_proj",
                "all_reduce",
                "post_norm",
                "gate_up_proj",
                "silu_and_mul",
                "down_proj",
                "all_reduce",
            ]
        );
    }
}
