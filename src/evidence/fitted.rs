//! Which measured runs the calibration was fitted on.
//!
//! Identified by their ids, so that a run is recognised, and its configuration left out, whatever the physics predict
//! for it today.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

/// A contributed run, as `training/calibration/fit.py` lists it.
#[derive(Deserialize)]
struct Contributed {
    id: String,
}

static FITTED: LazyLock<Result<BTreeSet<String>, String>> = LazyLock::new(|| {
    let tables: Vec<String> = read(include_str!("../../training/calibration/from_tables.json"))?;
    let contributed: Vec<Contributed> = read(include_str!("../../training/calibration/contributed.json"))?;
    Ok(tables.into_iter().chain(contributed.into_iter().map(|run| run.id)).collect())
});

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("the runs that the calibration was fitted on: {error}"))
}

pub fn is_fitted(id: &str) -> Result<bool, String> {
    FITTED.as_ref().map(|fitted| fitted.contains(id)).map_err(String::clone)
}
