//! The table that was planned last. Changes of the page's form and a program's predictions mostly differ in their requests, which
//! need the same steps: planning those anew took a third of an answer.

use super::{Extent, TablePlan};
use crate::config::catalog::Physics;
use crate::config::{MissingFigure, Setup};

/// Plans tables, and keeps the last.
#[derive(Debug, Default)]
pub struct Tables(Option<(Asked, TablePlan)>);

/// What a table depends on.
type Asked = (Setup, Physics, Extent);

impl Tables {
    /// As [`TablePlan::new`] plans it for the setup without its requests, or a copy of the last one if that was the same.
    ///
    /// # Errors
    /// If a catalog record lacks a figure needed for counting.
    pub fn plan(
        &mut self,
        setup: &Setup,
        physics: &Physics,
        extent: &Extent,
    ) -> Result<TablePlan, MissingFigure> {
        let asked = (setup.without_requests(), *physics, *extent);
        if let Some((_, table)) = self.0.as_ref().filter(|(known, _)| *known == asked) {
            return Ok(table.clone());
        }
        let table = TablePlan::new(&asked.0, physics, extent)?;
        self.0 = Some((asked, table.clone()));
        Ok(table)
    }
}
