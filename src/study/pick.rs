//! Contents of the model and GPU pickers: recently viewed first, then popular; those that fit are marked.

use super::search::{Entry, of_gpu, of_model, published, similar};
use super::{Block, Row, Span, Study};
use crate::config::catalog::{POPULAR, catalog};
use crate::config::inputs::reset;
use crate::config::{Field, ModelChoice, Scenario, check, names};
use crate::serving::memory_of;
use crate::units::{Bytes, Order};

/// Prefix of a request for such a list.
pub const PICK: &str = "pick:";

/// An entry, and the form's configuration with it.
struct Candidate {
    id: String,
    entry: Entry,
    scenario: Scenario,
}

impl Candidate {
    fn rank(&self, words: &[&str]) -> Option<u8> {
        let Entry { name, facts, .. } = &self.entry;
        names::rank(names::short_name(name), &format!("{name}\n{facts}"), words)
    }
}

/// `question` is `model` or `gpu` and the recently viewed ids, then on its own line the typed text. A row links to
/// `pick:` and its id; a published name, which implies more than a model, to the configuration with it.
pub fn blocks(study: &Study, question: &str) -> Vec<Block> {
    let (head, words) = question.split_once('\n').unwrap_or((question, ""));
    let mut head = head.split_whitespace();
    let kind = head.next().unwrap_or_default();
    let recent: Vec<&str> = head.collect();
    let typed = words.to_ascii_lowercase();
    let words: Vec<&str> = typed.split_whitespace().collect();
    let mut found: Vec<(u8, Candidate)> =
        options(study, kind).into_iter().filter_map(|option| Some((option.rank(&words)?, option))).collect();
    if found.is_empty() {
        if let Some(entry) = (kind == "model").then(|| published(study, &typed)).flatten() {
            return vec![Block::table("Results", &HEAD, [Row::from(entry)])];
        }
        let alike = options(study, kind).into_iter().filter(|option| similar(&option.entry, &words));
        found = alike.map(|option| (0, option)).collect();
    }
    if found.is_empty() {
        return vec![Block::text("No results.").called("no-results")];
    }
    let place = |id: &str| {
        let recent = recent.iter().position(|held| *held == id).map(MatchOrder::Recent);
        let popular = || popular_of(kind).iter().position(|held| *held == id).map(MatchOrder::Popular);
        recent.or_else(popular).unwrap_or(MatchOrder::Other)
    };
    let fitted = |(rank, mut option): (u8, Candidate)| {
        let (fit, weights) = Fit::of(&option.scenario);
        // The form's format is kept where the model runs in it.
        let published = option.scenario.model.record().map(|model| model.weights);
        let kept = option.scenario.weights.filter(|weights| published != Some(*weights));
        let kept = kept.map_or(String::new(), |weights| format!(" in {}", weights.name()));
        let held = weights.map(|weights| format!(", {} of weights per GPU{kept}", weights.print()));
        option.entry.facts.extend(held);
        (rank, place(&option.id), fit, option)
    };
    let mut rows: Vec<(u8, MatchOrder, Fit, Candidate)> = found.into_iter().map(fitted).collect();
    rows.order_by_key(|(rank, place, fit, _)| (*rank, *place, *fit));
    let row = |(_, place, fit, Candidate { id, entry, .. }): (u8, MatchOrder, Fit, Candidate)| {
        let name = Span::link(entry.name, format!("{PICK}{id}"));
        // What is typed decides: among equal matches the place goes without saying.
        let place = if words.is_empty() { place.words() } else { "" };
        Row::new(vec![name, entry.facts.into(), format!("{place}{}", fit.words()).into()])
    };
    vec![Block::table("Results", &HEAD, rows.into_iter().map(row))]
}

const HEAD: [&str; 3] = ["Name", "Details", "Fit"];

/// The order of an entry among equal matches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MatchOrder {
    Recent(usize),
    Popular(usize),
    Other,
}

impl MatchOrder {
    fn words(self) -> &'static str {
        match self {
            Self::Recent(_) => "recent, ",
            Self::Popular(_) => "often measured, ",
            Self::Other => "",
        }
    }
}

fn popular_of(kind: &str) -> &'static [&'static str] {
    let [models, gpus] = POPULAR;
    if kind == "gpu" { gpus } else { models }
}

/// Whether the weights and one request of this load fit in the current layout.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    Fits,
    TooLarge,
    /// Incompatible with the form: a degree or a format.
    Refused,
}

impl Fit {
    /// Whether a scenario fits, and the weights on the fullest GPU unless it is refused.
    pub(super) fn of(scenario: &Scenario) -> (Self, Option<Bytes>) {
        let (setup, _) = check(scenario, catalog());
        match setup.and_then(|setup| memory_of(&setup).ok()) {
            Some(memory) if memory.max_concurrency >= 1.0 => (Self::Fits, Some(memory.weights)),
            Some(memory) => (Self::TooLarge, Some(memory.weights)),
            None => (Self::Refused, None),
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::TooLarge => "does not fit as laid out",
            Self::Refused => "needs other settings",
        }
    }
}

fn options(study: &Study, kind: &str) -> Vec<Candidate> {
    let scenario = |edit: &dyn Fn(&mut Scenario)| {
        let mut scenario = study.link.scenario.clone();
        edit(&mut scenario);
        scenario
    };
    let entry = |name: &str, facts: String| Entry { kind: "", name: name.into(), facts, link: String::new() };
    if kind == "gpu" {
        let gpus = catalog().gpus.gpus.iter();
        return gpus
            .map(|gpu| Candidate {
                id: gpu.id.clone(),
                entry: entry(&gpu.name, of_gpu(gpu)),
                scenario: scenario(&|scenario| scenario.put_on(&gpu.id)),
            })
            .collect();
    }
    let models = catalog().models.models.iter();
    models
        .map(|model| {
            let (maker, name) = model.name.split_once('/').unwrap_or(("", &model.name));
            Candidate {
                id: model.id.clone(),
                entry: entry(name, format!("{}, {maker}", of_model(model))),
                scenario: scenario(&|scenario| {
                    scenario.model = ModelChoice::Catalog(model.id.clone());
                    reset(scenario, Field::Model);
                }),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Topic;

    fn rows(question: &str) -> Vec<Vec<String>> {
        let study = Study::new(Topic::Search, question, "v=1&m=qwen3-32b&g=h100-sxm", "");
        let blocks = blocks(&study, question);
        let rows = blocks.first().and_then(Block::as_table).into_iter().flat_map(|table| &table.rows);
        rows.map(|row| row.cells.iter().map(|cell| cell.text.clone()).collect()).collect()
    }

    #[test]
    fn typed_words_are_found() {
        assert!(rows("model\nllama 70").iter().any(|row| row[0] == "Llama-3.3-70B-Instruct"));
        assert!(rows("model\nllama 70")[0][0].contains("70B"));
        assert_eq!(rows("gpu\nb200")[0][0], "B200");
        assert!(rows("gpu\nmi300").iter().any(|row| row[0].contains("MI300X")));
        assert!(rows("model\nnothing like it").is_empty());
    }

    #[test]
    fn recent_choices_come_first_and_fitting_ones_are_marked() {
        let all = rows("gpu l4 h200-sxm\n");
        assert_eq!([&*all[0][0], &*all[1][0]], ["L4", "H200 SXM"]);
        assert_eq!([&*all[0][2], &*all[1][2]], ["recent, does not fit as laid out", "recent, fits"]);
        assert_eq!(all.len(), catalog().gpus.gpus.len());
        let after = all[2..].iter().position(|row| !row[2].starts_with("often measured, ")).expect("more");
        assert!(after > 1, "then the popular ones");
        let (fits, rest): (Vec<_>, Vec<_>) = all[2 + after..].iter().partition(|row| row[2] == "fits");
        assert!(!fits.is_empty() && !rest.is_empty());
        assert!(
            all[2 + after..][..fits.len()].iter().all(|row| row[2] == "fits"),
            "those that fit before the others"
        );
        assert!(!rows("gpu\nh100").iter().any(|row| row[2].starts_with("often")), "what is typed decides");
    }

    #[test]
    fn a_published_name_is_a_model() {
        let all = rows("model\nRedHatAI/Qwen3-32B-FP8-dynamic");
        assert_eq!(all.len(), 1);
    }
}
