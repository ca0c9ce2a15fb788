//! The settings in a file that a text writes for the engine.

use super::flags::Flag;
use super::options::{Setting, setting};
use super::yaml::{uncommented, unquoted};

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
    let (mut first, mut outer, mut all) = (None, String::new(), Vec::new());
    for line in whole(lines) {
        let indent = line.len() - line.trim_start().len();
        let is_inner = indent > *first.get_or_insert(indent);
        let line = line.trim();
        let (key, value) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
        let value = unquoted(value.trim());
        if !is_inner {
            key.clone_into(&mut outer);
        }
        // The value of an option that takes JSON stays whole.
        let is_json = |inner: &str| {
            inner.trim_start().starts_with('"') && setting(&Flag::new(key, None).name).is_some()
        };
        match value.strip_prefix('{') {
            _ if value.is_empty() || key.contains(' ') => all.push(line.to_owned()),
            Some(inner) if !is_inner && !is_json(inner) => {
                let mut depth = 0;
                let is_end = |letter| {
                    depth += step(letter);
                    letter == ',' && depth == 0
                };
                let parts = inner.strip_suffix('}').unwrap_or(inner).split(is_end);
                let pairs = parts.filter_map(|part| part.split_once(':'));
                all.extend(
                    pairs.map(|(key, value)| within(unquoted(key.trim()), &outer, unquoted(value.trim()))),
                );
            }
            _ if is_inner => all.push(within(key, &outer, value)),
            _ => all.push(format!("{key}: {value}")),
        }
    }
    all
}

/// A setting inside another, by the name that it has for all engines.
fn within(key: &str, outer: &str, value: &str) -> String {
    match (outer, key) {
        ("kv_cache_config", "dtype") => format!("kv_cache_dtype: {value}"),
        ("kv_cache_config", _) => format!("{key}: {value}"),
        _ => format!("{outer}.{key}: {value}"),
    }
}

/// How much deeper in brackets a letter leads.
fn step(letter: char) -> i32 {
    i32::from(matches!(letter, '[' | '{')) - i32::from(matches!(letter, ']' | '}'))
}

/// The lines without comments; a list or a mapping in brackets is one line, however many it has.
fn whole<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let (mut all, mut depth) = (Vec::<String>::new(), 0);
    for line in lines.map(uncommented).filter(|line| !line.trim().is_empty()) {
        let item = line.trim_start().strip_prefix("- ");
        match all.last_mut().filter(|_| depth > 0 || item.is_some()) {
            Some(last) => {
                last.push(' ');
                last.push_str(item.unwrap_or(line).trim());
            }
            None => all.push(line.to_owned()),
        }
        depth = depth.max(0) + line.chars().map(step).sum::<i32>();
    }
    all
}
