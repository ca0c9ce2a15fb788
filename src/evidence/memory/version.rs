//! The version of an engine whose log does not print it.

use super::StartCase;
use crate::config::Version;

/// The first thread number after each release, by repository.
const THREADS: [(&str, &[(u32, &str)]); 2] = [
    (
        "vllm-project/vllm#",
        &[
            (14_000, "0.8.0"),
            (20_500, "0.9.2"),
            (26_100, "0.11.0"),
            (36_300, "0.17.0"),
            (42_500, "0.21.0"),
            (47_500, "0.24.0"),
        ],
    ),
    ("NVIDIA/TensorRT-LLM#", &[(0, "0.5.0"), (9_000, "1.1.0")]),
];

/// The version, and how it is known if the log does not print it; `None` if it cannot be told.
pub fn version(case: &StartCase) -> Option<(Version, Option<String>)> {
    if let Some(printed) = &case.engine_version {
        return Some((printed.clone(), None));
    }
    if let Some(noted) = case.note.split([' ', ',', ';']).find_map(named) {
        return Some((noted.into(), Some(format!("version {noted}, from the note"))));
    }
    let of_repository = |(repository, releases): &(&str, &'static [(u32, &'static str)])| {
        let number: u32 = case.source.strip_prefix(repository)?.split_whitespace().next()?.parse().ok()?;
        releases.iter().rev().find(|(first, _)| number >= *first)
    };
    let (_, version) = THREADS.iter().find_map(of_repository)?;
    Some(((*version).into(), Some(format!("version {version}, from the thread's number"))))
}

/// `0.11.0` of `v0.11.0`.
fn named(word: &str) -> Option<&str> {
    let version = word.strip_prefix('v')?;
    let mut parts = version.split('.');
    let number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    (number(parts.next()) && number(parts.next())).then_some(version)
}
