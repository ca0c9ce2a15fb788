//! The page's search: models, GPUs, engines, presets, settings and views by name.

use std::sync::LazyLock;

use serde::Deserialize;

use super::panel::{self, Panel};
use super::pick::{self, PICK};
use super::{Block, Row, Span, Study, edit, glossary};
use crate::config::catalog::catalog;
use crate::config::model::Attention;
use crate::config::{Dtype, Field, Gpu, Issue, Model, ModelChoice, Scenario, check, link, names};
use crate::serving::memory_of;
use crate::study::words;
use crate::units::{Dollars, count, decimal};

/// Maximum number of results.
const MOST: usize = 24;
const DEGREES: [u32; 4] = [1, 2, 4, 8];
/// Kinds of entries that may prefix a search.
const KINDS: [&str; 2] = ["model", "gpu"];
/// Similarity at which words match if nothing matches literally.
const SIMILAR: f64 = 0.88;

/// `static/catalog/presets.json`.
#[derive(Default, Deserialize)]
struct Presets {
    workloads: Vec<Workload>,
    limits: Vec<Limits>,
    configurations: Vec<Configuration>,
}

#[derive(Deserialize)]
struct Configuration {
    name: String,
    link: String,
    about: String,
}

#[derive(Deserialize)]
struct Workload {
    name: String,
    isl: u32,
    osl: u32,
    source: String,
}

#[derive(Deserialize)]
struct Limits {
    name: String,
    ttft_ms: f64,
    tpot_ms: f64,
    source: String,
}

static PRESETS: LazyLock<Presets> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../static/catalog/presets.json")).unwrap_or_default()
});

/// Keyboard shortcuts, listed before anything is typed.
const KEYS: [(&str, &str); 7] = [
    ("/ or Ctrl K", "Search"),
    ("?", "This list"),
    ("Esc", "Close the search"),
    ("Arrows, Enter", "Choose a result"),
    ("Tab, arrows", "Move through the controls; arrows move a slider or a choice"),
    ("Ctrl Z, Ctrl Shift Z", "Undo and redo a change, outside text fields"),
    ("Arrows on a chart", "Read out its points"),
];

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

pub fn blocks(study: &Study) -> Vec<Block> {
    const HEAD: [&str; 3] = ["Name", "Details", "Kind"];
    if let Some(question) = study.chosen.strip_prefix(PICK) {
        return pick::blocks(study, question);
    }
    if let Some(entry) = pasted(&study.chosen) {
        return vec![Block::table("Results", &HEAD, [entry])];
    }
    let query = study.chosen.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut found = search(study, &words);
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    found.iter_mut().for_each(say_whether_it_fits);
    let mut blocks = match found.is_empty() {
        true => vec![
            Block::text("No results. Try a model, GPU, engine, workload, limit, setting or term.")
                .called("no-results"),
        ],
        false => vec![Block::table("Results", &HEAD, found)],
    };
    if more > 0 {
        blocks.push(Block::text(format!("{more} more: type another word to narrow the search.")));
    }
    if words.is_empty() {
        blocks.push(Block::table(
            "Keyboard shortcuts",
            &["Key", "Action"],
            KEYS.map(|(key, does)| [key, does]),
        ));
    }
    blocks
}

/// The configuration of a pasted link; plain words have no version key.
fn pasted(text: &str) -> Option<Entry> {
    let text = text.trim();
    let fragment = text.split_once(['#', '?']).map_or(text, |(_, rest)| rest);
    if !fragment.split(['&', '#']).any(|pair| pair.starts_with("v=")) {
        return None;
    }
    let (mut link, mut issues) = link::decode(text);
    issues.extend(link.settle().into_iter().filter(Issue::is_error));
    let (setup, found) = check(&link.scenario, catalog());
    issues.extend(found.into_iter().filter(Issue::is_error));
    let name = setup.as_ref().map_or_else(|| "Configuration of the link".into(), words::title);
    let facts = match &issues[..] {
        [] => "The pasted link".to_owned(),
        [issue] => issue.text.clone(),
        issues => format!("{} problems", issues.len()),
    };
    Some(Entry { kind: "Link", name, facts, link: format!("#{}", link.encode()) })
}

/// Entries that match every word, best first; otherwise those with similar words in their names.
fn search(study: &Study, words: &[&str]) -> Vec<Entry> {
    let best = |entries: Vec<Entry>, rank: &dyn Fn(&Entry) -> Option<u8>| {
        let mut found: Vec<(u8, Entry)> =
            entries.into_iter().filter_map(|entry| Some((rank(&entry)?, entry))).collect();
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>()
    };
    // `gpu b200`: a leading kind excludes the others.
    let kind = words.first().filter(|word| KINDS.contains(word));
    let words = if kind.is_some() { &words[1..] } else { words };
    let entries = |study: &Study| {
        let mut all = entries(study);
        all.retain(|entry| kind.is_none_or(|kind| entry.kind.to_lowercase() == **kind));
        all
    };
    let literal = best(entries(study), &|entry| rank(entry, words));
    if literal.is_empty()
        && let Some(model) = published(study, &words.join(" "))
    {
        vec![model]
    } else if literal.is_empty() {
        best(entries(study), &|entry| similar(entry, words).then_some(0))
    } else {
        literal
    }
}

/// For models and GPUs: whether the weights and one request of this load fit in the current layout.
fn say_whether_it_fits(entry: &mut Entry) {
    if !matches!(entry.kind, "Model" | "GPU") {
        return;
    }
    let (link, _) = link::decode(&entry.link);
    let (setup, _) = check(&link.scenario, catalog());
    let Some(memory) = setup.and_then(|setup| memory_of(&setup).ok()) else { return };
    entry.facts += if memory.max_concurrency >= 1.0 { ", fits" } else { ", does not fit as laid out" };
}

/// The model of a published name.
pub fn published(study: &Study, words: &str) -> Option<Entry> {
    // Names differ in case.
    let at = study.chosen.to_lowercase().find(words).unwrap_or(0);
    let name = study.chosen.get(at..).unwrap_or(&study.chosen).trim();
    let resolved = names::resolve(name).ok()?;
    let mut scenario = study.link.scenario.clone();
    (scenario.model, scenario.weights) = (ModelChoice::Catalog(name.to_owned()), None);
    let issues = names::settle(&mut scenario);
    if issues.iter().any(Issue::is_error) {
        return None;
    }
    let said = issues.iter().map(|issue| issue.text.clone()).chain([of_model(resolved.model)]);
    let facts = said.collect::<Vec<_>>().join("; ");
    Some(Entry { kind: "Model", name: name.to_owned(), facts, link: study.link_to(&scenario) })
}

/// Lower is better; `None` if a word is missing.
pub fn rank(entry: &Entry, words: &[&str]) -> Option<u8> {
    let name = entry.name.to_lowercase();
    let all = format!("{name}\n{}\n{}", entry.facts, entry.kind).to_lowercase();
    if !words.iter().all(|word| all.contains(word)) {
        return None;
    }
    Some(match words.first() {
        Some(first) if name.starts_with(first) => 0,
        Some(_) if words.iter().all(|word| name.contains(word)) => 1,
        _ => 2,
    })
}

pub fn similar(entry: &Entry, words: &[&str]) -> bool {
    let name = entry.name.to_lowercase();
    let parts: Vec<&str> = name.split(|letter: char| !letter.is_alphanumeric()).collect();
    words.iter().all(|word| parts.iter().any(|part| strsim::jaro_winkler(part, word) >= SIMILAR))
}

fn entries(study: &Study) -> Vec<Entry> {
    let with = |kind, name: &str, facts: String, edit: &dyn Fn(&mut Scenario)| {
        let mut scenario = study.link.scenario.clone();
        edit(&mut scenario);
        Entry { kind, name: name.into(), facts, link: study.link_to(&scenario) }
    };
    let mut all = Vec::new();
    for Workload { name, isl, osl, source } in &PRESETS.workloads {
        all.push(with("Workload", name, format!("{isl} in, {osl} out. {source}"), &|scenario| {
            edit::isl(scenario, *isl);
            edit::osl(scenario, *osl);
        }));
    }
    for Limits { name, ttft_ms, tpot_ms, source } in &PRESETS.limits {
        let facts = format!("TTFT {} ms, TPOT {} ms. {source}", decimal(*ttft_ms), decimal(*tpot_ms));
        all.push(with("Limits", name, facts, &|scenario| {
            scenario.workload.slos.ttft_ms = Some(*ttft_ms);
            scenario.workload.slos.tpot_ms = Some(*tpot_ms);
        }));
    }
    for Configuration { name, link, about } in &PRESETS.configurations {
        let (name, facts, link) = (name.clone(), about.clone(), format!("#{link}"));
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
        }));
    }
    for gpu in &catalog().gpus.gpus {
        all.push(with("GPU", &gpu.name, of_gpu(gpu), &|scenario| edit::gpu(scenario, gpu)));
    }
    for engine in &catalog().engines.engines {
        let facts = format!("Defaults of {}", engine.version);
        all.push(with("Engine", &engine.name, facts, &|scenario| edit::engine(scenario, engine)));
    }
    all.extend(terms());
    for field in Field::ALL {
        let input = field.input();
        if input.place.is_some() && input.is_shown(&study.link.scenario) {
            let (facts, link) = (input.help.into(), format!("input:{}", field.id()));
            all.push(Entry { kind: "Input", name: input.label.into(), facts, link });
        }
    }
    for tp in DEGREES {
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
    facts.push(words::dtype(model.weights).into());
    facts.push(format!("context {}", model.max_context));
    facts.join(", ")
}

/// `Hopper, 80.0 GiB, 3.35 TB/s, BF16 989 TFLOP/s, $2.50 per hour`.
pub fn of_gpu(gpu: &Gpu) -> String {
    let mut facts = vec![words::arch(gpu.arch).to_owned()];
    facts.extend(gpu.memory().ok().map(|memory| memory.print().to_string()));
    facts.extend(gpu.bandwidth().ok().map(|bandwidth| bandwidth.print().to_string()));
    facts.extend(gpu.peak(Dtype::Bf16).ok().map(|peak| format!("BF16 {}", peak.print())));
    facts.extend(gpu.dollars_per_hour.0.map(|price| format!("{} per hour", Dollars(price).print())));
    facts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Topic;

    #[test]
    fn presets_read() {
        assert!(PRESETS.workloads.len() > 3 && PRESETS.limits.len() > 3);
        assert!(PRESETS.workloads.iter().all(|preset| !preset.source.is_empty()));
        assert!(PRESETS.limits.iter().all(|preset| !preset.source.is_empty()));
        assert!(PRESETS.configurations.iter().all(|preset| preset.link.starts_with("v=1&")));
    }

    fn names(words: &str) -> Vec<String> {
        let study = Study::new(Topic::Find, words, "v=1", "");
        let words: Vec<&str> = words.split_whitespace().collect();
        search(&study, &words).into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn words_find_parts_of_texts() {
        assert_eq!(names("h200 sxm")[0], "H200 SXM");
        assert_eq!(names("trade")[0], "Trade-off");
        assert!(names("hopper gpu").contains(&"H100 SXM".to_owned()));
    }

    #[test]
    fn terms_and_inputs_are_found_by_what_they_mean() {
        let first = |words: &str| {
            let study = Study::new(Topic::Find, words, "v=1", "");
            let words: Vec<&str> = words.split_whitespace().collect();
            search(&study, &words).into_iter().next().map(|entry| (entry.kind, entry.name, entry.link))
        };
        assert_eq!(first("ttft"), Some(("Term", "TTFT".into(), "view:explain/ttft".into())));
        assert_eq!(
            first("disaggregated"),
            Some(("Input", "Prefill workers".into(), "input:prefill_workers".into()))
        );
        assert_eq!(first("mi300x").map(|(kind, ..)| kind), Some("GPU"));
        assert_eq!(first("---"), None, "the rule of the glossary's table is no term");
    }

    #[test]
    fn a_typo_finds_the_similar_name() {
        assert!(names("sglnag").contains(&"SGLang".to_owned()));
        assert_eq!(names("nothing at all"), Vec::<String>::new());
    }
}
