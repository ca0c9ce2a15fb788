//! Keeps the last planned table. Changes of the page's form and the predictions of a program mostly differ in their
//! requests, which need the same steps: planning these again and asking the models for them took half of the time of an
//! answer. If lengths differ, most steps are still the same.

use std::sync::{Arc, OnceLock};

use super::{Extent, StepTable, TablePlan};
use crate::config::{MissingFigure, Setup};
use crate::efficiency::{Efficiencies, Rows};

/// Plans tables, and keeps the last one.
#[derive(Debug, Default)]
pub struct Tables(Option<(StepTableKey, PlannedTable)>);

/// What a table depends on.
type StepTableKey = (Setup, Extent);

/// A plan, and its tables once this or one like it is finished.
#[derive(Debug, Clone)]
pub struct PlannedTable {
    plan: Arc<TablePlan>,
    finished: Arc<Finished>,
    /// Whether its rows have to be asked; not if the models answered them before.
    asks: bool,
    /// The extent of a plan that reuses learned times; the ideals need a plan of their own.
    extent: Option<Extent>,
}

#[derive(Debug, Default)]
struct Finished {
    roofline: OnceLock<Arc<StepTable>>,
    learned: OnceLock<Arc<StepTable>>,
}

impl Tables {
    /// The table that [`TablePlan::new`] plans for the setup without its requests, or the last one if it was the same.
    ///
    /// # Errors
    /// If a catalog record lacks a figure needed for counting.
    pub fn plan(&mut self, setup: &Setup, extent: &Extent) -> Result<PlannedTable, MissingFigure> {
        let key = (setup.without_requests(), *extent);
        if let Some((_, table)) = self.0.as_ref().filter(|(known, _)| *known == key) {
            return Ok(PlannedTable { asks: table.finished.learned.get().is_none(), ..table.clone() });
        }
        let last = self.0.as_ref().filter(|((setup, _), _)| *setup == key.0);
        let before = last.and_then(|(_, table)| table.finished.learned.get());
        let rest = before.map(|_| *extent);
        let plan = TablePlan::onto(&key.0, extent, Rows::default(), before.map(|table| &**table))?;
        let table = PlannedTable { extent: rest, ..plan.into() };
        self.0 = Some((key, table.clone()));
        Ok(table)
    }
}

impl From<TablePlan> for PlannedTable {
    fn from(plan: TablePlan) -> Self {
        Self { plan: plan.into(), finished: Arc::default(), asks: true, extent: None }
    }
}

impl PlannedTable {
    /// Takes the rows for the models; none if the table was finished before.
    pub fn take_rows(&mut self) -> Rows {
        match Arc::get_mut(&mut self.plan) {
            // No other plan asks for them.
            Some(plan) => plan.take_rows(),
            None if self.asks => self.plan.rows().clone(),
            None => Rows::default(),
        }
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
        let table = match (efficiencies, &self.extent) {
            (Efficiencies::Roofline, Some(extent)) => {
                let TablePlan { setup, .. } = &*self.plan;
                TablePlan::onto(setup, extent, Rows::none(), None).ok()?.finish(efficiencies)?
            }
            _ => self.plan.finish(efficiencies)?,
        };
        let table = Arc::new(table);
        Some(finished.get_or_init(|| table).clone())
    }
}
