//! Engines as people and benchmarks write them: `TensorRT-LLM`, `trt-llm`, `tensorrt`.

use crate::config::Engine;
use crate::config::catalog::Catalog;

/// The end of every engine's name, which people leave out.
const COMMON: &str = "llm";
/// `v` is not a name.
const SHORTEST: usize = 3;

impl Catalog {
    /// The engine with this id or name, in any case, with any punctuation, and with or without its `LLM`.
    pub fn engine_named(&self, text: &str) -> Option<&Engine> {
        let wanted = letters(text);
        let is = |name: &str| {
            let known = letters(name);
            known == wanted || (wanted.len() >= SHORTEST && known.strip_suffix(COMMON) == Some(&wanted))
        };
        self.engines.engines.iter().find(|engine| is(&engine.id) || is(&engine.name))
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use crate::config::catalog::catalog;

    #[test]
    fn engines_are_known_by_any_of_their_names() {
        let named = |text: &str| catalog().engine_named(text).map(|engine| &*engine.id);
        for text in ["trtllm", "TensorRT-LLM", "tensorrt_llm", "TRT-LLM", "tensorrt", "trt"] {
            assert_eq!(named(text), Some("trtllm"), "{text}");
        }
        for (text, id) in
            [("vLLM", Some("vllm")), ("SGLang", Some("sglang")), ("v", None), ("llm", None), ("", None)]
        {
            assert_eq!(named(text), id, "{text}");
        }
    }
}
