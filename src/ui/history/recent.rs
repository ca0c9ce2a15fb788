//! Recently viewed configurations, kept in the browser if it stores anything.

use gloo::utils::window;
use serde::{Deserialize, Serialize};
use web_sys::Storage;

use crate::config::catalog::{Offered, catalog};
use crate::config::objects::from_json;
use crate::config::{ModelChoice, Parallelism, Scenario};
use crate::study::words;
use crate::ui::state::address;

const STORAGE_KEY: &str = "rooflight-recent";
const MOST: usize = 8;

#[derive(Default, Serialize, Deserialize)]
struct Recent {
    all: Vec<RecentSetup>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct RecentSetup {
    pub link: String,
    pub name: String,
}

/// `None` if the browser refuses.
fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// Data left by another version or page is not a list.
fn stored() -> Vec<RecentSetup> {
    let text = storage().and_then(|storage| storage.get_item(STORAGE_KEY).ok().flatten());
    text.and_then(|text| from_json::<Recent>(&text).ok()).unwrap_or_default().all
}

/// All except the one shown, newest first.
pub fn others() -> Vec<RecentSetup> {
    let shown = address::fragment();
    stored().into_iter().filter(|recent| recent.link != shown).collect()
}

/// The values of `key` in their links, newest first, without duplicates; `default` if a link has none.
pub fn values(key: &str, default: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for RecentSetup { link, .. } in stored() {
        let value = link.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
        let value = value.unwrap_or(default);
        if !all.iter().any(|held| held == value) {
            all.push(value.to_owned());
        }
    }
    all
}

/// Newest first, without duplicates.
pub fn remember(scenario: &Scenario) {
    let Some(storage) = storage() else { return };
    let (link, name) = (address::fragment(), name(scenario));
    // The example was not chosen.
    if link.is_empty() {
        return;
    }
    let mut all = stored();
    all.retain(|recent| recent.link != link && recent.name != name);
    all.insert(0, RecentSetup { link, name });
    all.truncate(MOST);
    // A full storage does not remember.
    if let Ok(text) = serde_json::to_string(&Recent { all }) {
        let _ = storage.set_item(STORAGE_KEY, &text);
    }
}

/// Models and GPUs outside the catalogs are shown by id.
fn name(scenario: &Scenario) -> String {
    let model = match &scenario.model {
        ModelChoice::Catalog(id) => catalog().model(id).map_or(id, |model| &model.name),
        ModelChoice::Custom(model) => &model.name,
    };
    let gpu = catalog().gpu(&scenario.gpu).map_or(&scenario.gpu, |gpu| &gpu.name);
    let engine = Offered::of(&scenario.engine).map_or(&scenario.engine, |engine| &engine.name);
    let workload = &scenario.workload;
    let load = words::load(workload.load);
    let Scenario { parallel: Parallelism { tp, pp, .. }, replicas, .. } = scenario;
    let (isl, osl) = (workload.mean_prompt().unwrap_or_default(), workload.mean_output());
    format!("{model} on {gpu}, {engine}, TP {tp}, PP {pp}, {replicas} replicas, {isl} in, {osl} out, {load}")
}
