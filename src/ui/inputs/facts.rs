//! Catalog facts about a model or GPU, in one line.

use leptos::prelude::*;

use crate::config::model::{Attention, Ffn};
use crate::config::{Dtype, Gpu, Model, Scenario};
use crate::study::words;
use crate::ui::state::State;
use crate::units::{Watts, count};

/// A fact: its short name and its value.
pub type Fact = (&'static str, String);

/// Facts of a choice, in a line that wraps.
#[component]
pub fn Facts(of: fn(&Scenario) -> Option<Vec<Fact>>) -> impl IntoView {
    let state = State::get();
    let facts = move || entries(state.form.with(|form| of(form.scenario())).unwrap_or_default());
    view! { <dl class="facts">{facts}</dl> }
}

/// Each fact as an entry of a definition list.
fn entries(facts: Vec<Fact>) -> AnyView {
    let entry = |(name, value): Fact| view! { <div><dt>{name}</dt><dd>{value}</dd></div> }.into_any();
    facts.into_iter().map(entry).collect_view().into_any()
}

pub fn of_model(model: &Model) -> Vec<Fact> {
    let mut facts = vec![
        ("parameters", billions(model.parameters())),
        ("layers", model.layers().to_string()),
        ("hidden", number(model.hidden)),
    ];
    if model.has_experts() {
        facts.insert(1, ("active", billions(model.active_parameters())));
    }
    facts.extend(distinct(model.attentions().map(attention)));
    facts.extend(distinct(model.blocks.iter().filter_map(|blocks| blocks.ffn.as_ref()).map(ffn)));
    facts.push(("vocabulary", number(model.vocab)));
    facts.push(("context", number(model.max_context)));
    facts
}

fn distinct(facts: impl Iterator<Item = Fact>) -> Vec<Fact> {
    let mut seen = Vec::new();
    for fact in facts {
        if !seen.contains(&fact) {
            seen.push(fact);
        }
    }
    seen
}

fn attention(attention: &Attention) -> Fact {
    match attention {
        Attention::Gqa(gqa) => {
            let heads = format!("{} / {} × {}", gqa.heads, gqa.kv_heads, gqa.head_dim);
            match gqa.visible() {
                Some(window) => ("local heads / KV", format!("{heads}, window {}", number(window))),
                None => ("heads / KV", heads),
            }
        }
        Attention::Mla(mla) => match mla.indexer {
            Some(indexer) => {
                ("sparse heads", format!("{}, latent {}, top {}", mla.heads, mla.latent, indexer.topk))
            }
            None => ("latent heads", format!("{}, latent {} + {}", mla.heads, mla.latent, mla.rope)),
        },
        Attention::Delta(delta) => {
            ("linear heads", format!("{} / {} × {}", delta.key_heads, delta.value_heads, delta.value_dim))
        }
        Attention::Compressed(compressed) => (
            "compressed heads",
            match compressed.ratio {
                Some(ratio) => format!("{} × {}, 1 key in {ratio}", compressed.heads, compressed.head_dim),
                None => {
                    let window = number(compressed.window);
                    format!("{} × {}, window {window}", compressed.heads, compressed.head_dim)
                }
            },
        ),
        Attention::Mamba(mamba) => {
            ("Mamba heads", format!("{} × {}, state {}", mamba.heads, mamba.head_dim, mamba.state))
        }
    }
}

fn ffn(ffn: &Ffn) -> Fact {
    match ffn {
        Ffn::Dense(dense) => ("MLP", number(dense.intermediate)),
        Ffn::Moe(moe) => {
            ("experts", format!("{} of {} × {}", moe.topk, moe.experts, number(moe.intermediate)))
        }
    }
}

pub fn of_gpu(gpu: &Gpu) -> Vec<Fact> {
    let mut facts = vec![("architecture", words::arch(gpu.arch).to_string())];
    let mut known = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    known("memory", gpu.memory().ok().map(|memory| memory.print().to_string()));
    known("memory is", gpu.host_bytes.as_ref().map(|_| "shared with the host".into()));
    known("bandwidth", gpu.bandwidth().ok().map(|rate| rate.print().to_string()));
    for (name, dtype) in [("BF16", Dtype::Bf16), ("FP8", Dtype::Fp8), ("FP4", Dtype::Nvfp4)] {
        known(name, gpu.peak(dtype).ok().map(|peak| peak.print().to_string()));
    }
    known("power", gpu.power_w.0.map(|watts| Watts(watts).print().to_string()));
    let lanes =
        gpu.link.pcie.map_or(String::new(), |[generation, lanes]| format!("{generation}.0 ×{lanes}, "));
    known(gpu.link.kind.name(), gpu.link.gb_per_s.0.map(|rate| format!("{lanes}{}\u{a0}GB/s", count(rate))));
    known("network", gpu.network_bandwidth().ok().map(|rate| rate.print().to_string()));
    facts
}

fn number(size: u32) -> String {
    count(f64::from(size))
}

/// Parameters as in model names: 8.03 B, 494 M.
fn billions(parameters: f64) -> String {
    let (scale, unit) = if parameters >= 1e9 { (1e9, "B") } else { (1e6, "M") };
    format!("{}\u{a0}{unit}", count(parameters / scale))
}
