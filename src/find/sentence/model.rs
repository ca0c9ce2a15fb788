//! The models that a text names, by published names or words of names: `llama 3.1 8b`, `deepseek r1`, `qwen 32b`.

use super::begins::begins;
use super::hardware::wishes;
use super::left_out::is_not;
use super::{AmountUnit, BREAK, FILLERS, Parsed, SEPARATORS, workload};
use crate::config::names::{Resolved, is_size, resolve, search, short_name};
use crate::config::{Dtype, Field, Issue, Model, ModelChoice, excerpt};

/// Words of a request that occur in no model's name.
const OTHERS: [&str; 19] = [
    "ttft",
    "tpot",
    "itl",
    "e2e",
    "latency",
    "disaggregated",
    "disaggregation",
    "pools",
    "pd",
    "mtp",
    "drafting",
    "accepted",
    "request",
    "rate",
    "sharegpt",
    "reserved",
    "on_demand",
    "prices",
    "kv",
];
/// Words before a size that name no model: `a dense 70B`.
const OF_SIZES: [&str; 8] = ["about", "big", "dense", "large", "model", "new", "our", "small"];
/// How many other models are named along with the chosen one, at most.
const NAMED: usize = 3;

/// Sets the model named in `text`; if there are several, the last one counts. Returns the rest of the text.
///
/// # Errors
/// A name that the catalog does not have, with similar ones: another model would mislead.
pub fn take(text: &str, parsed: &mut Parsed) -> Result<String, Issue> {
    let mut rest = Vec::new();
    for clause in text.split(SEPARATORS) {
        let words: Vec<&str> = clause.split_whitespace().collect();
        let mut at = 0;
        while at < words.len() {
            let name = phrase(&words[at..]);
            let is_named = name.first().is_some_and(|word| begins(word)) && !is_workload(name);
            let found = if is_named { named(name)? } else { None };
            let Some((length, taken)) = found else {
                rest.push(words[at]);
                at += 1;
                continue;
            };
            at += length;
            let is_filler = |word: &&&str| FILLERS.contains(&&*word.to_ascii_lowercase());
            let before = rest.iter().rev().find(|word| !is_filler(word));
            if let Some(not) = before.filter(|word| is_not(&word.to_ascii_lowercase())) {
                let text =
                    format!("`{not} {}`: name only the model to run", excerpt(&name[..length].join(" ")));
                return Err(Issue::error(Field::Model, text));
            }
            if let Some(word) = rest.last().filter(|word| is_size_of_other(word, &name[..length])) {
                return Err(unknown(&[&[*word], &name[..length]].concat().join(" ")));
            }
            parsed.state(Field::Model, name[..length].join(" "));
            if taken.states_format {
                parsed.state(Field::Weights, name[..length].join(" "));
            }
            parsed.issues.extend(taken.issues);
            let scenario = &mut parsed.link.scenario;
            // The format on the form is of its model.
            if scenario.model.id() != taken.model.id {
                parsed.is_new_model = true;
                scenario.weights = None;
            }
            if taken.states_format || taken.weights.is_some() {
                scenario.weights = taken.weights;
            }
            scenario.model = ModelChoice::Catalog(taken.model.id.clone());
        }
        // A name does not continue in the next clause.
        rest.push(BREAK);
    }
    Ok(rest.join(" "))
}

/// Whether the words begin with a kind of workload rather than a name: `chat`, but not `chat glm`.
fn is_workload(words: &[&str]) -> bool {
    words.first().is_some_and(|word| workload::of(&word.to_ascii_lowercase()).is_some())
        && (2..=words.len()).all(|length| find(&words[..length]).is_none())
}

/// Whether the name is only a size, and the word before it is not understood: `Mistal 7B` is not any model of 7B.
fn is_size_of_other(before: &str, name: &[&str]) -> bool {
    let small = before.to_ascii_lowercase();
    name.iter().all(|word| is_size(&word.to_ascii_lowercase()))
        && !phrase(&[before]).is_empty()
        && before.starts_with(char::is_alphabetic)
        && workload::of(&small).is_none()
        && !OF_SIZES.contains(&&*small)
}

fn is_unit(word: &str) -> bool {
    AmountUnit::of(word).is_some()
}

struct Taken {
    model: &'static Model,
    weights: Option<Dtype>,
    states_format: bool,
    issues: Vec<Issue>,
}

/// The words from the first one on that may form one name.
fn phrase<'a, 'b>(words: &'b [&'a str]) -> &'b [&'a str] {
    let may_be = |(at, word): (usize, &&str)| {
        let word = word.to_ascii_lowercase();
        let next = words.get(at + 1).map(|next| next.to_ascii_lowercase());
        let digits =
            word.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(word.len());
        let (number, unit) = word.split_at(digits);
        let is_counted_next = || next.as_deref().is_some_and(is_counted);
        let is_amount = match (number.is_empty(), unit.is_empty()) {
            (true, _) => word.starts_with('$') || word.starts_with('/'),
            (false, true) => is_counted_next(),
            // `1B tokens`.
            (false, false) if is_size(&word) => next.as_deref().is_some_and(is_sent),
            (false, false) => is_unit(unit) || (is_counted_next() && word.parse::<f64>().is_ok()),
        };
        let is_percentile = word.strip_prefix('p').is_some_and(|number| number.parse::<f64>().is_ok());
        let is_known = FILLERS.contains(&&*word) || OTHERS.contains(&&*word);
        let is_other = is_known || is_not(&word) || is_unit(&word);
        !(is_amount || is_percentile || is_other) && wishes(&word).is_empty()
    };
    let length = words.iter().enumerate().take_while(|entry| may_be(*entry)).count();
    &words[..length]
}

/// Whether a number before this word is its count: `8 h100`, `4 x`, `64 sessions`.
pub fn is_counted(word: &str) -> bool {
    is_unit(word)
        || !wishes(word).is_empty()
        || ["x", "×"].contains(&word)
        || ["req", "replica", "quer"].iter().any(|begin| word.starts_with(begin))
}

/// Whether a number before this word is of a load: `1B tokens/month`.
fn is_sent(word: &str) -> bool {
    ["token", "request", "user", "prompt"].iter().any(|begin| word.starts_with(begin))
}

/// The model named by as many of these words as possible, and how many these are.
///
/// # Errors
/// If the words, or a size or version after them, match no model of the catalog.
fn named(words: &[&str]) -> Result<Option<(usize, Taken)>, Issue> {
    let longest = (1..=words.len()).rev().find_map(|length| Some((length, find(&words[..length])?)));
    // `qwen3-32b chat` names a workload, and `llama 2 7b chat` a model.
    let without_kind = longest.as_ref().and_then(|(length, taken)| {
        let (kind, name) = words[..*length].split_last()?;
        let kind = Some(kind.to_ascii_lowercase()).filter(|kind| workload::of(kind).is_some())?;
        let is_named = short_name(&taken.model.name).to_ascii_lowercase().contains(&kind);
        Some((name.len(), find(name).filter(|_| !is_named)?))
    });
    let found = without_kind.or(longest);
    let is_number = |word: &&&str| word.parse::<f64>().is_ok();
    let length = found.as_ref().map_or(1, |(length, _)| *length);
    let of_name = |word: &&&str| is_number(word) || is_size(&word.to_ascii_lowercase());
    let more = words[length..].iter().take_while(of_name).count();
    if found.is_some() && more == 0 {
        return Ok(found);
    }
    Err(unknown(&words[..length + more].join(" ")))
}

fn find(words: &[&str]) -> Option<Taken> {
    let name = words.join("-");
    if let Ok(resolved) = resolve(&name) {
        let Resolved { model, weights, states_format, issues } = resolved;
        return Some(Taken { model, weights, states_format, issues });
    }
    let small = name.to_ascii_lowercase();
    let parts: Vec<&str> = small
        .split(|letter: char| !letter.is_alphanumeric() && letter != '.')
        .filter(|part| !part.is_empty())
        .collect();
    let found = search(&parts);
    let (model, others) = found.split_first()?;
    let others: Vec<&str> = others.iter().take(NAMED).map(|model| short_name(&model.name)).collect();
    let also = if others.is_empty() { String::new() } else { format!("; others are {}", others.join(", ")) };
    let text = format!("`{}` is read as {}{also}", excerpt(&words.join(" ")), model.name);
    Some(Taken { model, weights: None, states_format: false, issues: vec![Issue::note(Field::Model, text)] })
}

/// The error for a model that the catalog lacks, with those of the same family if no name is similar.
fn unknown(name: &str) -> Issue {
    let text = resolve(name).err().unwrap_or_default();
    let small = name.to_ascii_lowercase();
    let family = small.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    let near: Vec<&str> = search(&[family])
        .into_iter()
        .filter(|_| !family.is_empty())
        .take(NAMED)
        .map(|model| &*model.name)
        .collect();
    let text = match text.contains("Did you mean") || near.is_empty() {
        true => text,
        false => {
            format!("the catalog has no model `{}`. Did you mean one of {}?", excerpt(name), near.join(", "))
        }
    };
    Issue::error(Field::Model, text).with_given(name)
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::config::link::{self, Link};
    use crate::config::{Dtype, Issue, Scenario};

    fn model(text: &str) -> (String, Vec<Issue>) {
        let (link, issues) =
            read(text, Link::new(Scenario::default())).expect("something of it is understood");
        (link.scenario.model.id().to_owned(), issues)
    }

    #[test]
    fn models_are_named_as_people_say_them() {
        for (text, id) in [
            ("llama 3.1 8b", "llama-3.1-8b"),
            ("Llama 3.3 70B 20 requests/s on h100", "llama-3.3-70b-instruct"),
            ("20 rps of deepseek r1, TPOT 30 ms", "deepseek-r1"),
            ("r1, 64 clients", "deepseek-r1"),
            ("gpt oss 120b fp8", "gpt-oss-120b"),
            ("GPT-OSS 120B 10 rps", "gpt-oss-120b"),
            ("gpt-oss:20b, 10 rps", "gpt-oss-20b"),
            ("qwen3-32b chat 300 users", "qwen3-32b"),
            ("qwen3:32b 20 rps", "qwen3-32b"),
            ("qwen 3 32b", "qwen3-32b"),
            ("mixtral 8x7b", "mixtral-8x7b-v0.1"),
            ("mistral 7b 8 GPUs", "mistral-7b-instruct-v0.3"),
            ("meta-llama/Meta-Llama-3.1-70B", "llama-3.1-70b"),
        ] {
            let (found, issues) = model(text);
            assert_eq!(found, id, "{text}");
            assert!(!issues.iter().any(|issue| issue.text.contains("ignored")), "{text}: {issues:?}");
        }
    }

    #[test]
    fn a_line_that_names_the_model_of_the_form_keeps_its_format() {
        let of = |text: &str| {
            let (link, issues) = read(text, link::decode("m=qwen3-32b&w=fp8&kv=fp8").0).expect(text);
            (link.scenario.weights, issues)
        };
        let (weights, issues) = of("Qwen3-32B, 20 rps, 4k in");
        assert_eq!(weights, Some(Dtype::Fp8));
        assert!(issues.iter().any(|issue| issue.text.contains("`weights` fp8, `kv` fp8")), "{issues:?}");
        assert_eq!(of("Qwen3-8B, 20 rps").0, None);
        assert_eq!(of("Qwen/Qwen3-32B-AWQ, 20 rps").0, Some(Dtype::Int4));
        assert_eq!(of("qwen3-32b-bf16, 20 rps").0, None);
    }

    #[test]
    fn a_kind_of_workload_is_no_model() {
        let of = |text: &str| {
            let (link, issues) = read(text, link::decode("sh=sharegpt&pc=0.5").0).expect("a load");
            (link.encode(), issues)
        };
        let (link, issues) = of("qwen3-8b, 20 rps, chat");
        assert_eq!(link, "v=1&m=qwen3-8b&isl=1020&osl=129&r=20&f=all");
        assert!(issues.len() == 1 && issues[0].text.contains("1020"), "{issues:?}");
        assert!(of("qwen3-32b chat 300 users").0.contains("isl=1020"));
        // What is stated counts, wherever it stands.
        for text in ["20 rps, 2k in, RAG workload", "20 rps, RAG workload, 2k in"] {
            let (link, issues) = of(text);
            assert_eq!(link, "v=1&isl=2000&osl=1024&pc=0.5&r=20&f=all");
            assert!(issues.iter().any(|issue| issue.text.contains("2000 tokens in")), "{issues:?}");
        }
        assert!(of("agents, 20 rps, 90% cached").0.contains("pc=0.9"));
        let (link, issues) = of("agents, 20 rps");
        assert!(link.contains("pc=0.59") && issues.len() == 1, "{issues:?}");
        assert!(of("20 rps, chat and code").1.iter().any(|issue| issue.text.contains("`chat`")));
        assert_eq!(model("code llama 34b, 20 rps").0, "codellama-34b-hf");
    }

    #[test]
    fn a_number_before_what_it_counts_is_no_part_of_a_name() {
        for (text, id) in [
            ("qwen3-32b 2 B200, 20 rps", "qwen3-32b"),
            ("qwen3-8b 8 h100 10 rps", "qwen3-8b"),
            ("llama 3.3 70b 4 x H100 at 20 rps", "llama-3.3-70b-instruct"),
            ("llama 3.3 70b 4 × H100 at 20 rps", "llama-3.3-70b-instruct"),
            ("qwen3-8b 64 sessions", "qwen3-8b"),
        ] {
            assert_eq!(model(text).0, id, "{text}");
        }
    }

    #[test]
    fn of_several_models_the_newest_of_that_size_is_taken_and_said() {
        for (text, id) in [
            ("llama 70b, 20 requests/s", "llama-3.3-70b-instruct"),
            ("llama 70b 20 requests/s", "llama-3.3-70b-instruct"),
            ("llama 8b 20 requests/s", "llama-3.1-8b"),
            ("qwen 72b 20 requests/s", "qwen2.5-72b-instruct"),
            ("qwen 32b 20 requests/s", "qwen3-32b"),
            ("gemma 27b 20 requests/s", "gemma-3-27b-it"),
        ] {
            let (found, issues) = model(text);
            assert_eq!(found, id, "{text}");
            let name = &crate::config::catalog::catalog().model(&found).expect("it is known").name;
            assert!(issues.len() == 1 && issues[0].text.contains(&**name), "{text}: {issues:?}");
        }
    }

    #[test]
    fn a_model_that_is_not_known_is_an_error_with_suggestions() {
        for (text, near) in [
            ("gpt-5 10 req/s", "gpt-oss"),
            ("10 rps, llama 3.1 9b", "Llama-3.1"),
            ("llama 5, 20 rps", "lama-"),
            ("claude-3-opus 10 rps", "config.json"),
            ("20 rps of 71b", "config.json"),
            ("Yi-Coder 9b, 20 rps", "Yi-"),
            ("Mistal 7B, 20 rps", "Mistral-7B"),
            ("20 rps of Qwn3 32b on h100", "Qwen3-32B"),
            ("Lama 3.3 70b, 20 rps", "Llama-3.3-70B"),
            ("gemini 8b, 20 rps", "`gemini 8b`"),
        ] {
            let (link, _) = link::decode("m=qwen3-8b");
            let refused = read(text, link).expect_err(text);
            assert!(refused.is_error() && refused.text.contains(near), "{text}: {}", refused.text);
        }
    }

    #[test]
    fn other_words_are_no_models() {
        for text in ["a dense 70b, 20 rps", "fp8 70b vllm, 20 rps", "20 rps, 70b", "20 rps 70b"] {
            assert_eq!(model(text).0, "llama-3.3-70b-instruct", "{text}");
        }
        for text in ["20 rps on h100-sxm, p99, 8k in", "max 8 GPUs, mi300x, TTFT 1 s", "tp8 20 rps"] {
            assert_eq!(model(text).0, Scenario::default().model.id(), "{text}");
        }
    }
}
