//! Maps a published checkpoint name to a catalog model and a weight format.
//!
//! A checkpoint name consists of publisher, base, tuning, release and weight format, roughly in that order. Words
//! known not to change shapes are dropped; the rest has to match a catalog model, or a name known to have its
//! shapes. A single unknown word is refused: silently using a model of another size would be worse.

mod apply;
mod engines;
mod gpus;
mod machines;
mod name;
mod rules;
mod search;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::sync::LazyLock;

use super::catalog::catalog;
use super::issue::excerpt;
use super::{Dtype, Field, Issue, Model};
use crate::units::Order;
use name::{Name, is_local};
use rules::{Alias, rules};

pub use apply::{SCALED_CACHE, settle};
pub use gpus::{BRANDS, gpu_id};
pub use machines::{of_machine, of_node};
pub use search::{begins_name, is_size, named, popularity, rank, search, short_name};

/// A published name, resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    pub model: &'static Model,
    /// The format given by the name; `None` to keep the model's own.
    pub weights: Option<Dtype>,
    /// Whether the name states a format, which may be the model's own.
    pub states_format: bool,
    /// Notes on the substitution. An error on the weights if the format is not supported.
    pub issues: Vec<Issue>,
}

/// A catalog model with its parsed name.
struct NamedModel {
    model: &'static Model,
    name: Name,
    base: String,
}

static NAMED_MODELS: LazyLock<Vec<NamedModel>> = LazyLock::new(|| {
    let known = |model: &'static Model| {
        let name = Name::read(&model.name);
        NamedModel { model, base: name.base(), name }
    };
    catalog().models.models.iter().map(known).collect()
});

/// The source of the rules.
pub fn source() -> &'static str {
    &rules().source
}

/// What follows the last slash of a path, or of a published name.
pub fn last_part(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}

/// The name of the checkpoint of `model` in `weights`: one in the catalog, or one that its publisher is known to have.
pub fn checkpoint(model: &Model, weights: Dtype) -> Option<String> {
    let of_format = |rest: &str| {
        let word = rest.strip_prefix('-').unwrap_or_default();
        rules().formats.iter().any(|format| format.words.eq_ignore_ascii_case(word))
    };
    let own = last_part(&model.name);
    let listed = catalog().models.models.iter().find(|other| {
        other.weights == weights && last_part(&other.name).strip_prefix(own).is_some_and(of_format)
    });
    let is_usual = weights == Dtype::Fp8Block
        && model.weights == Dtype::Bf16
        && rules().also_fp8.iter().any(|begins| model.name.starts_with(begins));
    listed.map(|other| other.name.clone()).or(is_usual.then(|| format!("{}-FP8", model.name)))
}

/// The model for `text`: a name as written on Hugging Face, in the catalog or in the page's lists. Fails with the
/// nearest names if there is none.
pub fn resolve(text: &str) -> Result<Resolved, String> {
    let text = text.trim();
    if let Some(model) = listed(text) {
        return Ok(Resolved { model, weights: None, states_format: false, issues: Vec::new() });
    }
    let wanted = Name::read(text);
    let base = wanted.base();
    let same = same(&wanted);
    // The catalog may have this very checkpoint of a model that shares another's shapes.
    let own = |known: &&NamedModel| match same {
        Some(same) => is(same, &known.name) && known.gives(&wanted),
        None => known.base == base,
    };
    let mut found: Vec<&NamedModel> = NAMED_MODELS.iter().filter(own).collect();
    let same = same.filter(|_| found.is_empty());
    if let Some(target) = same.and_then(|same| NAMED_MODELS.iter().find(|known| known.model.id == same.id)) {
        // Its own release, in any format.
        let release = target.name.release();
        found = NAMED_MODELS.iter().filter(|known| known.name.release() == release).collect();
    }
    let best = found.into_iter().min_by_key(|known| Reverse(known.likeness(&wanted)));
    let Some(known) = best.filter(|_| !base.is_empty()) else { return Err(unknown(text, &base)) };
    Ok(known.taken(text, &wanted, same))
}

/// Whether the checkpoint of this name, whose weights are in this format, has scales for an FP8 KV cache: as its
/// files in the catalog say or, if it has none there, if its name says so or it is NVIDIA's.
pub fn has_scaled_cache(text: &str, weights: Option<Dtype>) -> bool {
    let text = text.trim();
    if let Some(model) = listed(text) {
        return model.scaled_cache && weights == Some(model.weights);
    }
    let name = Name::read(text);
    let of_nvidia = name.publisher.as_deref() == Some("nvidia");
    name.stated().any(|format| format.kv) || of_nvidia && weights.is_some_and(Dtype::has_cache_scales)
}

/// What is counted differently from a checkpoint whose name has these words for its format.
pub fn format_note(words: &str) -> Option<&'static str> {
    rules().formats.iter().find(|format| format.words == words)?.note.as_deref()
}

/// The model of an exact name or id, of a folder with that name, or of the form in lists: `Qwen3-32B (Qwen)`.
fn listed(text: &str) -> Option<&'static Model> {
    let text = if is_local(text) { last_part(text.trim_end_matches('/')) } else { text };
    let shown = text.strip_suffix(')').and_then(|text| text.split_once(" ("));
    let name = shown.map_or_else(|| text.to_owned(), |(name, publisher)| format!("{publisher}/{name}"));
    let is = |model: &&Model| {
        [&*model.name, last_part(&model.name)].iter().any(|own| own.eq_ignore_ascii_case(&name))
            || model.id.eq_ignore_ascii_case(text)
    };
    catalog().models.models.iter().find(is)
}

/// The rule for a name with another's architecture: the longest match first.
fn same(wanted: &Name) -> Option<&'static Alias> {
    let forms = [wanted.full(), wanted.release(), wanted.base()];
    forms.iter().find_map(|form| rules().same.iter().find(|same| same.name == *form))
}

fn is(same: &Alias, name: &Name) -> bool {
    [name.full(), name.release(), name.base()].contains(&same.name)
}

impl NamedModel {
    fn publisher(&self) -> &str {
        self.name.publisher.as_deref().unwrap_or_default()
    }

    /// The format in `wanted`; a name without publisher is taken to be from the model's own.
    fn wanted(&self, wanted: &Name) -> Result<Option<Dtype>, String> {
        wanted.weights(wanted.publisher.as_deref().unwrap_or(self.publisher()))
    }

    /// Whether it has the format in `wanted`.
    fn gives(&self, wanted: &Name) -> bool {
        self.wanted(wanted).is_ok_and(|format| format == Some(self.model.weights))
    }

    /// Higher for models that need fewer notes: same release, same format, same tuning.
    fn likeness(&self, wanted: &Name) -> (usize, Reverse<usize>, u8, usize) {
        let (releases, others) = self.name.shared(wanted, &rules().releases);
        let (tunings, _) = self.name.shared(wanted, &rules().tunings);
        let format = match self.wanted(wanted) {
            Ok(Some(format)) if format == self.model.weights => 2,
            _ if self.name.formats.is_empty() => 1,
            _ => 0,
        };
        (releases, Reverse(others), format, tunings)
    }

    fn taken(&self, text: &str, wanted: &Name, same: Option<&Alias>) -> Resolved {
        let Self { model, base, .. } = self;
        let mut issues = Vec::new();
        let named = self.wanted(wanted);
        let weights = match &named {
            Ok(Some(format)) => Some(*format),
            Ok(None) if self.name.formats.is_empty() => None,
            // The catalog's checkpoint was requantised, the requested one was not.
            Ok(None) => {
                let native = rules().native.get(base).copied();
                if native.is_none() {
                    let (id, format) = (&model.id, model.weights.id());
                    let text = format!(
                        "the catalog has {} in {format} only, as `{id}`; `{}` does not say its format: choose one",
                        base,
                        excerpt(text)
                    );
                    issues.push(Issue::error(Field::Weights, text));
                }
                native
            }
            Err(reason) => {
                let text = excerpt(text);
                let text = match reason.split_once(": ") {
                    Some((what, advice)) => format!("`{text}` names {what} but no format of it: {advice}"),
                    None => format!("`{text}`: there are no kernels for {reason}; choose another format"),
                };
                issues.push(Issue::error(Field::Weights, text));
                None
            }
        };
        let format = match &named {
            Ok(Some(format)) => format!(
                ", with {} in {}, as its name says",
                if model.has_experts() { "experts" } else { "weights" },
                format.name(),
            ),
            _ => String::new(),
        };
        let taken = format!("`{}` is read as {}{format}", excerpt(text), model.name);
        issues.push(Issue::note(Field::Model, taken));
        if let Some(note) = same.and_then(|same| same.note.as_ref()) {
            issues.push(Issue::warning(Field::Model, format!("{}: {note}", excerpt(text))));
        }
        issues.extend(
            wanted
                .stated()
                .filter_map(|format| format.note.as_ref())
                .map(|note| Issue::warning(Field::Weights, note)),
        );
        let states_format = matches!(named, Ok(Some(_)));
        Resolved {
            model,
            weights: weights.filter(|weights| *weights != model.weights),
            states_format,
            issues,
        }
    }
}

/// How many names are suggested.
const OFFERED: usize = 3;

/// Jaro-Winkler similarity above which a name is suggested.
const MIN_SIMILARITY: f64 = 0.8;
/// Share of the text that a name must begin with to be suggested.
const BEGINS: f64 = 0.7;

/// How much less alike a model is that has `e` times the parameters: the nearest sizes of a family come first.
const SIZE: f64 = 0.2;

/// The size in a name: 70 of `llama-3.1-70b`.
fn billions(base: &str) -> Option<f64> {
    let words = base.split(|letter: char| !letter.is_alphanumeric() && letter != '.');
    words.filter_map(|word| word.strip_suffix('b')).find_map(|number| number.parse().ok())
}

fn unknown(text: &str, base: &str) -> String {
    let mut near: Vec<(f64, &NamedModel)> = NAMED_MODELS
        .iter()
        .filter_map(|known| {
            let within = !known.base.is_empty() && base.contains(&known.base);
            let similarity = strsim::jaro_winkler(base, &known.base);
            // Of a generation rather than of the same size in another.
            let begins = base.bytes().zip(known.base.bytes()).take_while(|(one, other)| one == other).count();
            let begins = begins as f64 / base.len().max(1) as f64;
            let is_near = similarity >= MIN_SIMILARITY || begins >= BEGINS;
            let unlike =
                billions(base).zip(billions(&known.base)).map(|(one, other)| (one / other).ln().abs());
            let likeness =
                f64::from(u8::from(within)) + similarity + begins - SIZE * unlike.unwrap_or_default();
            is_near.then_some((likeness, known))
        })
        .collect();
    near.order_by(|a, b| b.0.total_cmp(&a.0));
    near.dedup_by(|a, b| a.1.base == b.1.base);
    let names: Vec<&str> = near.iter().take(OFFERED).map(|(_, known)| &*known.model.name).collect();
    let nearest = match names.split_last() {
        None => String::new(),
        Some((only, [])) => format!(" Did you mean {only}?"),
        Some((last, first)) => format!(" Did you mean {} or {last}?", first.join(", ")),
    };
    format!(
        "the catalog has no model `{}`.{nearest} Choose a model with the same shapes, or give the checkpoint's \
        config.json",
        excerpt(text)
    )
}
