//! The page's search: models, GPUs, engines, presets, settings and views by name.

mod entries;

use entries::entries;
pub use entries::{Entry, of_gpu, of_model};

use super::panel::SHORTCUTS;
use super::pick::{self, Fit, PICK};
use super::{Block, Study};
use crate::config::inputs::reset;
use crate::config::{Field, Issue, ModelChoice, catalog, check, link, names};
use crate::study::words;
use crate::units::Order;

/// Maximum number of results.
const MOST: usize = 24;
/// Kinds of entries that may prefix a search.
const KINDS: [&str; 2] = ["model", "gpu"];
/// Rank of what matches only parts of words, after all that match whole ones.
const PARTS: u8 = 3;
/// Similarity at which words match if nothing matches literally.
const SIMILAR: f64 = 0.88;

/// Letters from which on one word of several tells what is looked for.
const TELLING: usize = 3;

/// Keyboard shortcuts, listed before anything is typed.
const KEYS: [(&str, &str); 7] = [
    ("/ or Ctrl K", "Search"),
    ("?", "Show keyboard shortcuts"),
    ("Esc", "Close the search"),
    ("Arrows, Enter", "Choose a result"),
    ("Tab, arrows", "Move through the controls; arrows move a slider or a choice"),
    ("Ctrl Z, Ctrl Shift Z", "Undo and redo a change, outside text fields"),
    ("Arrows on a chart", "Read out its points"),
];

pub fn blocks(study: &Study) -> Vec<Block> {
    const HEAD: [&str; 3] = ["Name", "Details", "Kind"];
    if let Some(question) = study.chosen.strip_prefix(PICK) {
        return pick::blocks(study, question);
    }
    let shortcuts =
        || Block::table("Keyboard shortcuts", &["Key", "Action"], KEYS.map(|(key, does)| [key, does]));
    if study.chosen == SHORTCUTS {
        return vec![shortcuts()];
    }
    if let Some(entry) = pasted(&study.chosen) {
        return vec![Block::table("Results", &HEAD, [entry])];
    }
    let query = study.chosen.to_ascii_lowercase();
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
        blocks.push(shortcuts());
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

/// Entries that match every word, best first; otherwise those with similar words in their names, or with most of the words.
fn search(study: &Study, words: &[&str]) -> Vec<Entry> {
    let best = |entries: Vec<Entry>, rank: &dyn Fn(&Entry) -> Option<u8>| {
        let mut found: Vec<(u8, Entry)> =
            entries.into_iter().filter_map(|entry| Some((rank(&entry)?, entry))).collect();
        found.order_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>()
    };
    // `gpu b200`: a leading kind excludes the others.
    let kind = words.first().filter(|word| KINDS.contains(word));
    let words = if kind.is_some() { &words[1..] } else { words };
    let entries = |study: &Study| {
        let mut all = entries(study);
        all.retain(|entry| kind.is_none_or(|kind| entry.kind.to_ascii_lowercase() == **kind));
        all
    };
    let literal = best(entries(study), &|entry| rank(entry, words));
    if literal.is_empty()
        && let Some(model) = published(study, &words.join(" "))
    {
        vec![model]
    } else if literal.is_empty() {
        let alike = best(entries(study), &|entry| similar(entry, words).then_some(0));
        if alike.is_empty() { with_most_words(entries(study), words) } else { alike }
    } else {
        literal
    }
}

/// Says for a model or GPU whether the weights and one request of this load fit in the current layout.
fn say_whether_it_fits(entry: &mut Entry) {
    if !matches!(entry.kind, "Model" | "GPU") {
        return;
    }
    let (link, _) = link::decode(&entry.link);
    let (fit, _) = Fit::of(&link.scenario);
    if fit != Fit::Refused {
        entry.facts += &format!(", {}", fit.words());
    }
}

/// The model of a published name.
pub fn published(study: &Study, words: &str) -> Option<Entry> {
    // Names differ in case.
    let at = study.chosen.to_ascii_lowercase().find(words).unwrap_or(0);
    let name = study.chosen.get(at..).unwrap_or(&study.chosen).trim();
    let resolved = names::resolve(name).ok()?;
    let mut scenario = study.link.scenario.clone();
    (scenario.model, scenario.weights) = (ModelChoice::Catalog(name.to_owned()), None);
    let issues = names::settle(&mut scenario);
    if issues.iter().any(Issue::is_error) {
        return None;
    }
    reset(&mut scenario, Field::Model);
    let said = issues.iter().map(|issue| issue.text.clone()).chain([of_model(resolved.model)]);
    let facts = said.collect::<Vec<_>>().join("; ");
    Some(Entry { kind: "Model", name: name.to_owned(), facts, link: study.link_to(&scenario) })
}

/// Lower is better, and whole words are best: `tp` is in `TPOT` too. `None` if a word is missing.
pub fn rank(entry: &Entry, words: &[&str]) -> Option<u8> {
    let Entry { name, facts, kind, .. } = entry;
    let rank = names::rank(name, &format!("{facts}\n{kind}"), words)?;
    let all = format!("{name}\n{facts}\n{kind}").to_ascii_lowercase();
    let is_whole =
        |word: &&str| all.split(|letter: char| !letter.is_alphanumeric()).any(|part| part == *word);
    Some(rank + if words.iter().all(is_whole) { 0 } else { PARTS })
}

/// The entries with the most of several words in their names.
fn with_most_words(mut entries: Vec<Entry>, words: &[&str]) -> Vec<Entry> {
    let known = |entry: &Entry| {
        let name = entry.name.to_ascii_lowercase();
        let found: Vec<_> = words.iter().filter(|word| parts(&name).contains(word)).collect();
        if found.iter().any(|word| word.len() >= TELLING) { found.len() } else { 0 }
    };
    let most = entries.iter().map(known).max().unwrap_or(0);
    entries.retain(|entry| most > 0 && known(entry) == most);
    entries
}

/// The words of a name.
fn parts(name: &str) -> Vec<&str> {
    name.split(|letter: char| !letter.is_alphanumeric()).collect()
}

pub fn similar(entry: &Entry, words: &[&str]) -> bool {
    let name = entry.name.to_ascii_lowercase();
    let parts = parts(&name);
    words.iter().all(|word| parts.iter().any(|part| strsim::jaro_winkler(part, word) >= SIMILAR))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Topic;

    fn names(words: &str) -> Vec<String> {
        let study = Study::new(Topic::Search, words, "v=1", "");
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
            let study = Study::new(Topic::Search, words, "v=1", "");
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
    fn the_shortcuts_come_first_where_they_are_asked_for() {
        let first = |words: &str| blocks(&Study::new(Topic::Search, words, "v=1", ""))[0].name.clone();
        assert_eq!([first(SHORTCUTS), first("")], ["Keyboard shortcuts", "Results"]);
    }

    #[test]
    fn a_typo_finds_the_similar_name() {
        assert!(names("sglnag").contains(&"SGLang".to_owned()));
        assert_eq!(names("nothing at all"), Vec::<String>::new());
    }

    #[test]
    fn words_that_no_entry_has_together_find_those_with_most_of_them() {
        let found = names("sglang h200");
        assert!(
            ["SGLang", "H200 SXM"].iter().all(|name| found.iter().any(|found| found == name)),
            "{found:?}"
        );
        let found = names("fp8 kv cache");
        assert!(!found.is_empty() && found.iter().all(|name| name == "KV cache"), "{found:?}");
    }
}
