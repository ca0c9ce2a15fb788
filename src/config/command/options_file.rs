//! The settings in a file that a text writes for the engine.

use super::flags::Flag;
use super::options::{Setting, setting};

/// The settings in files that a text writes (`cat > options.yaml <<EOF`), if the engine is given such a file. JSON is a
/// benchmark's.
pub fn written_in(text: &str) -> Vec<String> {
    let (mut all, mut end, mut is_json) = (Vec::new(), None, false);
    let names_file = |word: &str| {
        let name = word.split('=').next().unwrap_or(word);
        name.starts_with("--") && setting(&Flag::new(name, None).name) == Some(Setting::OptionsFile)
    };
    let is_given = text.split_whitespace().any(names_file);
    for line in text.lines().filter(|_| is_given) {
        match end {
            Some(mark) if line.trim() == mark => end = None,
            Some(_) if is_json => {}
            Some(_) => all.push(line),
            None => {
                let word = line.split_once("<<").and_then(|(_, rest)| rest.split_whitespace().next());
                let mark = word.map(|word| word.trim_matches(['-', '\'', '"']));
                end = mark.filter(|mark| mark.starts_with(char::is_alphabetic));
                is_json = line.contains(".json");
            }
        }
    }
    settings_of(all.into_iter())
}

/// The settings of a YAML file, those within another as `outer.inner: value`.
pub fn settings_of<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let (mut first, mut outer) = (None, "");
    let setting = |line: &'a str| {
        let (indent, line) = (line.len() - line.trim_start().len(), line.trim());
        let is_inner = indent > *first.get_or_insert(indent);
        let key = line.split(':').next().unwrap_or(line);
        outer = if is_inner { outer } else { key };
        match (is_inner, outer, key) {
            (true, "kv_cache_config", "dtype") => format!("kv_cache_{line}"),
            (false, ..) | (_, "kv_cache_config" | "speculative_config", _) => line.to_owned(),
            _ => format!("{outer}.{line}"),
        }
    };
    lines.filter(|line| !line.trim().is_empty()).map(setting).collect()
}
