//! A model's linear layers by their names in checkpoints.

use super::family::{Mixers, ModelFamily};
use super::layers::ImportedLayer;
use crate::config::model::{Attention, Class, Ffn, Gates, GqaTrait};

/// One linear layer; the first expert stands for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    pub class: Class,
    /// From `layers.` on.
    pub name: String,
}

const GATED: [&str; 3] = ["gate_proj", "up_proj", "down_proj"];
const PLAIN: [&str; 2] = ["up_proj", "down_proj"];

/// Every linear layer of every decoder layer.
pub fn of(layers: &[ImportedLayer], family: &ModelFamily) -> Vec<Module> {
    let mut modules = Vec::new();
    for (index, layer) in layers.iter().enumerate() {
        // Two modules that are counted separately are one in the checkpoint.
        let index = if family.mixers == Mixers::ParallelMamba { index / 2 } else { index };
        let mut add = |class: Class, within: &str, names: &[&str]| {
            let dot = if within.is_empty() { "" } else { "." };
            let full = names.iter().map(|name| format!("layers.{index}.{within}{dot}{name}"));
            modules.extend(full.map(|name| Module { class, name }));
        };
        if let Some(attention) = &layer.attention {
            let (within, names) = mixer(attention, family);
            add(Class::Attention, within, &names);
        }
        let projections: &[&str] = if family.gated { &GATED } else { &PLAIN };
        let mlp = match family.mixers {
            Mixers::Single => "mixer",
            Mixers::Chunks => "feed_forward",
            _ => "mlp",
        };
        match (&layer.ffn, &family.experts) {
            (Some(Ffn::Dense(_)), _) => add(Class::Mlp, mlp, projections),
            (Some(Ffn::Moe(moe)), Some(experts)) => {
                let (routed, shared) = &experts.modules;
                let first = format!("{routed}.0");
                // Mixtral's names.
                let names: &[&str] =
                    if routed.contains("sparse") { &["w1", "w3", "w2"] } else { projections };
                add(Class::Experts, &first, names);
                if moe.shared.is_some() {
                    add(Class::Shared, shared, projections);
                }
                if moe.beside.is_some() {
                    add(Class::Mlp, mlp, projections);
                }
            }
            (Some(Ffn::Moe(_)), None) | (None, _) => {}
        }
    }
    modules
}

fn mixer(attention: &Attention, family: &ModelFamily) -> (&'static str, Vec<&'static str>) {
    match attention {
        Attention::Gqa(gqa) => {
            let mut names = vec!["q_proj", "k_proj"];
            if !gqa.has(GqaTrait::ValuesFromKeys) {
                names.push("v_proj");
            }
            names.push("o_proj");
            let within = match family.mixers {
                Mixers::Single => "mixer",
                _ if gqa.has(GqaTrait::Cross) => "cross_attn",
                _ => "self_attn",
            };
            (within, names)
        }
        Attention::Mla(mla) => {
            let mut names = match mla.query_rank {
                Some(_) => vec!["q_a_proj", "q_b_proj"],
                None => vec!["q_proj"],
            };
            names.extend(["kv_a_proj_with_mqa", "kv_b_proj", "o_proj"]);
            if mla.gated() {
                names.push("g_proj");
            }
            if mla.indexer.is_some_and(|indexer| indexer.borrowed != Some(true)) {
                names.extend(["indexer.wq_b", "indexer.wk"]);
            }
            ("self_attn", names)
        }
        Attention::Delta(delta) => match delta.gates {
            Gates::PerHead => ("linear_attn", vec!["in_proj_qkv", "in_proj_z", "out_proj"]),
            Gates::PerChannel => {
                ("self_attn", vec!["q_proj", "k_proj", "v_proj", "f_a_proj", "f_b_proj", "g_proj", "o_proj"])
            }
        },
        Attention::Mamba(_) => ("mixer", vec!["in_proj", "out_proj"]),
        Attention::Compressed(compressed) => {
            let mut names = vec!["wq_a", "wq_b", "wkv", "wo_a", "wo_b"];
            if compressed.indexer.is_some() {
                names.push("indexer.wq_b");
            }
            ("attn", names)
        }
    }
}
