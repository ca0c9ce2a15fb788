//! The version of an engine whose log does not print it.

use super::StartCase;
use crate::config::Version;
use crate::config::command::{Release, Threads, launches};

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
    let Release { version, .. } =
        launches().engines.iter().filter_map(|of| of.threads.as_ref()).find_map(of_repository)?;
    Some((version.as_str().into(), Some(format!("version {version}, from the thread's number"))))
}

/// `0.11.0` of `v0.11.0`.
fn named(word: &str) -> Option<&str> {
    let version = word.strip_prefix('v')?;
    let mut parts = version.split('.');
    let number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    (number(parts.next()) && number(parts.next())).then_some(version)
}
