//! Unknown keys, and texts that are not links.

use super::VERSION;
use crate::config::inputs;
use crate::config::issue::{excerpt, nearest};
use crate::config::{Field, Issue, catalog};

/// How many words of a text are compared with ids.
const WORDS: usize = 20;

/// How many unknown keys a warning lists.
const NAMED: usize = 5;

/// The unknown keys that a link keeps, with a warning. A name of the JSON form is an error and not kept, since its
/// value was meant to count.
pub fn keep(unknown: Vec<(String, String)>, version: u32, issues: &mut Vec<Issue>) -> Vec<(String, String)> {
    let (names, kept): (Vec<_>, Vec<_>) =
        unknown.into_iter().partition(|(name, _)| inputs::by_name(name).is_some());
    for input in names.iter().filter_map(|(name, _)| inputs::by_name(name)) {
        let text = format!("`{}` is a JSON name: in a link write `{}`", input.field.id(), input.key);
        issues.push(Issue::error(Field::Link, text));
    }
    // The version's own warning covers additions of newer releases.
    if version <= VERSION && !kept.is_empty() {
        let keys: Vec<String> = kept.iter().take(NAMED).map(|(key, _)| described(key)).collect();
        let more = if kept.len() > NAMED { " and others" } else { "" };
        let text = format!("unknown keys have no effect: {}{more}", keys.join(", "));
        issues.push(Issue::warning(Field::Link, text));
    }
    kept
}

/// The error for a name that is neither in the JSON form nor among a request's `own` fields; its field is the one
/// probably meant.
pub(crate) fn name(name: &str, own: &[Field]) -> Issue {
    let inputs = inputs::in_links().filter(|input| input.in_json()).map(|input| input.field);
    let known = inputs.chain(own.iter().copied()).map(Field::id);
    let near = nearest(name, known).map(|(_, near)| near);
    let list = if own.is_empty() { "docs/links.md lists" } else { "docs/plan.md and docs/links.md list" };
    let hint = near.map_or_else(|| format!("{list} all names"), |near| format!("did you mean `{near}`?"));
    let text = format!("`{}` is not a known name: {hint}", excerpt(name));
    let field = match own.first() {
        // A request is not a link: the first of its own fields stands for all of it.
        Some(request) => near.and_then(Field::from_id).unwrap_or(*request),
        None => Field::Link,
    };
    Issue::error(field, text)
}

fn described(key: &str) -> String {
    let near = nearest(key, inputs::in_links().map(|input| input.key));
    let hint = near.map(|(_, known)| format!(" (did you mean `{known}`?)")).unwrap_or_default();
    format!("`{}`{hint}", excerpt(key))
}

/// The error for a text that sets no input, with the input it probably meant.
pub fn no_input(text: &str) -> Issue {
    let words = || {
        let words = text.split(|c: char| !c.is_alphanumeric() && !"-._".contains(c));
        words.filter(|word| !word.is_empty()).take(WORDS)
    };
    let best = |ids: Vec<&'static str>, key: &str| {
        let near = words().filter_map(|word| nearest(word, ids.iter().copied()));
        near.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(likeness, id)| (likeness, format!("{key}={id}")))
    };
    let models = catalog().models.models.iter().map(|model| &*model.id).collect();
    let gpus = catalog().gpus.gpus.iter().map(|gpu| &*gpu.id).collect();
    // On a tie, the model.
    let near = [best(gpus, "g"), best(models, "m")].into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = match near {
        _ if text.contains("bench") => {
            "a benchmark is read after the command that starts the server, such as `vllm serve`".into()
        }
        Some((_, pair)) => format!("did you mean `{pair}`?"),
        None => "a link holds pairs such as `m=qwen3-32b&g=h100-sxm&tp=2`, the JSON form is an object".into(),
    };
    Issue::error(Field::Link, format!("`{}` is not a link: it has no known key; {hint}", excerpt(text)))
}
