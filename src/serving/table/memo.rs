//! The table that was planned last. Changes of the page's form and a program's predictions mostly differ in their requests, which
//! need the same steps: planning those anew, and asking the models for them, took half of an answer.

use std::sync::{Arc, OnceLock};

use super::{Extent, StepTable, TablePlan};
use crate::config::catalog::Physics;
use crate::config::{MissingFigure, Setup};
use crate::efficiency::{Efficiencies, Rows};

/// Plans tables, and keeps the last.
#[derive(Debug, Default)]
pub struct Tables(Option<(Asked, PlannedTable)>);

/// What a table depends on.
type Asked = (Setup, Physics, Extent);

/// A plan, and its tables once this or one like it is finished.
#[derive(Debug, Clone)]
pub struct PlannedTable {
    plan: Arc<TablePlan>,
    finished: Arc<Finished>,
    /// Whether its rows have to be asked: not if it was finished with the models before.
    asks: bool,
}

#[derive(Debug, Default)]
struct Finished {
    roofline: OnceLock<Arc<StepTable>>,
    learned: OnceLock<Arc<StepTable>>,
}

impl Tables {
    /// As [`TablePlan::new`] plans it for the setup without its requests, or the last one if that was the same.
    ///
    /// # Errors
    /// If a catalog record lacks a figure needed for counting.
    pub fn plan(
        &mut self,
        setup: &Setup,
        physics: &Physics,
        extent: &Extent,
    ) -> Result<PlannedTable, MissingFigure> {
        let asked = (setup.without_requests(), *physics, *extent);
        if let Some((_, table)) = self.0.as_ref().filter(|(known, _)| *known == asked) {
            return Ok(PlannedTable { asks: table.finished.learned.get().is_none(), ..table.clone() });
        }
        let table = PlannedTable::from(TablePlan::new(&asked.0, physics, extent)?);
        self.0 = Some((asked, table.clone()));
        Ok(table)
    }
}

impl From<TablePlan> for PlannedTable {
    fn from(plan: TablePlan) -> Self {
        Self { plan: plan.into(), finished: Arc::default(), asks: true }
    }
}

impl PlannedTable {
    /// The rows for the models; none if the table was finished before.
    pub fn rows(&self) -> Rows {
        if self.asks { self.plan.rows().clone() } else { Rows::default() }
    }

    /// The table. `None` if `efficiencies` does not answer every row of the plan.
    pub fn finish(&self, efficiencies: &Efficiencies) -> Option<Arc<StepTable>> {
        let finished = match efficiencies {
            Efficiencies::Roofline => &self.finished.roofline,
            Efficiencies::Learned(_) => &self.finished.learned,
        };
        if let Some(table) = finished.get() {
            return Some(table.clone());
        }
        let table = Arc::new(self.plan.finish(efficiencies)?);
        Some(finished.get_or_init(|| table).clone())
    }
}
