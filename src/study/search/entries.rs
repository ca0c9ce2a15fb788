//! What the search lists, with a link for each.

use crate::config::TP_IN_NODE;

use crate::config::inputs::reset;
use crate::config::model::Attention;
use crate::config::{Dtype, Field, Gpu, Model, ModelChoice, Scenario, catalog};
use crate::study::panel::{self, Panel};
use crate::study::presets::{number, presets, text};
use crate::study::{Row, Span, Study, edit, glossary, words};
use crate::units::{Dollars, count};

/// A searchable entry.
pub struct Entry {
    pub kind: &'static str,
    pub name: String,
    pub facts: String,
    pub link: String,
}

impl From<Entry> for Row {
    fn from(entry: Entry) -> Self {
        Self::new(vec![Span::link(entry.name, entry.link), entry.facts.into(), entry.kind.into()])
    }
}

/// Everything that can be searched for.
pub fn entries(study: &Study) -> Vec<Entry> {
    let with = |kind, name: &str, facts: String, edit: &dyn Fn(&mut Scenario)| {
        let mut scenario = study.link.scenario.clone();
        edit(&mut scenario);
        Entry { kind, name: name.into(), facts, link: study.link_to(&scenario) }
    };
    let mut all = Vec::new();
    for (name, of) in presets("workloads") {
        let [isl, osl, prompts] = ["isl", "osl", "offline"].map(|key| number(of, key) as u32);
        all.push(with(
            "Workload",
            name,
            format!("{isl} in, {osl} out. {}", text(of, "source")),
            &|scenario| {
                scenario.use_workload((isl, osl, number(of, "cached_share")), prompts);
            },
        ));
    }
    for (name, of) in presets("limits") {
        let [ttft_ms, tpot_ms] = ["ttft_ms", "tpot_ms"].map(|key| number(of, key));
        let facts = format!("TTFT {} ms, TPOT {} ms. {}", count(ttft_ms), count(tpot_ms), text(of, "source"));
        all.push(with("Limits", name, facts, &|scenario| {
            scenario.workload.slos.ttft_ms = Some(ttft_ms);
            scenario.workload.slos.tpot_ms = Some(tpot_ms);
        }));
    }
    for (name, of) in presets("configurations") {
        let (name, facts, link) = (name.into(), text(of, "about").into(), format!("#{}", text(of, "link")));
        all.push(Entry { kind: "Configuration", name, facts, link });
    }
    for (panel, name) in panel::all() {
        let facts = match panel {
            Panel::Overview => "Latency against load, memory, the simulated run",
            Panel::Roofline => "Every kernel of prefill and decode under its roofs",
            Panel::Study(topic) => topic.view().about,
        };
        let (facts, link) = (facts.into(), format!("view:{}", panel.id()));
        all.push(Entry { kind: "View", name: name.into(), facts, link });
    }
    for model in &catalog().models.models {
        all.push(with("Model", &model.name, of_model(model), &|scenario| {
            scenario.model = ModelChoice::Catalog(model.id.clone());
            scenario.weights = None;
            reset(scenario, Field::Model);
        }));
    }
    for gpu in &catalog().gpus.gpus {
        all.push(with("GPU", &gpu.name, of_gpu(gpu), &|scenario| scenario.put_on(&gpu.id)));
    }
    for engine in &catalog().engines.engines {
        let facts = format!("Defaults of {}", engine.version);
        all.push(with("Engine", &engine.name, facts, &|scenario| scenario.run_by(&engine.id)));
    }
    all.extend(terms());
    for field in Field::ALL {
        let input = field.input();
        if input.place.is_some() && input.is_shown(&study.link.scenario) {
            let (facts, link) = (input.help.into(), format!("input:{}", field.id()));
            all.push(Entry { kind: "Input", name: input.label.into(), facts, link });
        }
    }
    for tp in TP_IN_NODE {
        let name = format!("Tensor parallel {tp}");
        all.push(with("Setting", &name, "TP".into(), &|scenario| edit::tp(scenario, tp)));
    }
    all
}

/// The terms of the glossary, linked to where the page shows them.
fn terms() -> impl Iterator<Item = Entry> {
    glossary::rows().map(|(name, meaning)| {
        let shown = match name.split(", ").next().unwrap_or(name) {
            "TTFT" => "explain/ttft",
            "TPOT" | "ITL" => "explain/tpot",
            "E2E" => "explain/e2e",
            "cost per M output tokens" => "explain/cost",
            "output" | "output per user" | "output per GPU" | "goodput" => "explain/throughput",
            "KV cache" => "explain/memory",
            "roofline" | "MFU" | "MBU" => "roofline",
            "ceiling" | "efficiency" => "headroom",
            "80 % band" => "evidence",
            "prefill" | "decode" => "breakdown",
            _ => "explain",
        };
        let link = format!("view:{shown}");
        Entry { kind: "Term", name: name.into(), facts: meaning.into(), link }
    })
}

/// `70.6 B, GQA, BF16, context 131072`.
pub fn of_model(model: &Model) -> String {
    let billions = |parameters: f64| format!("{} B", count(parameters / 1e9));
    let mut facts = vec![billions(model.parameters())];
    if model.has_experts() {
        facts.push(format!("{} active", billions(model.active_parameters())));
    }
    let mut kinds: Vec<&str> = Vec::new();
    for attention in model.attentions() {
        let kind = match attention {
            Attention::Gqa(_) => "GQA",
            Attention::Mla(mla) if mla.indexer.is_some() => "sparse MLA",
            Attention::Mla(_) => "MLA",
            Attention::Delta(_) => "gated delta net",
            Attention::Mamba(_) => "Mamba",
            Attention::Compressed(_) => "compressed attention",
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    facts.push(kinds.join(" and "));
    facts.push(model.weights.name().into());
    facts.push(format!("context {}", count(f64::from(model.max_context))));
    facts.join(", ")
}

/// `Hopper, 80.0 GiB, 3.35 TB/s, BF16 989 TFLOP/s, $2.50 per hour`.
pub fn of_gpu(gpu: &Gpu) -> String {
    let mut facts = vec![words::arch(gpu.arch).to_owned()];
    facts.extend(gpu.memory().ok().map(|memory| memory.print().to_string()));
    facts.extend(gpu.bandwidth().ok().map(|bandwidth| bandwidth.print().to_string()));
    facts.extend(gpu.peak(Dtype::Bf16).ok().map(|peak| format!("BF16 {}", peak.print())));
    facts.extend(gpu.dollars_per_hour.0.map(|price| format!("{} per hour", Dollars(price).print())));
    facts.extend((!catalog().is_served(gpu)).then(|| "no engine has known kernels for it".into()));
    facts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_without_kernels_says_so() {
        let facts = |id| of_gpu(catalog().gpu(id).expect("in the catalog"));
        assert!(facts("t4").ends_with("no engine has known kernels for it"), "{}", facts("t4"));
        assert!(!facts("l4").contains("no engine"), "{}", facts("l4"));
    }

    #[test]
    fn presets_have_what_their_entries_say() {
        let has = |kind: &str, numbers: &[&str], texts: &[&str]| {
            assert!(presets(kind).count() > 3, "{kind}");
            for (name, of) in presets(kind) {
                assert!(!name.is_empty() && texts.iter().all(|key| !text(of, key).is_empty()), "{of}");
                assert!(numbers.iter().all(|key| number(of, key) > 0.0), "{of}");
            }
        };
        has("workloads", &["isl", "osl"], &["source"]);
        has("limits", &["ttft_ms", "tpot_ms"], &["source"]);
        has("configurations", &[], &["about"]);
        assert!(presets("configurations").all(|(_, of)| text(of, "link").starts_with("v=1&")));
    }
}
