use proptest::prelude::*;

use super::*;
use crate::config::{Severity, catalog};

/// The model's id, the weight format if the name gives one, and whether there is a note.
fn found(name: &str) -> Result<(&'static str, Option<Dtype>, bool), String> {
    let found = resolve(name)?;
    if let Some(issue) = found.issues.iter().find(|issue| issue.is_error()) {
        return Err(issue.text.clone());
    }
    let warns = found.issues.iter().any(|issue| issue.severity == Severity::Warning);
    Ok((found.model.id.as_str(), found.weights, warns))
}

/// The rows of a table in `tests/data`.
fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().skip(1).map(|line| line.split(',').collect())
}

/// Checkpoints in common use, with the format that the name gives, if any.
#[test]
fn published_names_stand_for_their_architecture() {
    for row in rows(include_str!("../../../tests/data/names.csv")) {
        let [name, id, format] = row[..] else { panic!("{row:?}") };
        let found = found(name).map(|(id, weights, _)| (id, weights.map_or("", Dtype::id)));
        assert_eq!(found, Ok((id, format)), "{name}");
    }
}

/// Names that match no catalog model or no supported format.
#[test]
fn unknown_names_are_refused_with_suggestions() {
    for row in rows(include_str!("../../../tests/data/names_refused.csv")) {
        let [name, part] = row[..] else { panic!("{row:?}") };
        let reason = found(name).expect_err(name);
        assert!(reason.contains(part), "{name}: {reason}");
    }
}

#[test]
fn the_resolved_model_is_reported() {
    let texts =
        |name: &str| resolve(name).unwrap().issues.into_iter().map(|issue| issue.text).collect::<Vec<_>>();
    assert_eq!(
        texts("nvidia/DeepSeek-R1-0528-FP4-V2"),
        [
            "`nvidia/DeepSeek-R1-0528-FP4-V2` is read as deepseek-ai/DeepSeek-R1, with experts in NVFP4, as its name says"
        ]
    );
    assert!(texts("zai-org/GLM-4.5")[1].ends_with("Its longest context is 131,072 tokens."));
    assert!(found("zai-org/GLM-4.5").unwrap().2);
    assert!(texts("x/Qwen3-32B-Q4_K_M.gguf")[1].contains("GGUF Q4_K_M"));
}

/// By its name, its id and as lists show it: each is itself.
#[test]
fn every_model_of_the_catalog_is_found_by_its_names() {
    for model in &catalog().models.models {
        let shown = model.name.split_once('/').map(|(publisher, name)| format!("{name} ({publisher})"));
        for name in [Some(model.name.clone()), Some(model.id.clone()), Some(model.name.to_uppercase()), shown]
            .into_iter()
            .flatten()
        {
            assert_eq!(found(&name), Ok((model.id.as_str(), None, false)), "{name}");
        }
    }
}

#[test]
fn the_rules_are_sound() {
    let rules = rules();
    let lower = |text: &str| text == text.to_ascii_lowercase();
    for format in &rules.formats {
        assert!(
            format.weights.is_some() != format.without.is_some() && lower(&format.words),
            "{}",
            format.words
        );
    }
    for same in &rules.same {
        assert!(catalog().model(&same.id).is_some(), "{}", same.id);
        let found = resolve(&same.name).unwrap_or_else(|reason| panic!("{reason}"));
        let taken = found.model.name.clone();
        let base = Name::read(&taken).base();
        assert_eq!(base, Name::read(&catalog().model(&same.id).unwrap().name).base(), "{}", same.name);
    }
    for base in rules.native.keys() {
        assert!(NAMED_MODELS.iter().any(|known| known.base == *base), "{base}");
    }
    assert!(rules.tunings.iter().chain(&rules.releases).all(|word| lower(word)));
    assert!(!source().is_empty());
}

#[test]
fn two_models_of_the_catalog_share_a_base_only_where_their_shapes_agree() {
    for one in NAMED_MODELS.iter() {
        for other in NAMED_MODELS.iter().filter(|other| other.base == one.base) {
            let (a, b) = (one.model, other.model);
            assert_eq!(
                (a.hidden, a.layers(), &a.blocks),
                (b.hidden, b.layers(), &b.blocks),
                "{} {}",
                a.id,
                b.id
            );
        }
    }
}

proptest! {
    #[test]
    fn no_name_panics(name in ".{0,60}", tail in "[-_/:.@ a-zA-Z0-9]{0,60}") {
        let _ = resolve(&name);
        let _ = resolve(&format!("{name}/{tail}"));
        let _ = resolve(&format!("Qwen/Qwen3-32B{tail}"));
    }

    /// A name of another size is never taken for one of the catalog.
    #[test]
    fn another_size_is_refused(size in 1u32..2000) {
        for (family, sizes) in [("Qwen/Qwen3-", &[4, 8, 14, 32][..]), ("meta-llama/Llama-3.1-", &[8, 70, 405]), ("meta-llama/Llama-3.2-", &[1, 3])] {
            let taken = resolve(&format!("{family}{size}B-Instruct-FP8")).is_ok();
            prop_assert_eq!(taken, sizes.contains(&size));
        }
    }
}
