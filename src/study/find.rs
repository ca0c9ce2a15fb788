//! Models, GPUs, engines, presets and views by words: what the page's search shows.

mod words;

use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

use super::{Block, Row, Span, Study, TABS, Topic, edit};
use crate::config::catalog::catalog;
use crate::config::model::Attention;
use crate::config::{Gpu, Issue, Model, ModelChoice, Scenario, check, json, link};
use crate::serving::words as said;
use crate::units::{Bytes, count, decimal};
use words::Word;

/// Shown at most.
const MOST: usize = 24;
const DEGREES: [u32; 4] = [1, 2, 4, 8];

/// What people ask for by name.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Presets {
    workloads: Vec<Workload>,
    limits: Vec<Limits>,
    configurations: Vec<Configuration>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Configuration {
    id: String,
    name: String,
    link: String,
    about: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Workload {
    id: String,
    name: String,
    isl: u32,
    osl: u32,
    source: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    id: String,
    name: String,
    ttft_ms: f64,
    tpot_ms: f64,
    source: String,
}

static PRESETS: LazyLock<Presets> =
    LazyLock::new(|| json::read(include_str!("../../static/catalog/presets.json")).unwrap_or_default());

/// Keys of the page, and what they do.
const KEYS: [(&str, &str); 7] = [
    ("/ or Ctrl K", "search"),
    ("?", "these keys"),
    ("Esc", "close the search"),
    ("Arrows, Enter", "choose what was found"),
    ("Tab, arrows", "go through the controls; arrows move a slider or a choice"),
    ("Ctrl Z, Ctrl Shift Z", "undo and redo a change, outside a text"),
    ("Arrows on a chart", "read out its points"),
];

/// Something that may be found.
struct Entry {
    kind: &'static str,
    name: String,
    facts: String,
    link: String,
}

/// A link that was pasted in place of words: the configuration it holds. Other words hold no version.
fn pasted(study: &Study) -> Option<Entry> {
    let text = study.chosen.lines().next().unwrap_or_default().trim();
    let fragment = text.split_once(['#', '?']).map_or(text, |(_, rest)| rest);
    if !fragment.split(['&', '#']).any(|pair| pair.starts_with("v=")) {
        return None;
    }
    let (asked, mut issues) = link::decode(text);
    let (setup, found) = check(&asked.scenario, catalog());
    issues.extend(found.into_iter().filter(Issue::is_error));
    let name = setup.as_ref().map_or_else(|| "What the link holds".into(), said::title);
    let facts = match issues.len() {
        0 => "the link given".to_owned(),
        1 => issues.into_iter().map(|issue| issue.text).collect(),
        count => format!("{count} things to mend in it"),
    };
    Some(Entry { kind: "link", name, facts, link: format!("#{}", asked.encode()) })
}

pub fn blocks(study: &Study) -> Vec<Block> {
    if let Some(Entry { kind, name, facts, link }) = pasted(study) {
        let row = Row::new(vec![Span::link(name, link), facts.into(), kind.into()]);
        return vec![Block::table("Found", &["Name", "Facts", "Kind"], vec![row])];
    }
    let query = study.chosen.to_lowercase();
    let words = Word::read(&query);
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
fn rank(entry: &Entry, words: &[Word]) -> Option<u8> {
    let name = entry.name.to_lowercase();
    let (facts, kind) = (entry.facts.to_lowercase(), entry.kind.to_lowercase());
    if !words.iter().all(|word| [&name, &facts, &kind].into_iter().any(|text| word.is_in(text))) {
        return None;
    }
    Some(match words.first() {
        Some(first) if first.begins(&name) => 0,
        Some(_) if words.iter().all(|word| word.is_in(&name)) => 1,
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
            edit::isl(scenario, preset.isl);
            edit::osl(scenario, preset.osl);
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
    for Configuration { name, link, about, .. } in &PRESETS.configurations {
        let (name, facts, link) = (name.clone(), about.clone(), format!("#{link}"));
        all.push(Entry { kind: "configuration", name, facts, link });
    }
    for (topic, name) in TABS {
        let link = format!("view:{}", topic.map_or("overview", Topic::id));
        all.push(Entry { kind: "view", name: name.into(), facts: about(topic).into(), link });
    }
    for model in &catalog().models.models {
        all.push(configured("model", model.name.clone(), of_model(model), &|scenario| {
            scenario.model = ModelChoice::Catalog(model.id.clone());
            scenario.weights = None;
        }));
    }
    for gpu in &catalog().gpus.gpus {
        all.push(configured("GPU", gpu.name.clone(), of_gpu(gpu), &|scenario| {
            edit::gpu(scenario, gpu);
        }));
    }
    for engine in &catalog().engines.engines {
        let facts = format!("defaults of {}", engine.version);
        all.push(configured("engine", engine.name.clone(), facts, &|scenario| {
            edit::engine(scenario, engine);
        }));
    }
    for tp in DEGREES {
        all.push(configured("setting", format!("Tensor parallel {tp}"), "TP".into(), &|scenario| {
            edit::tp(scenario, tp);
        }));
    }
    all
}

/// What a view shows, for those who search by it.
fn about(topic: Option<Topic>) -> &'static str {
    match topic {
        None => "Roofline, simulated run, kernels",
        Some(Topic::Breakdown) => "What a step's time goes to",
        Some(Topic::Explain) => "Formulas with this configuration's values, every kernel",
        Some(Topic::Change) => "What limits it, and what single changes do",
        Some(Topic::Compare) => "Up to four configurations beside each other",
        Some(Topic::Sweep) => "Along one setting",
        Some(Topic::Tradeoff) => "Output per GPU over output per user (Pareto)",
        Some(Topic::Evidence) => "Predicted against measured, accuracy, known limits",
        Some(Topic::Share) => "Link, Markdown, embedding",
        Some(Topic::Export) => "JSON, CSV, Markdown, citation",
        Some(Topic::Find) => "Models, GPUs, workloads and views by words",
    }
}

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
        Attention::Compressed(_) => "compressed attention",
    };
    let mut kinds: Vec<&str> = Vec::new();
    for attention in model.attentions() {
        if !kinds.contains(&kind(attention)) {
            kinds.push(kind(attention));
        }
    }
    facts.push(kinds.join(" and "));
    facts.push(said::dtype(model.weights).into());
    facts.push(format!("context {}", model.max_context));
    facts.join(", ")
}

fn of_gpu(gpu: &Gpu) -> String {
    let mut facts = vec![said::arch(gpu.arch).to_owned()];
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
        assert!(
            PRESETS
                .configurations
                .iter()
                .all(|preset| !preset.id.is_empty() && preset.link.starts_with("v=1&"))
        );
    }

    fn names(words: &str) -> Vec<String> {
        let study = Study::new(Topic::Find, words, "v=1", "");
        let words = words.to_lowercase();
        let words = Word::read(&words);
        let mut found: Vec<(u8, Entry)> =
            entries(&study).into_iter().filter_map(|entry| Some((rank(&entry, &words)?, entry))).collect();
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, entry)| entry.name).collect()
    }

    #[test]
    fn words_of_another_language_find_whole_texts() {
        let compare = "\u{5bf9}\u{6bd4}";
        assert_eq!(names(&format!("{compare}\n{compare}\tCompare\tNothing so")), ["Compare"]);
        // A part of a text is no text.
        assert_eq!(names(&format!("{compare}\n{compare}\tomp")), Vec::<String>::new());
        let tensor = "\u{5f20}\u{91cf}";
        assert_eq!(names(&format!("{tensor}4\n{tensor}\tTensor parallel {{}}\n4")), ["Tensor parallel 4"]);
        let found = names(&format!("{tensor}\n{tensor}\t{{}} in, {{}} out. {{}}\n8192"));
        assert_eq!(found, ["Summarisation and RAG, 8k in and 1k out", "Reasoning, 1k in and 8k out"]);
    }

    #[test]
    fn english_words_find_parts_of_texts() {
        assert_eq!(names("h200 sxm")[0], "H200 SXM");
        assert_eq!(names("trade")[0], "Trade-off");
    }
}
