//! The order of single changes.

use std::cmp::Ordering;

use super::Case;
use super::metric::{COST, PER_GPU};
use super::rank::SAME;

/// What rows are ordered by: those that miss limits or do not keep up with the load last, and before that those without a price.
pub struct RowOrder {
    misses: bool,
    has_no_price: bool,
    /// Logarithm of the cost, or else of the output per GPU with its sign changed: lower is better.
    worth: f64,
    /// The chance of meeting the limits.
    chance: f64,
}

impl RowOrder {
    pub fn of(case: &Case) -> Self {
        let cost = COST.of(case).map(f64::ln);
        let output = || PER_GPU.sustained(case).map_or(f64::INFINITY, |output| -output.ln());
        Self {
            misses: case.is_overloaded() || case.meets_limits() == Some(false),
            has_no_price: cost.is_none(),
            worth: cost.unwrap_or_else(output),
            chance: case.chance_within_limits().unwrap_or(0.0),
        }
    }

    /// Costs differ by less than a percent for no reason: of these, the surest first.
    pub fn compare(&self, other: &Self) -> Ordering {
        let about = |rank: &Self| (rank.worth / SAME).round();
        let groups = (self.misses, self.has_no_price).cmp(&(other.misses, other.has_no_price));
        let worth = groups.then(about(self).total_cmp(&about(other)));
        worth.then(other.chance.total_cmp(&self.chance)).then(self.worth.total_cmp(&other.worth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_miss_limits_come_last_then_those_without_a_price_then_the_dearest() {
        let rank = |misses: bool, has_no_price: bool, worth: f64, chance: f64| RowOrder {
            misses,
            has_no_price,
            worth,
            chance,
        };
        let sorted = [
            rank(false, false, 1.002, 0.9),
            rank(false, false, 1.0, 0.5),
            rank(false, false, 2.0, 0.9),
            rank(false, true, -9.0, 0.9),
            rank(true, false, -3.0, 0.0),
            rank(true, false, 5.0, 0.0),
            rank(true, true, -8.0, 0.0),
            rank(true, true, -7.0, 0.0),
        ];
        assert!(sorted.windows(2).all(|pair| pair[0].compare(&pair[1]).is_lt()));
    }
}
