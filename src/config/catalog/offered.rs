//! What the form shows of the engines, without the records that predictions read.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::config::kernels::WeightRule;
use crate::config::objects::carried;
use crate::config::{Scheduler, Version};

/// An engine to choose, and the settings it starts with.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Offered {
    pub id: String,
    pub name: String,
    pub version: Version,
    pub scheduler: Scheduler,
    pub weight_rules: Vec<WeightRule>,
}

impl Offered {
    /// `None` for unknown ids.
    pub fn of(id: &str) -> Option<&'static Self> {
        offered().iter().find(|engine| engine.id == id)
    }
}

/// Every engine of the catalog, in its order; `build.rs` picks these parts of their records.
pub fn offered() -> &'static [Offered] {
    static OFFERED: LazyLock<Vec<Offered>> =
        LazyLock::new(|| carried("static/catalog/engines.json", prepared!("offered.json")));
    &OFFERED
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    #[test]
    fn every_engine_is_offered_as_recorded() {
        let all = &catalog().engines.engines;
        assert_eq!(offered().len(), all.len());
        for (offered, engine) in offered().iter().zip(all) {
            assert_eq!((&offered.id, &offered.name), (&engine.id, &engine.name));
            assert_eq!((&offered.version, &offered.scheduler), (&engine.version, &engine.scheduler));
            assert_eq!(offered.weight_rules, engine.weight_rules);
        }
    }
}
