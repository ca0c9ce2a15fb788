//! Names of models and GPUs that are not in the catalog but like some that are: `Mistal 7B`, `h1000`.

use super::model::unknown;
use super::{FILLERS, Parsed, Words};
use crate::config::names::{near_gpu, near_model};
use crate::config::{Field, Issue};

/// Families that people name. Others are too like common words, such as `step`, `seed` and `minimax`.
const FAMILIES: [&str; 9] =
    ["deepseek", "falcon", "gemma", "kimi", "llama", "mistral", "mixtral", "nemotron", "qwen"];
/// Similarity above which a word alone is a mistyped family.
const ALIKE: f64 = 0.9;
const SHORTEST: usize = 3;
/// How many letters it may lack.
const LACKING: usize = 2;
/// Words that may stand beside a size without naming a model: `a 70B model`.
const NEUTRAL: [&str; 11] = [
    "class",
    "llm",
    "llms",
    "model",
    "models",
    "parameter",
    "parameters",
    "params",
    "please",
    "sized",
    "thanks",
];

/// A size that stands for a model: `70B`.
pub struct Size {
    pub name: String,
    /// The position, among the words of the rest, of the word after it.
    pub at: usize,
}

/// # Errors
/// If a word beside the size of a model is not understood, or one anywhere is like a family and no model is named: another
/// model would be planned for.
pub fn model(lost: &[(usize, usize)], words: &Words, parsed: &Parsed) -> Result<(), Issue> {
    let size = parsed.size.as_ref();
    for (from, to) in lost.iter().copied() {
        let (first, end) = (words.word_of(from), words.word_of(to - 1) + 1);
        let of_range: Vec<&str> = (first..end).map(|at| words.typed(at)).collect();
        if let Some(Size { name, at }) = size.filter(|size| first <= size.at && size.at <= end) {
            let (before, after) = of_range.split_at(at - first);
            // `Lama 3.3` of `small Lama 3.3`.
            let begin = before.iter().position(|word| is_like_family(word));
            let begin = begin.or_else(|| before.iter().rposition(|word| is_name(word)));
            let all = match (begin, after.first()) {
                (Some(begin), _) => format!("{} {name}", before[begin..].join(" ")),
                (None, Some(word)) if is_like_family(word) => format!("{word} {name}"),
                (None, Some(word)) if is_name(word) => format!("{name} {word}"),
                _ => continue,
            };
            return Err(unknown(&all));
        }
        let is_named = parsed.has(&[Field::Model]) && size.is_none();
        if let Some(at) = of_range.iter().position(|word| !is_named && is_like_family(word)) {
            let version =
                of_range[at + 1..].iter().take_while(|word| word.contains(|c: char| c.is_ascii_digit()));
            let words = std::iter::once(&of_range[at]).chain(version).copied();
            let all: Vec<&str> = words.chain(size.map(|size| &*size.name)).collect();
            return Err(unknown(&all.join(" ")));
        }
    }
    Ok(())
}

fn is_name(word: &str) -> bool {
    word.starts_with(char::is_alphabetic) && !NEUTRAL.contains(&&*word.to_ascii_lowercase())
}

fn is_like_family(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let letters = word.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let is_long = letters.len() > SHORTEST || (letters.len() == SHORTEST && letters.len() < word.len());
    let is_like = |family: &&str| {
        letters.len() + LACKING >= family.len() && strsim::jaro_winkler(letters, family) >= ALIKE
    };
    is_long && FAMILIES.iter().any(is_like)
}

/// The GPU or model most like words that are not understood: `h1000`, `RTX 4095`.
pub fn hint((from, to): (usize, usize), words: &Words) -> Option<&'static str> {
    let (first, end) = (words.word_of(from), words.word_of(to - 1) + 1);
    let own: Vec<&str> = (first..end).map(|at| words.typed(at)).collect();
    let joined = |pair: &[&str]| [pair.join("-"), pair.concat()];
    let is_half = |word: &str| word.chars().all(|letter| letter.is_ascii_alphabetic());
    let is_number = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let are_halves = |pair: &&[&str]| {
        is_half(pair[0]) && !FILLERS.contains(&&*pair[0].to_ascii_lowercase()) && is_number(pair[1])
    };
    let is_whole = |word: &&&str| {
        word.len() >= SHORTEST
            && word.starts_with(char::is_alphabetic)
            && word.contains(|letter: char| letter.is_ascii_digit())
    };
    let mut names: Vec<String> = own.windows(2).filter(are_halves).flat_map(joined).collect();
    names.extend(own.iter().filter(is_whole).map(|word| (*word).to_owned()));
    // `RTX` before `4095` is known.
    let known = first.checked_sub(1).map(|before| [words.typed(before), own[0]]);
    let of_known = known.filter(|pair| are_halves(&&pair[..])).map(|pair| joined(&pair));
    let models = names.iter().filter_map(|name| near_model(name));
    let gpus = names.iter().chain(of_known.iter().flatten()).filter_map(|name| near_gpu(name));
    let near = models.chain(gpus);
    near.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, id)| id)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{parsed, refused};
    use super::*;
    use crate::config::names::begins_name;

    #[test]
    fn a_size_beside_an_unknown_word_is_no_model() {
        for (text, name, near) in [
            ("Mistal 7B, 20 req/s", "`Mistal 7B`", "Mistral-7B"),
            ("20 req/s of Mistal 7B on h100", "`Mistal 7B`", "Mistral-7B"),
            ("7B Mistal, 20 req/s", "`Mistal 7B`", "Mistral-7B"),
            ("Mistal for chat, 7B, 20 req/s", "`Mistal 7B`", "Mistral-7B"),
            ("Lama 8B, 20 req/s", "`Lama 8B`", "Llama-3.1-8B"),
            ("Mistal instruct 7B, 20 req/s", "`Mistal instruct 7B`", "Mistral-7B"),
            ("Lama 3.3 70B, 20 req/s", "`Lama 3.3 70B`", "Llama-3.3-70B"),
            ("Lama 71b, 20 req/s", "`Lama 71b`", "lama"),
            ("Gema 27b, 20 req/s", "`Gema 27b`", "gemma"),
            ("Mixtrl 8x7b, 20 req/s", "`Mixtrl 8x7b`", "Mixtral-8x7B"),
            ("Qwn3 32b, 20 req/s", "`Qwn3 32b`", "Qwen3-32B"),
            ("gemini 8b, 20 rps", "`gemini 8b`", "catalog"),
        ] {
            let refused = refused(text);
            assert!(refused.contains(name) && refused.contains(near), "{text}: {refused}");
            assert!(near == "catalog" || refused.contains("Did you mean"), "{text}: {refused}");
        }
        for text in
            ["20 req/s of 70b on h100", "a 70B model, 20 rps", "fp8 70b vllm, 20 rps", "70b, 20 rps, please"]
        {
            assert!(parsed(text).0.contains("m=llama-3.3-70b-instruct"), "{text}");
        }
    }

    #[test]
    fn a_mistyped_family_alone_is_no_word_to_ignore() {
        assert!(refused("Lama 3.3, 20 rps").contains("Llama-3.3"));
        for text in ["Mistal, 20 req/s", "Lama, 20 req/s", "20 req/s of qwenn"] {
            assert!(refused(text).contains("Did you mean"), "{text}: {}", refused(text));
        }
        for text in [
            "qwen3-8b like Mistal, 20 rps",
            "high speed, deep research, a mixture, minimal cost, our grant, 20 rps",
        ] {
            assert!(parsed(text).0.contains("r=20"), "{text}");
        }
        assert!(FAMILIES.iter().all(|family| begins_name(family) || *family == "nemotron"));
    }

    #[test]
    fn mistyped_gpus_have_a_proposal() {
        for (text, near) in [
            ("20 rps on h1000", "`h1000`; did you mean h100-sxm?"),
            ("20 rps on 8 h1000", "did you mean h100-sxm?"),
            ("20 rps on 8x h1000", "did you mean h100-sxm?"),
            ("20 rps on H 100", "did you mean h100-sxm?"),
            ("20 rps on mi300", "did you mean mi300x?"),
            ("20 rps on RTX 4095", "did you mean rtx-4090?"),
            ("20 rps on b2000", "did you mean b200?"),
            ("20 rps, Lama8B", "did you mean llama-3"),
        ] {
            assert!(refused(text).contains(near), "{text}: {}", refused(text));
        }
        for text in ["20 rps vLLM V1", "20 rps, power 400 W", "20 rps, TTFT 1 parsec", "20 rps, $40 please"] {
            assert!(!refused(text).contains("did you mean"), "{text}: {}", refused(text));
        }
    }
}
