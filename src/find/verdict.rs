//! Whether disaggregated prefill and decode pay off, in a sentence.

use std::cmp::Ordering;

use super::Search;
use super::plan::Found;
use crate::units::percent;

impl Search {
    /// Whether pools pay off and, if not, why; `None` if they were not requested or nothing is known yet.
    pub(super) fn of_pools(&self) -> Option<String> {
        let of = |disaggregated: bool| {
            self.found.iter().map(|(found, _)| found).find(|found| found.is_disaggregated() == disaggregated)
        };
        let name = |found: &Found| found.name(&self.request);
        let Some(pools) = of(true) else {
            let over = self.pools.begun && self.is_finished() && !self.is_stopped();
            return over.then(|| match (&self.pools.missed, &self.pools.refused) {
                (None, Some(refused)) => format!("separate prefill and decode workers: {refused}"),
                (Some((found, broken)), _) => {
                    format!(
                        "separate prefill and decode workers do not meet the limits; nearest is {}: {}",
                        name(found),
                        broken.text
                    )
                }
                (None, None) => "no prefill and decode workers fit within the fleet and the limits".into(),
            });
        };
        let less = pools.worker_less.as_ref();
        let less =
            less.map_or(String::new(), |broken| format!("; with one prefill worker fewer, {}", broken.text));
        let against = of(false).map_or(
            "only separate prefill and decode workers meet the limits".to_owned(),
            |whole| {
                let (than, own, other) = (than(pools, whole), name(pools), name(whole));
                let verdict = match pools.rank().order(whole.rank()) {
                    Ordering::Less => "pay off",
                    Ordering::Equal => "make no difference to the cost",
                    Ordering::Greater => "do not pay off",
                };
                format!("separate prefill and decode workers {verdict}: the best, {own}, {than} {other}")
            },
        );
        Some(format!(
            "{against}{less}. No measured run calibrates pools: they are predicted by physics alone"
        ))
    }
}

/// How the best pools compare with the best replicas that do both, by what plans are ranked by.
fn than(pools: &Found, whole: &Found) -> String {
    let of_job = pools.ranked_by().is_of_job();
    let dollars = [pools, whole].map(|found| found.rank().dollars());
    let [own, other] = match dollars {
        [Some(own), Some(other)] => [own, other],
        _ => [pools, whole].map(|found| found.rank_by_gpus().amount()),
    };
    let words = match (dollars, of_job) {
        ([Some(_), Some(_)], false) => ["costs", "less", "more", "as much as"],
        ([Some(_), Some(_)], true) => ["does the job at", "less cost", "more cost", "the same cost as"],
        (_, false) => ["takes", "fewer GPUs", "more GPUs", "as many GPUs as"],
        (_, true) => ["does the job in", "fewer GPU hours", "more GPU hours", "as many GPU hours as"],
    };
    compared(if own == other { 1.0 } else { own / other }, words)
}

/// `costs 25 % less than`; `as much as` if the percentage rounds to zero.
fn compared(times: f64, [takes, less, more, same]: [&str; 4]) -> String {
    let share = percent((times - 1.0).abs());
    match share.number.parse::<f64>() {
        Ok(0.0) => format!("{takes} {same}"),
        _ => format!("{takes} {share} {} than", if times < 1.0 { less } else { more }),
    }
}

#[cfg(test)]
mod tests {
    use super::compared;

    #[test]
    fn a_difference_is_a_percentage_less_or_more() {
        let words = ["costs", "less", "more", "as much as"];
        let said = [0.75, 1.25, 1.0].map(|times| compared(times, words));
        assert_eq!(said, ["costs 25\u{a0}% less than", "costs 25\u{a0}% more than", "costs as much as"]);
    }
}
