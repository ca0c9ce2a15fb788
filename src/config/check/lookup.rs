//! Resolves ids against the catalogs, and suggests the nearest id for unknown ones.

use crate::config::catalog::Catalog;
use crate::config::issue::{excerpt, nearest};
use crate::config::{Engine, Field, Gpu, Issue, Model, ModelChoice};

pub fn model<'a>(
    choice: &'a ModelChoice,
    catalog: &'a Catalog,
    issues: &mut Vec<Issue>,
) -> Option<&'a Model> {
    let id = match choice {
        ModelChoice::Custom(model) => {
            let objections = model.objections();
            let sound = objections.is_empty();
            issues.extend(objections.into_iter().map(|text| Issue::error(Field::Model, text)));
            return sound.then_some(&**model);
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
    found
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

/// How many ids are listed if none is similar.
const NAMED: usize = 5;

fn unknown<'a>(field: Field, kind: &str, id: &str, known: impl Iterator<Item = &'a str>) -> Issue {
    let known: Vec<&str> = known.collect();
    let hint = match nearest(id, known.iter().copied()) {
        Some((_, other)) => format!("; did you mean {other}?"),
        None if known.len() <= NAMED => format!("; choose one of {}", known.join(", ")),
        None => String::new(),
    };
    let text = format!("the catalog has no {kind} `{}`{hint}", excerpt(id));
    Issue::error(field, text).with_given(id)
}
