//! Times and energies on a grid, interpolated in between.

use crate::serving::sim::Spent;
use crate::units::larger;

/// A position between two neighbours of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
struct GridPlace {
    /// Index of the lower neighbour.
    low: usize,
    /// Fraction of the way to the next, in [0, 1].
    share: f64,
}

/// Ascending points of one axis, on a logarithmic scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Added before the logarithm, for axes that start at zero.
    offset: f64,
    /// Logarithms.
    points: Vec<f64>,
}

impl Axis {
    /// At least one point, ascending, above zero with `offset` added.
    pub fn new(points: impl IntoIterator<Item = f64>, offset: f64) -> Self {
        Self { offset, points: points.into_iter().map(|point| (point + offset).ln()).collect() }
    }

    /// The index of a point.
    fn index_of(&self, point: u64) -> Option<usize> {
        let at = (point as f64 + self.offset).ln();
        self.points.binary_search_by(|other| other.total_cmp(&at)).ok()
    }

    fn place(&self, at: f64) -> GridPlace {
        self.place_of((at + self.offset).ln())
    }

    /// The place of a logarithm. Constant below the first point; extrapolates the last step beyond the last point.
    fn place_of(&self, at: f64) -> GridPlace {
        let last = self.points.len().saturating_sub(1);
        let after = self.points.partition_point(|&point| point <= at).clamp(1, last.max(1));
        let low = after - 1;
        match (self.points.get(low), self.points.get(after)) {
            (Some(&from), Some(&to)) => GridPlace { low, share: larger((at - from) / (to - from), 0.0) },
            _ => GridPlace { low: 0, share: 0.0 },
        }
    }
}

/// The cell of a two-axis grid that was looked up last: consecutive steps mostly stay in it.
#[derive(Debug, Clone, Default)]
pub struct Near {
    first: f64,
    across: f64,
    /// Logarithms on the second axis between which it holds, where the interval begins and how long it is.
    from: f64,
    to: f64,
    low: f64,
    span: f64,
    /// Logarithms at the corners, by the first axis, then the second.
    corners: [[[f64; 2]; 2]; 2],
}

impl Near {
    /// Whether its first coordinate is this one.
    pub fn is_at(&self, first: f64) -> bool {
        self.first == first
    }
}

/// Maximum number of axes.
const MOST_AXES: usize = 3;

/// The cost of a step in seconds and joules over one to three axes, the last varying fastest. Multilinear in the
/// logarithms, so powers of the coordinates are exact.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    axes: Vec<Axis>,
    /// Logarithms of seconds and joules.
    values: Vec<[f64; 2]>,
}

/// Floor for seconds and joules: parts that a model lacks cost nothing.
const NOTHING: f64 = 1e-15;

impl Grid {
    /// `None` unless there is one value per point.
    pub fn of_logarithms(axes: Vec<Axis>, values: Vec<[f64; 2]>) -> Option<Self> {
        let points: usize = axes.iter().map(|axis| axis.points.len()).product();
        (points == values.len()).then_some(Self { axes, values })
    }

    /// The logarithms of a point's cost.
    pub fn of_point(&self, at: &[u64]) -> Option<[f64; 2]> {
        let index = |index: usize, (axis, &point): (&Axis, &u64)| {
            Some(index * axis.points.len() + axis.index_of(point)?)
        };
        self.values.get(self.axes.iter().zip(at).try_fold(0, index)?).copied()
    }

    /// The cost at `at`, one coordinate per axis.
    pub fn at(&self, at: &[f64]) -> Spent {
        // Each axis is looked up once, for all neighbours.
        let mut places = [GridPlace { low: 0, share: 0.0 }; MOST_AXES];
        for ((place, axis), &coordinate) in places.iter_mut().zip(&self.axes).zip(at) {
            *place = axis.place(coordinate);
        }
        let known = self.axes.len().min(at.len());
        let [seconds, joules] =
            self.within(&self.axes, places.get(..known).unwrap_or_default(), 0).map(f64::exp);
        Spent { seconds, joules }
    }

    /// The cost in a grid of two axes; `near` holds the cell that was looked up last.
    pub fn at_near(&self, first: f64, second: f64, near: &mut Near) -> Spent {
        let [across, along] = self.axes.as_slice() else { return self.at(&[first, second]) };
        let at = (second + along.offset).ln();
        if !near.is_at(first) || at < near.from || at >= near.to {
            *near = self.near([across, along], first, at);
        }
        let share = larger((at - near.low) / near.span, 0.0);
        let between = |low: f64, high: f64, share: f64| low + (high - low) * share;
        let [[low, after], [far, corner]] = &near.corners;
        let cost = |of: usize| {
            let (below, above) = (between(low[of], after[of], share), between(far[of], corner[of], share));
            between(below, above, near.across).exp()
        };
        Spent { seconds: cost(0), joules: cost(1) }
    }

    fn near(&self, [across, along]: [&Axis; 2], first: f64, at: f64) -> Near {
        let (GridPlace { low: row, share }, GridPlace { low, .. }) =
            (across.place(first), along.place_of(at));
        let columns = along.points.len();
        let high = (low + 1).min(columns.saturating_sub(1));
        let rows = [row, (row + 1).min(across.points.len().saturating_sub(1))];
        Near {
            first,
            across: share,
            from: if low == 0 { f64::NEG_INFINITY } else { along.points[low] },
            to: if high + 1 >= columns { f64::INFINITY } else { along.points[high] },
            low: along.points[low],
            // An axis of one point holds everywhere.
            span: if high > low { along.points[high] - along.points[low] } else { f64::INFINITY },
            corners: rows.map(|row| [low, high].map(|column| self.values[row * columns + column])),
        }
    }

    fn within(&self, axes: &[Axis], at: &[GridPlace], offset: usize) -> [f64; 2] {
        let (Some((_, rest)), Some((&GridPlace { low, share }, others))) =
            (axes.split_first(), at.split_first())
        else {
            return self.values.get(offset).copied().unwrap_or_default();
        };
        let stride: usize = rest.iter().map(|axis| axis.points.len()).product();
        let below = self.within(rest, others, offset + low * stride);
        if share == 0.0 {
            return below;
        }
        let above = self.within(rest, others, offset + (low + 1) * stride);
        let between = |of: usize| below[of] + (above[of] - below[of]) * share;
        [between(0), between(1)]
    }
}

/// The logarithms of seconds and joules.
pub(super) fn logarithms(cost: Spent) -> [f64; 2] {
    [cost.seconds, cost.joules].map(|value| value.max(NOTHING).ln())
}

/// Whole numbers from `low` to `high` inclusive, `per_octave` of them per doubling.
pub fn octaves(low: u64, high: u64, per_octave: u32) -> Vec<u64> {
    let (low, high) = (low.max(1), high.max(1));
    let step = 1.0 / f64::from(per_octave.max(1));
    let count = ((high as f64 / low as f64).log2() / step).ceil().max(0.0) as u32;
    let mut points: Vec<u64> =
        (0..count).map(|index| (low as f64 * (f64::from(index) * step).exp2()).round() as u64).collect();
    points.push(high.max(low));
    points.dedup();
    points
}

/// All combinations of the axes' points, the last axis varying fastest.
pub(super) fn every_point(axes: &[Vec<u64>]) -> Vec<Vec<u64>> {
    axes.iter().fold(vec![Vec::new()], |points, axis| {
        let extended =
            |point: &Vec<u64>| axis.iter().map(|&at| [point.as_slice(), &[at]].concat()).collect::<Vec<_>>();
        points.iter().flat_map(extended).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_exact_at_the_points_between_and_beyond() {
        let axes = vec![Axis::new([1.0, 3.0], 0.0), Axis::new([0.0, 10.0, 20.0], 5.0)];
        let value = |x: f64, y: f64| 2.0 * x.powf(1.5) * (y + 5.0).powi(2);
        let spent = |x: f64, y: f64| Spent { seconds: value(x, y), joules: 7.0 * x };
        let points = [1.0, 3.0].iter().flat_map(|&x| [0.0, 10.0, 20.0].map(|y| spent(x, y)));
        let grid = Grid::of_logarithms(axes, points.map(logarithms).collect()).expect("as many as points");
        assert_eq!(grid.of_point(&[3, 10]), Some(logarithms(spent(3.0, 10.0))));
        assert_eq!(grid.of_point(&[3, 11]), None);
        for (x, y) in [(1.0, 0.0), (3.0, 20.0), (2.0, 5.0), (2.5, 15.0), (4.0, 40.0)] {
            let Spent { seconds, joules } = grid.at(&[x, y]);
            assert!((seconds / value(x, y) - 1.0).abs() < 1e-9, "{x} {y}");
            assert!((joules / (7.0 * x) - 1.0).abs() < 1e-9, "{x} {y}");
        }
        assert_eq!(grid.at(&[0.5, 0.0]), grid.at(&[1.0, 0.0]));
        let mut last = Near::default();
        for (x, y) in [(2.0, 5.0), (2.0, 6.0), (2.0, 15.0), (2.0, 40.0), (0.5, 40.0), (0.5, 0.0), (4.0, 0.0)]
        {
            let (near, at) = (grid.at_near(x, y, &mut last), grid.at(&[x, y]));
            assert!((near.seconds / at.seconds - 1.0).abs() < 1e-12, "{x} {y}");
            assert!((near.joules / at.joules - 1.0).abs() < 1e-12, "{x} {y}");
        }
    }

    #[test]
    fn one_point_holds_everywhere() {
        let value = logarithms(Spent { seconds: 2.0, joules: 0.0 });
        let grid = Grid::of_logarithms(vec![Axis::new([7.0], 0.0)], vec![value]).expect("one value");
        assert!((grid.at(&[1.0]).seconds - 2.0).abs() < 1e-12 && grid.at(&[1.0]) == grid.at(&[700.0]));
        assert_eq!(Grid::of_logarithms(vec![Axis::new([7.0], 0.0)], vec![]), None);
    }

    #[test]
    fn octaves_hold_both_ends() {
        assert_eq!(octaves(1, 8, 1), [1, 2, 4, 8]);
        assert_eq!(octaves(1, 6, 2), [1, 2, 3, 4, 6]);
        assert_eq!(octaves(5, 5, 3), [5]);
    }
}
