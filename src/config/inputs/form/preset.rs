//! Typical workloads on the form, and what an offline one sets aside.

use super::Form;
use crate::config::{Field, Issue, Load, Slos};

fn is_offline(load: Load) -> bool {
    matches!(load, Load::Offline(_))
}

impl Form {
    /// Sets a typical workload ([`Scenario::use_workload`](crate::config::Scenario::use_workload)), in place of what was
    /// typed. Load and limits that an offline one replaces come back with the next load that is not offline.
    pub fn use_workload(&mut self, lengths: (u32, u32, f64), prompts: u32) {
        let before = self.scenario().workload.clone();
        self.link.scenario.use_workload(lengths, prompts);
        if prompts > 0 {
            let (load, limits) = match self.set_aside.take() {
                Some((load, limits)) if is_offline(before.load) => (load, before.slos.or(limits)),
                _ => (before.load, before.slos),
            };
            self.set_aside = Some((load, limits));
        } else if let Some((load, _)) = self.set_aside.filter(|_| is_offline(before.load)) {
            if !is_offline(load) {
                self.link.scenario.workload.load = load;
            }
            self.replace_load(before.load);
        }
        let workload = &self.link.scenario.workload;
        let is_changed = [workload.load != before.load, workload.slos != before.slos];
        let loses_limits = prompts > 0 && is_changed[1];
        let mut changed = vec![Field::Isl, Field::Osl, Field::CachedShare];
        changed.extend(is_changed[0].then_some(Field::Load));
        changed
            .extend([Field::SloTtft, Field::SloTpot].into_iter().filter(|_| is_changed[1] && !loses_limits));
        changed.into_iter().for_each(|field| self.forget(field));
        if loses_limits {
            self.lose_limits();
        }
    }

    /// Says why limits are no longer set, in place of what was typed for them.
    fn lose_limits(&mut self) {
        const WHY: &str =
            "TTFT and TPOT limits do not apply to an offline queue: they return when you choose another load";
        self.issues.push(Issue::note(Field::Load, WHY));
        [Field::SloTtft, Field::SloTpot].into_iter().for_each(|field| self.forget(field));
    }

    /// Handles another load than `before`: an offline one sets that and its limits aside, any other has them back.
    pub(super) fn replace_load(&mut self, before: Load) {
        let workload = &mut self.link.scenario.workload;
        if workload.load == before {
            return;
        }
        if !is_offline(workload.load) {
            let limits = self.set_aside.take().map_or_else(Slos::default, |(_, limits)| limits);
            workload.slos = workload.slos.or(limits);
        } else if !is_offline(before) {
            let limits = workload.slos;
            self.set_aside = Some((before, limits));
            (workload.slos.ttft_ms, workload.slos.tpot_ms) = (None, None);
            if workload.slos != limits {
                self.lose_limits();
            }
        }
    }
}
