//! The variables that a text sets: those of its own commands, and those that the engine reads.

use std::collections::BTreeMap;

use super::launches::launches;
use super::yaml::uncommented;

/// Bytes that their values may add to a text.
const MOST: usize = 64 * 1024;

/// Bytes of the longest word that is read.
const LONGEST: usize = 4096;

/// Words before an assignment.
const SET: [&str; 4] = ["export", "readonly", "declare", "local"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    all: BTreeMap<String, String>,
    added: usize,
}

impl Variables {
    pub fn set(&mut self, name: String, value: String) {
        self.all.insert(name, value);
    }

    /// The words of a command with the values of known variables. A command that only sets some is remembered.
    pub fn read(&mut self, words: Vec<String>) -> Vec<String> {
        let words: Vec<String> = words.into_iter().flat_map(|word| self.words(word)).collect();
        let of_set = words.iter().take_while(|word| SET.contains(&word.as_str())).count();
        let set: Vec<_> = words[of_set..].iter().map(|word| word.split_once('=')).collect();
        let is_name = |name: &str| !name.is_empty() && name_length(name) == name.len();
        if set.iter().all(|pair| pair.is_some_and(|(name, _)| is_name(name))) {
            self.all.extend(set.into_iter().flatten().map(|(name, value)| (name.into(), value.into())));
        }
        words
    }

    /// `$ARGUMENTS` may stand for several words.
    fn words(&mut self, word: String) -> Vec<String> {
        if !word.contains('$') || word.len() > LONGEST {
            return vec![word];
        }
        let text = self.text(&word);
        let is_list = word.starts_with('$') && text.starts_with('-') && text.contains(' ');
        let words = if is_list { shlex::split(&text) } else { None };
        words.unwrap_or_else(|| vec![text])
    }

    /// `$NAME`, `${NAME}`, Kubernetes' `$(NAME)`, and `${NAME:-value}` with their values; others as they are.
    fn text(&mut self, word: &str) -> String {
        let (mut text, mut rest) = (String::new(), word);
        while let Some((before, after)) = rest.split_once('$') {
            let is_braced = after.starts_with('{');
            let inner = after.strip_prefix(['{', '(']);
            let inner = inner.and_then(|inner| inner.split_once(if is_braced { '}' } else { ')' }));
            let inner = inner.map(|(inner, _)| inner);
            let within = inner.unwrap_or(after);
            let (name, default) = within.split_at(name_length(within));
            let length = inner.map_or(name.len(), |inner| inner.len() + 2);
            // A shell runs what is in parentheses, unless it is a name alone.
            let is_run = after.starts_with('(') && !default.is_empty();
            let known = self.all.get(name).map(String::as_str).filter(|_| !is_run);
            let default = default.trim_start_matches(':').strip_prefix(['-', '=']).filter(|_| is_braced);
            let value = known.or(default).filter(|value| self.added + value.len() <= MOST);
            text += before;
            match value {
                Some(value) => {
                    text += value;
                    self.added += value.len();
                }
                None => text.extend(["$", &after[..length]]),
            }
            rest = &after[length..];
        }
        text + rest
    }
}

/// Bytes of the name that `text` starts with.
fn name_length(text: &str) -> usize {
    let other = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
    text.find(other).unwrap_or(text.len())
}

/// The engine's environment variables that a text sets: for a command, in a container, or in a script.
pub fn environment(text: &str, engine: &str) -> Vec<String> {
    let starts = launches().of(engine).map(|of| &of.variables[..]).unwrap_or_default();
    let mut set: Vec<String> = Vec::new();
    for word in text.lines().map(uncommented).flat_map(str::split_whitespace) {
        let word = word.trim_start_matches("--env=").trim_matches(['"', '\'', ',', ':']);
        let is_name = |name: &str| {
            name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
        };
        let name = word.split('=').next().unwrap_or_default();
        if starts.iter().any(|start| word.starts_with(start))
            && is_name(name)
            && !set.iter().any(|one| one == word)
        {
            set.push(word.to_owned());
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_values_of_variables() {
        let mut variables = Variables::default();
        let mut read = |text: &str| variables.read(shlex::split(text).expect("words")).join(" ");
        read("export MODEL=Qwen/Qwen3-8B TP=4");
        read("ARGUMENTS=\"--tp $TP --pp 2\"");
        assert_eq!(read("serve $MODEL $ARGUMENTS"), "serve Qwen/Qwen3-8B --tp 4 --pp 2");
        assert_eq!(read("${TP}x ${SEQS:-256} $OTHER ${OTHER} $ 5$"), "4x 256 $OTHER ${OTHER} $ 5$");
        assert_eq!(read("$(TP)x '$(TP -1)' $(nproc) $("), "4x $(TP -1) $(nproc) $(");
        read("TP=8");
        assert_eq!(read("TP=2 serve $TP"), "TP=2 serve 8");
    }

    #[test]
    fn values_of_values_stay_short() {
        let mut variables = Variables::default();
        variables.read(vec!["A=0123456789".into()]);
        for _ in 0..100 {
            variables.read(vec!["A=$A$A".into()]);
        }
        assert!(variables.read(vec!["$A$A$A".into()]).concat().len() <= 3 * MOST);
    }
}
