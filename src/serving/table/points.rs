//! The points of a grid, before the models answer.

use super::grid::{Axis, Grid, every_point, logarithms};
use super::lengths;
use crate::config::{MissingFigure, Setup};
use crate::efficiency::Efficiencies;
use crate::serving::step::PlannedStep;

/// The points of a grid.
#[derive(Debug, Clone)]
pub(super) struct Points {
    axes: Vec<Axis>,
    points: Vec<Point>,
}

#[derive(Debug, Clone)]
enum Point {
    /// A step planned with its calls.
    Planned(PlannedStep),
    /// Logarithms of the learned cost, from a table of the same setup with another extent.
    Known([f64; 2]),
}

impl Points {
    /// All combinations of the axes' points: planned by `step` unless `known` has them.
    pub fn new(
        axes: &[Vec<u64>],
        known: Option<&Grid>,
        mut step: impl FnMut(&[u64]) -> Result<PlannedStep, MissingFigure>,
    ) -> Result<Self, MissingFigure> {
        let point = |at: Vec<u64>| match known.and_then(|known| known.of_point(&at)) {
            Some(known) => Ok(Point::Known(known)),
            None => step(&at).map(Point::Planned),
        };
        let points = every_point(axes).into_iter().map(point).collect::<Result<_, _>>()?;
        Ok(Self { axes: axes.iter().map(|axis| logarithmic(axis)).collect(), points })
    }

    /// The grid. `None` if `efficiencies` does not answer every row, or for the ideals of points known as learned.
    pub fn finish(&self, setup: &Setup, efficiencies: &Efficiencies) -> Option<Grid> {
        let value = |point: &Point| match point {
            Point::Planned(step) => step.spent(setup, efficiencies).map(logarithms),
            Point::Known(known) => Some(*known).filter(|_| *efficiencies != Efficiencies::Roofline),
        };
        Grid::of_logarithms(self.axes.clone(), self.points.iter().map(value).collect::<Option<_>>()?)
    }
}

/// An axis from zero holds cached tokens.
fn logarithmic(points: &[u64]) -> Axis {
    let offset = if points.first() == Some(&0) { lengths::PAST_OFFSET } else { 0.0 };
    Axis::new(points.iter().map(|&point| point as f64), offset)
}
