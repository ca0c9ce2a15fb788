//! Handles task results: layouts to simulate, plans found, reasons for excluding layouts.

use std::ops::ControlFlow::{Break, Continue};
use std::sync::Arc;

use super::plan::Found;
use super::probe::{BoundedLayout, Probe, Slice};
use super::search::Phase;
use super::task::{Done, Screened, TaskOutcome};
use super::{Search, words};
use crate::serving::run::Runner;

impl Search {
    /// Handles the result of a task.
    pub fn take(&mut self, Done(outcome): Done) {
        self.out = self.out.saturating_sub(1);
        match outcome {
            TaskOutcome::Screened(all) => {
                self.screening = self.screening.saturating_sub(1);
                all.into_iter().for_each(|one| self.screened(one));
                if self.screening == 0 {
                    self.sort();
                }
            }
            TaskOutcome::Refined(layouts) => layouts.into_iter().for_each(|layout| self.refined(layout)),
            TaskOutcome::Observed(own, issues) => (self.own, self.of_runs) = (Some(own), issues),
            TaskOutcome::Probed(probe, slice) => self.probed(probe, slice),
            TaskOutcome::Estimated(halves) => self.estimated(halves),
            TaskOutcome::Paired(pair, slice) => self.paired(pair, slice),
            // The best plan is known first.
            TaskOutcome::Headroom(loaded, Continue(())) => self.loaded.push_front(loaded),
            TaskOutcome::Headroom(loaded, Break(headroom)) => {
                let same = |(found, _): &&mut (Arc<Found>, Arc<Runner>)| Arc::ptr_eq(found, &loaded.found);
                if let Some((found, _)) = self.found.iter_mut().find(same) {
                    let (bands, one_less) = (loaded.bands, loaded.one_less);
                    *found = Arc::new(Found { headroom, bands, one_less, ..(**found).clone() });
                }
            }
        }
    }

    fn screened(&mut self, screened: Screened) {
        match screened {
            Screened::Refused { gpu, issue } => {
                self.counts.refused += 1;
                if let Some(issue) = issue {
                    self.reason(&gpu, 0, 0.0, issue.text);
                }
            }
            Screened::TooLarge { gpu, lacks, text } => {
                self.counts.too_large += 1;
                self.reason(&gpu, 1, lacks, text);
            }
            Screened::TooSlow { layout, excess, text } => {
                self.counts.too_slow += 1;
                let text = format!("{}: {text}", layout.name(&self.request));
                self.reason(&layout.setup.gpu.id, 2, excess, text);
                self.slow.push_back(layout);
            }
            Screened::BeyondFleet(layout) => {
                self.counts.beyond_fleet += 1;
                let text = self.request.fleet.lacks(&layout.setup, layout.least);
                let text = format!("{}: {text}", layout.name(&self.request));
                self.reason(&layout.setup.gpu.id, 4, f64::from(layout.least), text);
                self.beyond.push_back(layout);
            }
            Screened::Open(layout) => self.layouts.push_back(layout),
        }
    }

    fn refined(&mut self, layout: BoundedLayout) {
        if layout.least <= layout.most {
            let at = self
                .layouts
                .partition_point(|other| other.ranking_cost().order(layout.ranking_cost()).is_ge());
            self.layouts.insert(at, Box::new(layout));
        } else if layout.least == u32::MAX {
            self.screened(Screened::TooSlow {
                excess: 1.0,
                text: "no batch size meets the TPOT limit".into(),
                layout: Box::new(layout),
            });
        } else {
            self.screened(Screened::BeyondFleet(Box::new(layout)));
        }
    }

    fn probed(&mut self, probe: Box<Probe>, slice: Slice) {
        self.counts.runs += probe.runs - probe.runs_before;
        match slice {
            Slice::More => self.probes.push_back(probe),
            Slice::Found(found, runner) => {
                self.keep(*found, Arc::from(runner));
            }
            Slice::Missed(missed) => {
                let Some((found, broken)) = missed.map(|missed| *missed) else { return };
                let excess = words::excess(&broken);
                let name = found.name(&self.request);
                self.reason(&found.setup.gpu.id, 3, excess, format!("{name}: {}", broken.text));
                let bounded = self.request.gpus.is_none() && !self.request.fleet.is_unbounded();
                // More replicas than the fleet has might suffice.
                if self.phase == Phase::Plans && bounded && probe.alone != Some(false) {
                    let more = BoundedLayout { least: probe.layout.most + 1, ..probe.layout };
                    self.beyond.push_back(Box::new(more));
                }
                words::keep_nearest(&mut self.missed, Arc::new(found), broken);
            }
            Slice::Refused(issue) => {
                self.counts.refused += 1;
                self.counts.simulated -= 1;
                self.reason(&probe.layout.setup.gpu.id, 0, 0.0, issue.text);
            }
        }
    }
}
