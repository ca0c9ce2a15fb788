//! Models, GPUs, engines, presets and views by words: what the page's search shows.

use std::sync::LazyLock;

use super::{Block, Row, Span, Study, Topic};
use crate::config::catalog::catalog;
use crate::config::model::Attention;
use crate::config::record::record;
use crate::config::{Gpu, Lengths, Model, ModelChoice, Scenario, json};
use crate::serving::words;
use crate::units::{Bytes, count, decimal};

/// Shown at most.
const MOST: usize = 24;
const DEGREES: [u32; 4] = [1, 2, 4, 8];

/// Workloads and limits that people ask for by name.
#[derive(Default)]
struct Presets {
    workloads: Vec<Workload>,
    limits: Vec<Limits>,
}

#[derive(Default)]
struct Workload {
    id: String,
    name: String,
    isl: u32,
    osl: u32,
    source: String,
}

#[derive(Default)]
struct Limits {
    id: String,
    name: String,
    ttft_ms: f64,
    tpot_ms: f64,
    source: String,
}

record!(Presets: workloads, limits);
record!(Workload: id, name, isl, osl, source);
record!(Limits: id, name, ttft_ms, tpot_ms, source);

static PRESETS: LazyLock<Presets> =
    LazyLock::new(|| json::read(include_str!("../../static/catalog/presets.json")).unwrap_or_default());

/// Keys of the page, and what they do.
const KEYS: [(&str, &str); 6] = [
    ("/ or Ctrl K", "search"),
    ("?", "these keys"),
    ("Esc", "close the search"),
    ("Arrows, Enter", "choose what was found"),
    ("Tab, arrows", "go through the controls; arrows move a slider or a choice"),
    ("Alt ←, Alt →", "undo and redo a choice"),
];

/// Something that may be found.
struct Entry {
    kind: &'static str,
    name: String,
    facts: String,
    link: String,
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let query = study.chosen.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut found: Vec<(u8, Entry)> =
        entries(study).into_iter().filter_map(|entry| Some((rank(&entry, &words)?, entry))).collect();
    found.sort_by_key(|(rank, _)| *rank);
    let all = found.len();
    let row = |(_, entry): (u8, Entry)| {
        Row::new(vec![Span::link(entry.name, entry.link), entry.facts.into(), entry.kind.into()])
    };
    let rows: Vec<Row> = found.into_iter().take(MOST).map(row).collect();
    let mut blocks = Vec::new();
    match rows.is_empty() {
        true => blocks.push(Block::text("Nothing is called so.")),
        false => blocks.push(Block::table("Found", &["Name", "Facts", "Kind"], rows)),
    }
    if all > MOST {
        blocks.push(Block::text(format!("{} more: another word narrows them down.", all - MOST)));
    }
    if words.is_empty() {
        let keys = KEYS.iter().map(|(key, does)| Row::texts([*key, *does])).collect();
        blocks.push(Block::table("Keys", &["Key", "Does"], keys));
    }
    blocks
}

/// Lower is better; none where a word is missing.
fn rank(entry: &Entry, words: &[&str]) -> Option<u8> {
    let name = entry.name.to_lowercase();
    let all = format!("{name} {} {}", entry.facts, entry.kind).to_lowercase();
    if !words.iter().all(|word| all.contains(word)) {
        return None;
    }
    Some(match words.first() {
        Some(first) if name.starts_with(first) => 0,
        Some(_) if words.iter().all(|word| name.contains(word)) => 1,
        _ => 2,
    })
}

fn entries(study: &Study) -> Vec<Entry> {
    let base = &study.link.scenario;
    let configured = |kind: &'static str, name: String, facts: String, edit: &dyn Fn(&mut Scenario)| {
        let mut scenario = base.clone();
        edit(&mut scenario);
        Entry { kind, name, facts, link: study.link_to(&scenario) }
    };
    let mut all = Vec::new();
    for preset in &PRESETS.workloads {
        let facts = format!("{} in, {} out. {}", preset.isl, preset.osl, preset.source);
        all.push(configured("workload", preset.name.clone(), facts, &|scenario| {
            scenario.workload.isl = Lengths::Fixed(preset.isl);
            scenario.workload.osl = preset.osl;
        }));
    }
    for preset in &PRESETS.limits {
        let facts = format!(
            "TTFT {} ms, TPOT {} ms. {}",
            decimal(preset.ttft_ms),
            decimal(preset.tpot_ms),
            preset.source
        );
        all.push(configured("limits", preset.name.clone(), facts, &|scenario| {
            scenario.workload.slos.ttft_ms = Some(preset.ttft_ms);
            scenario.workload.slos.tpot_ms = Some(preset.tpot_ms);
        }));
    }
    for (topic, name, facts) in VIEWS {
        let link = format!("view:{}", topic.map_or("overview", Topic::id));
        all.push(Entry { kind: "view", name: name.into(), facts: facts.into(), link });
    }
    for model in &catalog().models.models {
        all.push(configured("model", model.name.clone(), of_model(model), &|scenario| {
            scenario.model = ModelChoice::Catalog(model.id.clone());
            scenario.weights = None;
        }));
    }
    for gpu in &catalog().gpus.gpus {
        all.push(configured("GPU", gpu.name.clone(), of_gpu(gpu), &|scenario| {
            scenario.gpu.clone_from(&gpu.id);
            (scenario.overrides.sustained, scenario.overrides.price) = (None, None);
        }));
    }
    for engine in &catalog().engines.engines {
        let facts = format!("defaults of {}", engine.version);
        all.push(configured("engine", engine.name.clone(), facts, &|scenario| {
            scenario.engine.clone_from(&engine.id);
        }));
    }
    for tp in DEGREES {
        all.push(configured("setting", format!("Tensor parallel {tp}"), "TP".into(), &|scenario| {
            scenario.tp = tp
        }));
    }
    all
}

/// What may be shown of a configuration, as the page's tabs name it.
const VIEWS: [(Option<Topic>, &str, &str); 10] = [
    (None, "Overview", "Roofline, simulated run, kernels"),
    (Some(Topic::Breakdown), "Time", "What a step's time goes to"),
    (Some(Topic::Explain), "Explain", "Formulas with this configuration's values, every kernel"),
    (Some(Topic::Change), "What to change", "What limits it, and what single changes do"),
    (Some(Topic::Compare), "Compare", "Up to four configurations beside each other"),
    (Some(Topic::Sweep), "Sweep", "Along one setting"),
    (Some(Topic::Tradeoff), "Trade-off", "Output per GPU over output per user (Pareto)"),
    (Some(Topic::Evidence), "Evidence", "Predicted against measured, accuracy, known limits"),
    (Some(Topic::Share), "Share", "Link, Markdown, embedding"),
    (Some(Topic::Export), "Export", "JSON, CSV, Markdown, citation"),
];

fn of_model(model: &Model) -> String {
    let (all, active) = (model.parameters(), model.active_parameters());
    let billions = |parameters: f64| format!("{} B", count(parameters / 1e9));
    let mut facts = vec![billions(all)];
    if model.has_experts() {
        facts.push(format!("{} active", billions(active)));
    }
    let kind = |attention: &Attention| match attention {
        Attention::Gqa(_) => "GQA",
        Attention::Mla(mla) if mla.indexer.is_some() => "sparse MLA",
        Attention::Mla(_) => "MLA",
        Attention::Delta(_) => "gated delta net",
        Attention::Mamba(_) => "Mamba-2",
    };
    let mut kinds: Vec<&str> = Vec::new();
    for attention in model.attentions() {
        if !kinds.contains(&kind(attention)) {
            kinds.push(kind(attention));
        }
    }
    facts.push(kinds.join(" and "));
    facts.push(words::dtype(model.weights).into());
    facts.push(format!("context {}", model.max_context));
    facts.join(", ")
}

fn of_gpu(gpu: &Gpu) -> String {
    let mut facts = vec![words::arch(gpu.arch).to_owned()];
    facts.extend(gpu.memory().ok().map(|memory: Bytes| memory.print().to_string()));
    facts.extend(gpu.bandwidth().ok().map(|bandwidth| bandwidth.print().to_string()));
    facts.extend(gpu.peak(crate::config::Dtype::Bf16).ok().map(|peak| format!("BF16 {}", peak.print())));
    facts.extend(gpu.dollars_per_hour.0.map(|price| format!("{} $ per hour", count(price))));
    facts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_read() {
        assert!(PRESETS.workloads.len() > 3 && PRESETS.limits.len() > 3);
        assert!(PRESETS.workloads.iter().all(|preset| !preset.id.is_empty() && !preset.source.is_empty()));
        assert!(PRESETS.limits.iter().all(|preset| !preset.id.is_empty() && !preset.source.is_empty()));
    }
}
