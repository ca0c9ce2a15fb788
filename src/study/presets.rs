//! `static/catalog/presets.json`, as studies offer it.

use std::sync::LazyLock;

use serde_json::Value;

/// Read as plain JSON: records would cost visitors more to download than the file itself.
static PRESETS: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../static/catalog/presets.json")).unwrap_or_default()
});

fn list(kind: &str) -> impl Iterator<Item = &'static Value> {
    PRESETS[kind].as_array().into_iter().flatten()
}

/// The presets of a kind, each with its name.
pub fn presets(kind: &str) -> impl Iterator<Item = (&'static str, &'static Value)> {
    list(kind).map(|of| (text(of, "name"), of))
}

/// Ids of the GPUs that a comparison offers with one click.
pub fn compared_gpus() -> impl Iterator<Item = &'static str> {
    list("compared_gpus").filter_map(Value::as_str)
}

pub fn text(of: &'static Value, key: &str) -> &'static str {
    of[key].as_str().unwrap_or_default()
}

/// 0 if it has none.
pub fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn the_gpus_to_compare_with_are_in_the_catalog() {
        assert!(compared_gpus().count() > 3);
        for id in compared_gpus() {
            let gpu = catalog().gpu(id).unwrap_or_else(|| panic!("{id}"));
            assert!(catalog().is_served(gpu), "{id}");
        }
    }
}
