//! What a request excludes: `without b200 and vllm`.

use super::hardware::{add, vendor, wishes};
use super::{BREAK, FILLERS, Parsed, Words, quoted};
use crate::config::{Field, Issue, excerpt};
use crate::find::layouts;

/// Words that precede an exclusion.
const NOT: [&str; 20] = [
    "without",
    "w/o",
    "except",
    "excepting",
    "excluding",
    "exclude",
    "excluded",
    "not",
    "no",
    "nor",
    "neither",
    "never",
    "cannot",
    "avoid",
    "avoiding",
    "skip",
    "ignore",
    "minus",
    "dont",
    "but",
];

/// Whether `word` begins an exclusion.
pub fn is_not(word: &str) -> bool {
    NOT.contains(&word) || word.ends_with("n't")
}

fn another(words: &mut Words) -> bool {
    words.next_as(|word| is_not(word).then_some(())).is_some()
}
/// Reads an exclusion: GPUs and engines, up to the end of the clause. Anything else would be dropped, or be requested
/// instead of excluded.
pub fn not(word: &str, words: &mut Words, parsed: &mut Parsed) -> Option<Field> {
    let from = words.at - 1;
    let mut known = Vec::new();
    let is_but = word == "but" && !another(words);
    let mut goes_to;
    loop {
        goes_to = false;
        loop {
            if words.next_if(&["and", "or"]) {
                goes_to = !known.is_empty();
            } else if !another(words) && !words.next_if(&FILLERS) {
                break;
            }
        }
        if let Some(all) = vendor(words) {
            known.extend(all.into_iter().map(|id| (Field::Gpu, id)));
            continue;
        }
        let named = |word: &str| Some(wishes(word)).filter(|all| !all.is_empty());
        match words.next_as(named) {
            Some(named) => known.extend(named),
            None => break,
        }
    }
    // `fast but cheap` excludes nothing.
    if is_but && known.is_empty() {
        return None;
    }
    let fields: Vec<Field> = known.iter().map(|(field, _)| *field).collect();
    let ends = words.peek().is_none_or(|next| next == BREAK);
    // `except b200, h100`: without the one, or without both?
    let goes_on = ends && {
        let end = words.at;
        while words.next_if(&[BREAK]) {}
        let next = words.next_as(|word| wishes(word).first().map(|(field, _)| *field));
        let next = next.or_else(|| vendor(words).map(|_| Field::Gpu));
        words.at = end;
        next.is_some_and(|next| fields.contains(&next))
    };
    if is_but || fields.is_empty() || goes_on || fields.contains(&Field::Weights) {
        let end = if fields.is_empty() && !ends { words.at + 1 } else { words.at };
        let phrase = words.phrase(from, end);
        parsed.refused.push(wanted(&phrase));
    }
    if goes_to {
        parsed.left_out_to = Some(words.at);
    }
    parsed.left_out.extend(known);
    fields.first().copied().or(Some(Field::Vary))
}

pub fn wanted(phrase: &str) -> String {
    format!(
        "`{}`: only GPUs and engines can be excluded, joined by `and`: `without B200 and vLLM`",
        excerpt(phrase)
    )
}

impl Parsed {
    /// Adds the GPUs of vendors if no GPU is named. Then removes exclusions from what is named or, if nothing is named, from
    /// everything there is.
    ///
    /// # Errors
    /// If nothing is left.
    pub fn leave_out(&mut self) -> Result<(), Issue> {
        if self.find.list(Field::Gpu).is_empty() {
            std::mem::take(&mut self.of_vendors).into_iter().for_each(|id| add(Field::Gpu, id, self));
        }
        for field in [Field::Gpu, Field::Engine] {
            let left_out: Vec<&str> =
                self.left_out.iter().filter(|(of, _)| *of == field).map(|(_, id)| *id).collect();
            if left_out.is_empty() {
                continue;
            }
            let named: Vec<String> = self.find.list(field).into_iter().map(str::to_owned).collect();
            let all = if named.is_empty() { layouts::all(field).unwrap_or_default() } else { named };
            let (gone, left): (Vec<_>, Vec<_>) = all.into_iter().partition(|id| left_out.contains(&&**id));
            if left.is_empty() {
                let text = format!("nothing is left to try without {}", quoted(&gone));
                return Err(Issue::error(Field::Vary, text));
            }
            gone.iter().for_each(|id| self.find.set_number(Field::Owned, id, ""));
            self.find.set(field, &left.join(","));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{link, refused};
    use crate::config::catalog::catalog;

    #[test]
    fn engines_are_left_out_by_any_name() {
        for name in ["TensorRT-LLM", "trt-llm", "tensorrt", "trtllm"] {
            assert_eq!(link(&format!("20 rps without {name}")), "v=1&r=20&f=engine~vllm,sglang", "{name}");
        }
    }

    #[test]
    fn what_is_left_out_is_not_tried() {
        let gpus = catalog().gpus.gpus.iter().map(|gpu| gpu.id.as_str());
        let but = |left_out: &[&str]| {
            let left: Vec<&str> = gpus.clone().filter(|id| !left_out.contains(id)).collect();
            format!("v=1&r=20&f=gpu~{}", left.join(","))
        };
        for text in [
            "20 rps without b200",
            "20 rps, any GPU except B200",
            "20 rps, not on b200.",
            "20 rps, anything but b200",
            "20 rps, but not b200",
            "don’t use b200, 20 rps",
            "can't use b200, 20 rps",
        ] {
            assert_eq!(link(text), but(&["b200"]), "{text}");
        }
        assert_eq!(link("20 rps excluding b200 and l4"), but(&["b200", "l4"]));
        let amd = ["mi300x", "mi325x", "mi350x", "mi355x"];
        assert_eq!(link("20 rps, no AMD"), but(&amd));
        assert_eq!(link("20 rps without l4 and amd"), but(&[&["l4"][..], &amd].concat()));
        assert_eq!(link("20 rps, no NVIDIA B200"), but(&["b200"]));
        for text in ["20 rps, not vllm", "20 rps, no vllm", "20 rps without vLLM"] {
            let found = link(text);
            assert!(found.contains("engine~") && !found.contains("vllm"), "{text}: {found}");
        }
        assert_eq!(link("20 rps on h200-sxm b200, without b200"), "v=1&r=20&f=gpu~h200-sxm");
        assert_eq!(link("20 rps, h200-sxm instead of b200"), "v=1&r=20&f=gpu~h200-sxm");
        assert_eq!(link("20 rps, no more than 8 GPUs"), "v=1&r=20&f=budget_gpus~8");
    }

    #[test]
    fn what_cannot_be_left_out_is_refused() {
        for (text, phrase) in [
            ("20 rps, no fp8", "`no fp8`"),
            ("20 rps, except b200, h200", "`except b200`"),
            ("20 rps, no disaggregated", "`no disaggregated`"),
            ("20 rps, b200 excluded", "`excluded`"),
            ("20 rps on b200, not b200", "`b200`"),
            ("20 rps, not llama-3.1-8b", "`not llama-3.1-8b`"),
        ] {
            assert!(refused(text).contains(phrase), "{text}: {}", refused(text));
        }
    }
}
