//! How a command spreads the model over GPUs.

use super::apply::CommandReader;
use super::{DataParallel, launches};
use crate::config::{Field, Issue, Scenario, catalog};

impl CommandReader {
    /// Degrees of parallelism that several flags determine together.
    pub fn ranks(&mut self, scenario: &mut Scenario) {
        let data_parallel = launches().of(&scenario.engine).map(|of| of.data_parallel);
        let ranks = match data_parallel {
            Some(DataParallel::TimesTp) if scenario.has_experts() => {
                scenario.parallel.dp = self.dp;
                None
            }
            Some(DataParallel::WithinTp) if self.dp_attention => Some(self.dp),
            Some(DataParallel::IsTp) if self.dp_attention => Some(scenario.parallel.tp),
            _ => {
                scenario.replicas = self.dp.max(1);
                None
            }
        };
        match ranks {
            None => {}
            // Nothing divides a TP that could not be read.
            Some(_) if self.issues.iter().any(|issue| issue.field == Field::Tp && issue.is_error()) => {}
            // All GPUs are given as tensor parallel; attention ranks are among them.
            Some(ranks) if ranks > 0 && scenario.parallel.tp.is_multiple_of(ranks) => {
                (scenario.parallel.tp, scenario.parallel.dp) = (scenario.parallel.tp / ranks, ranks);
                if let Some(engine) = catalog().engine(&scenario.engine) {
                    let of_rank = |all: u32| engine.scheduler.of_rank(all, ranks);
                    let given = &mut scenario.overrides;
                    given.token_budget = given.token_budget.map(of_rank);
                    given.max_seqs = given.max_seqs.map(of_rank);
                }
            }
            Some(ranks) => {
                let text = format!(
                    "{} GPUs (TP) are not divisible by {ranks} attention DP ranks: change one of them",
                    scenario.parallel.tp
                );
                self.issues.push(Issue::error(Field::Dp, text));
            }
        }
        let all = scenario.parallel.tp.saturating_mul(scenario.parallel.dp);
        scenario.parallel.ep = match (self.ep_over_all && scenario.has_experts(), self.ep) {
            (true, _) => all,
            (false, Some(ep)) => ep,
            (false, None) => 1,
        };
    }
}
