//! Resolves ids against the catalogs, and suggests the nearest id for unknown ones.

use crate::config::catalog::Catalog;
use crate::config::inputs;
use crate::config::issue::{excerpt, nearest};
use crate::config::names::of_machine;
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
            issues.extend(objections.iter().map(|text| objection(text)));
            if sound && model.is_edited() {
                let text = "nothing was measured with these sizes: 80 % bands are those of measured models";
                issues.push(Issue::warning(Field::Model, text));
            }
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

/// An objection to a custom model, attached to the first size in it that the form has, and with the form's names for
/// sizes.
fn objection(text: &str) -> Issue {
    let mut issue = Issue::error(Field::Model, "");
    let parts = text.split('`').map(|part| {
        let Some(input) = inputs::by_config_key(part) else { return part };
        if issue.field == Field::Model {
            issue.field = input.field;
        }
        input.field.id()
    });
    issue.text = parts.collect::<Vec<_>>().join("`");
    issue
}

pub fn gpu<'a>(id: &str, catalog: &'a Catalog, issues: &mut Vec<Issue>) -> Option<&'a Gpu> {
    let found = catalog.gpu(id);
    if found.is_none() {
        let named: Vec<&str> = catalog.gpus_named(id).into_iter().map(|gpu| &*gpu.id).collect();
        issues.push(match named.split_last() {
            Some((last, others)) if !others.is_empty() => {
                let text = format!("`{}` may be {} or {last}: choose one", excerpt(id), others.join(", "));
                Issue::error(Field::Gpu, text).with_given(id)
            }
            _ => match of_machine(id) {
                Some((gpu, has)) => {
                    Issue::error(Field::Gpu, format!("{has}: choose {}", gpu.id)).with_given(id)
                }
                None => unknown(Field::Gpu, "GPU", id, catalog.gpus.gpus.iter().map(|gpu| &*gpu.id)),
            },
        });
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
        None if field == Field::Model => "; choose another, or give the checkpoint's config.json".into(),
        None => "; choose a similar GPU and edit it under GPU specs".into(),
    };
    let text = format!("the catalog has no {kind} `{}`{hint}", excerpt(id));
    Issue::error(field, text).with_given(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;
    use crate::config::model::Size;

    #[test]
    fn sizes_of_a_model_are_objected_to_where_the_form_has_them() {
        let llama = catalog().model("llama-3.1-8b").expect("in the catalog");
        for (size, value, field, text) in [
            (Size::Heads, 30, Field::Heads, "Heads must be a multiple of KV heads: 30 is not divisible by 8"),
            (Size::Hidden, 0, Field::Hidden, "Hidden size is 0: expected a whole number from 1 to 65536"),
        ] {
            let mut issues = Vec::new();
            let edited = ModelChoice::Custom(Box::new(llama.resized(size, value)));
            assert!(model(&edited, catalog(), &mut issues).is_none());
            let said: Vec<_> = issues.iter().map(|issue| (issue.field, issue.sentence())).collect();
            assert_eq!(said, [(field, text.to_owned())]);
        }
    }
}
