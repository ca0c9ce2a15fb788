//! Parses commands and configuration files into settings: `--name value`, `--name=value`, `name: value`.

use crate::units::significant;

/// A setting: its name with underscores and without leading dashes, and its value; `None` for a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    pub name: String,
    pub value: Option<String>,
}

/// vLLM's options of compilation, each of which may be given after a dot.
const COMPILATION: [&str; 3] = ["compilation_config", "cc", "o"];

impl Flag {
    pub fn new(name: &str, value: Option<&str>) -> Self {
        let name = name.trim_start_matches('-').replace('-', "_").to_ascii_lowercase();
        let own = COMPILATION.iter().find_map(|of| name.strip_prefix(of)?.strip_prefix('.'));
        let name = own.map(str::to_owned).unwrap_or(name);
        Self { name, value: value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()) }
    }

    pub fn number(&self) -> Option<f64> {
        self.value.as_deref()?.parse().ok()
    }

    /// The number that `2k`, `1K` or `0.5m` stands for: small letters are powers of 1000, large ones of 1024.
    pub fn amount(&self) -> Option<f64> {
        const UNITS: [(char, f64); 6] =
            [('k', 1e3), ('m', 1e6), ('g', 1e9), ('K', 1024.0), ('M', 1_048_576.0), ('G', 1_073_741_824.0)];
        let text = self.value.as_deref()?;
        match UNITS.iter().find_map(|(unit, times)| Some((text.strip_suffix(*unit)?, times))) {
            // In floating point, 32.7 × 1000 is not whole.
            Some((number, times)) => number.parse::<f64>().ok().map(|number| significant(number * times, 12)),
            None => self.number(),
        }
    }

    /// Whether it is a switch that is on.
    pub fn on(&self) -> bool {
        !self
            .value
            .as_deref()
            .is_some_and(|value| ["false", "0", "off", "no"].contains(&&*value.to_ascii_lowercase()))
    }
}

/// The settings of `text`, in order. Words that belong to none are dropped.
pub fn flags(text: &str) -> Vec<Flag> {
    text.lines().flat_map(|line| of_line(line.split(" #").next().unwrap_or(line).trim())).collect()
}

fn of_line(line: &str) -> Vec<Flag> {
    if !line.contains(" --")
        && !line.starts_with('-')
        && let Some((name, value)) = line.split_once(": ")
        && !name.contains(' ')
    {
        return vec![Flag::new(name, Some(value))];
    }
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_end_matches([',', ';'])).collect();
    of_words(&words).0
}

/// Flags of several words.
const LISTS: [&str; 4] = ["cudagraph_capture_sizes", "cuda_graph_bs", "lora_modules", "goodput"];

/// The settings of a command's words, and the words that belong to none.
pub fn of_words<'a>(words: &[&'a str]) -> (Vec<Flag>, Vec<&'a str>) {
    let (mut flags, mut others) = (Vec::new(), Vec::new());
    let mut rest = words.iter().copied().peekable();
    while let Some(word) = rest.next() {
        if !is_flag(word) {
            others.push(word);
            continue;
        }
        flags.push(match word.split_once('=') {
            Some((name, value)) => Flag::new(name, Some(value)),
            None => match Flag::new(word, None) {
                flag if LISTS.contains(&&*flag.name) => {
                    let words: Vec<&str> =
                        std::iter::from_fn(|| rest.next_if(|next| !is_flag(next))).collect();
                    Flag::new(word, Some(&words.join(" ")))
                }
                _ => {
                    let value = rest.next_if(|next| !is_flag(next) && (!is_switch(word) || is_bool(next)));
                    Flag::new(word, value)
                }
            },
        });
    }
    (flags, others)
}

/// Whether a flag's name says that it needs no value: the model may follow it.
fn is_switch(flag: &str) -> bool {
    let name = flag.trim_start_matches('-');
    ["enable", "disable", "no-", "no_", "trust", "enforce", "async"]
        .iter()
        .any(|start| name.starts_with(start))
}

fn is_bool(word: &str) -> bool {
    ["true", "false", "0", "1", "on", "off", "yes", "no"].contains(&&*word.to_ascii_lowercase())
}

fn is_flag(word: &str) -> bool {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
    word.starts_with("--") || name.is_some_and(|name| name.starts_with(|letter: char| letter.is_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_files_are_read() {
        let flag =
            |name: &str, value: Option<&str>| Flag { name: name.into(), value: value.map(str::to_owned) };
        assert_eq!(
            flags(
                "vllm serve a/b -tp 8 --max-num-seqs=512 --enable-chunked-prefill=False --trust-remote-code"
            ),
            [
                flag("tp", Some("8")),
                flag("max_num_seqs", Some("512")),
                flag("enable_chunked_prefill", Some("False")),
                flag("trust_remote_code", None)
            ]
        );
        assert_eq!(
            flags("block-size: 32  # a bug\nasync-scheduling: true"),
            [flag("block_size", Some("32")), flag("async_scheduling", Some("true"))]
        );
        assert!(!flags("--enable-chunked-prefill=False")[0].on());
    }
}
