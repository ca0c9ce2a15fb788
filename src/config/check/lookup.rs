//! Ids resolved against the catalogs, with the nearest one named where there is none.

use std::borrow::Cow;

use crate::config::catalog::Catalog;
use crate::config::issue::excerpt;
use crate::config::{Engine, Field, Gpu, Issue, Model, ModelChoice};

/// Jaro-Winkler similarity from which another id is worth naming.
const ALIKE: f64 = 0.8;

pub fn model<'a>(
    choice: &'a ModelChoice,
    catalog: &'a Catalog,
    issues: &mut Vec<Issue>,
) -> Option<Cow<'a, Model>> {
    let id = match choice {
        ModelChoice::Custom(model) => {
            let objections = model.objections();
            let sound = objections.is_empty();
            issues.extend(objections.into_iter().map(|text| Issue::error(Field::Model, text)));
            return sound.then_some(Cow::Borrowed(&**model));
        }
        ModelChoice::Catalog(id) => id,
    };
    if let Some(refused) = catalog.refused_model(id) {
        let text = format!("{}: {}", refused.name, refused.reason);
        issues.push(Issue::error(Field::Model, text).with_given(id));
        return None;
    }
    let found = catalog.model(id);
    if found.is_none() {
        let ids = catalog.models.models.iter().map(|model| &*model.id);
        issues.push(unknown(Field::Model, "model", id, ids));
    }
    found.map(Cow::Borrowed)
}

pub fn gpu<'a>(id: &str, catalog: &'a Catalog, issues: &mut Vec<Issue>) -> Option<&'a Gpu> {
    let found = catalog.gpu(id);
    if found.is_none() {
        issues.push(unknown(Field::Gpu, "GPU", id, catalog.gpus.gpus.iter().map(|gpu| &*gpu.id)));
    }
    found
}

pub fn engine<'a>(id: &str, catalog: &'a Catalog, issues: &mut Vec<Issue>) -> Option<&'a Engine> {
    let found = catalog.engine(id);
    if found.is_none() {
        let ids = catalog.engines.engines.iter().map(|engine| &*engine.id);
        issues.push(unknown(Field::Engine, "engine", id, ids));
    }
    found
}

fn unknown<'a>(field: Field, kind: &str, id: &str, known: impl Iterator<Item = &'a str>) -> Issue {
    let wanted = id.to_ascii_lowercase();
    let near = known
        .map(|other| (strsim::jaro_winkler(&wanted, other), other))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = near.map(|(_, other)| format!("; did you mean {other}?")).unwrap_or_default();
    let text = format!("no {kind} `{}` in this release's catalog{hint}", excerpt(id));
    Issue::error(field, text).with_given(id)
}
