//! Links that have been shared, and what they mean forever.

use rooflight::config::inputs::{Input, Range};
use rooflight::config::link::{Link, decode};
use rooflight::config::{Dtype, Field, Issue, Scenario, inputs};
use serde_json::Value;

/// Links of schema version 1 and what each means: the JSON form, of all fields where it names its version. Links live
/// for years, so lines are added and none is ever edited: [`SEALED`] notices.
const FROZEN: &str = include_str!("../data/links_v1.txt");

/// The number of sealed lines and their hash by [`fnv1a`]. New lines are added after them; a new seal may include
/// these.
const SEALED: (usize, u64) = (267, 0x10a1_9e68_b288_7733);

/// The 64-bit FNV-1a hash.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The links, what each means, and what those mean that it sets beside it.
fn frozen() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    FROZEN.lines().filter(|line| !line.starts_with("# ")).map(|line| {
        let mut parts = line.split('\t');
        let (link, json) = (parts.next().unwrap(), parts.next().expect("a link and what it means"));
        (link, json, parts.collect())
    })
}

#[test]
fn old_links_keep_their_meaning() {
    let value = |json: &str| serde_json::from_str::<Value>(json).unwrap();
    for (text, json, compared) in frozen() {
        let (expected, issues) = Link::from_json(json);
        assert_eq!(issues, [], "{json}");
        let (link, issues) = decode(text);
        // The only warning is about keys that no input has.
        let unknown = |issue: &Issue| issue.field == Field::Link && !issue.is_error();
        assert!(issues.iter().all(unknown), "{text}: {issues:?}");
        assert_eq!(issues.is_empty(), link.extra.is_empty(), "{text}");
        let meant = |link: &Link| (link.scenario.clone(), link.data_release.clone());
        assert_eq!(Some(meant(&link)), expected.as_ref().map(meant), "{text}");
        // If every field is named, none of the present defaults is involved.
        if json.contains("\"version\"") {
            assert_eq!(link.to_json(), value(json), "{text}");
        }
        let found: Vec<Value> = link.compared.iter().map(Scenario::to_json).collect();
        assert_eq!(found, compared.into_iter().map(value).collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn frozen_links_are_never_edited() {
    let (lines, sum) = SEALED;
    let sealed: Vec<&str> = FROZEN.lines().take(lines).collect();
    assert_eq!(sealed.len(), lines, "lines have gone");
    let found = fnv1a(sealed.iter().flat_map(|line| line.bytes()));
    assert!(found == sum, "one of the first {lines} lines was edited: their sum is {found:#x}");
}

/// Links with a number all over its range, a line each; `None` for other inputs, whose lines are written by hand.
fn lines_with(input: &Input) -> Option<String> {
    let number = input.number.as_ref()?;
    let Range { min, max } = number.range;
    let line = |tenths: u32| {
        let at = min + (max - min) * f64::from(tenths) / 10.0;
        let typed = number.print(if number.whole { at.round() } else { at });
        let mut link = Link::new(Scenario::default());
        (number.write)(&mut link.scenario, number.parse(&typed));
        format!("#{}\t{}\n", link.encode(), link.to_json())
    };
    Some((0..=10).map(line).collect())
}

#[test]
fn frozen_links_hold_every_key_and_format() {
    let links: Vec<&str> = frozen().map(|(link, ..)| link).collect();
    assert!(links.len() >= 200);
    let holding = |input: &&Input| {
        let (first, later) = (format!("#{}=", input.key), format!("&{}=", input.key));
        links.iter().filter(|link| link.starts_with(&first) || link.contains(&later)).count()
    };
    let missing: Vec<&Input> = inputs::in_links().filter(|input| holding(input) < 10).collect();
    let added: String = missing.iter().copied().filter_map(lines_with).collect();
    if std::env::var_os("ROOFLIGHT_WRITE").is_some() && !added.is_empty() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/links_v1.txt");
        return std::fs::write(path, FROZEN.to_owned() + &added).unwrap();
    }
    let keys: Vec<&str> = missing.iter().map(|input| input.key).collect();
    assert!(
        keys.is_empty(),
        "fewer than 10 links hold {keys:?}: ROOFLIGHT_WRITE=1 cargo test --test links adds numbers"
    );
    for &dtype in Dtype::ALL {
        assert!(links.iter().any(|link| link.contains(&format!("&w={}", dtype.id()))), "{dtype:?}");
    }
}
