//! The version of an engine whose log does not print it.

use std::sync::LazyLock;

use serde::Deserialize;

use super::StartCase;
use crate::config::Version;

/// `static/catalog/threads.json`: which release an issue or pull request of an engine's repository is of.
#[derive(Deserialize)]
struct All {
    threads: Vec<Threads>,
}

#[derive(Deserialize)]
struct Threads {
    repository: String,
    /// Oldest first.
    releases: Vec<Release>,
}

#[derive(Deserialize)]
struct Release {
    /// The first number after it.
    from: u32,
    version: String,
}

static ALL: LazyLock<All> = LazyLock::new(|| {
    let read = serde_json::from_str(include_str!("../../../static/catalog/threads.json"));
    read.unwrap_or_else(|fault| panic!("static/catalog/threads.json: {fault}"))
});

/// The version, and how it is known if the log does not print it; `None` if it cannot be told.
pub fn version(case: &StartCase) -> Option<(Version, Option<String>)> {
    if let Some(printed) = &case.engine_version {
        return Some((printed.clone(), None));
    }
    if let Some(noted) = case.note.split([' ', ',', ';']).find_map(named) {
        return Some((noted.into(), Some(format!("version {noted}, from the note"))));
    }
    let of_repository = |threads: &'static Threads| {
        let number = case.source.strip_prefix(&threads.repository)?.strip_prefix('#')?;
        let number: u32 = number.split_whitespace().next()?.parse().ok()?;
        threads.releases.iter().rev().find(|release| number >= release.from)
    };
    let Release { version, .. } = ALL.threads.iter().find_map(of_repository)?;
    Some((version.as_str().into(), Some(format!("version {version}, from the thread's number"))))
}

/// `0.11.0` of `v0.11.0`.
fn named(word: &str) -> Option<&str> {
    let version = word.strip_prefix('v')?;
    let mut parts = version.split('.');
    let number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    (number(parts.next()) && number(parts.next())).then_some(version)
}
