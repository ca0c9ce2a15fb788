//! Times that no measurement is below.

use super::own::IMPOSSIBLE;
use super::{Bands, Spread};
use crate::calibration::Band;
use crate::config::{LatencyMetric, Setup};
use crate::graph::Batch;
use crate::kernels::Sequences;
use crate::serving::replica::share_of_pass;
use crate::serving::step::ideal;

/// The least seconds to a first token, and between tokens: those of a lone request with every kernel at its ideal. Zero
/// if a figure is missing; also zero to the first token if prompts differ in length.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Floor {
    ttft: f64,
    tpot: f64,
}

impl Floor {
    pub fn of(setup: &Setup) -> Self {
        let (prompt, drafts) = (setup.mean_prompt() as u32, setup.workload.drafts);
        let are_alike = setup.longest().0 == prompt;
        let time = |batch: Batch| {
            let tokens = batch.tokens();
            ideal(setup, &batch.pooling(tokens)).map_or(0.0, |time| time.0 * IMPOSSIBLE)
        };
        let cached = setup.cached(prompt);
        let (new, past) = (u64::from(prompt.saturating_sub(cached).max(1)), u64::from(cached));
        let of_pass = share_of_pass(setup, new as f64);
        let length = if are_alike { u64::from(prompt) } else { 1 };
        let step = Batch::decode(1, length).verifying(drafts.drafted);
        Self {
            ttft: if are_alike { time(Batch::of(Sequences { count: 1, new, past })) * of_pass } else { 0.0 },
            tpot: time(step) / (1.0 + drafts.accepted),
        }
    }

    /// Raises the ends of bands below the floor to it; `limits` are what the limits' bands are of.
    pub fn raise_bands(self, bands: &mut Bands, limits: impl Iterator<Item = LatencyMetric>) {
        bands.ttft.raise(self.ttft);
        bands.tpot.iter_mut().for_each(|spread| spread.raise(self.tpot));
        bands.e2e.raise(self.ttft);
        for (band, metric) in bands.limits.iter_mut().zip(limits) {
            let least = match metric {
                LatencyMetric::Ttft => self.ttft,
                LatencyMetric::Tpot => self.tpot,
                LatencyMetric::E2e => continue,
            };
            band.iter_mut().for_each(|band| raise(band, least));
        }
    }
}

impl Spread {
    fn raise(&mut self, least: f64) {
        self.each().into_iter().flatten().for_each(|band| raise(band, least));
    }
}

/// A prediction below the floor, near the middle of its band, stays in it.
fn raise(band: &mut Band, least: f64) {
    band.low = band.low.max(least.min((band.low * band.high).sqrt()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Scenario, catalog, check};

    #[test]
    fn weights_are_read_and_prompts_multiplied() {
        let setup = check(&Scenario::default(), catalog()).0.expect("sound");
        let floor = Floor::of(&setup);
        assert!(floor.tpot > 0.0 && floor.ttft > floor.tpot, "{floor:?}");
        let spread = setup.under(|workload| workload.log_spread = [0.5, 0.5]);
        assert_eq!(Floor::of(&spread).ttft, 0.0);
    }

    #[test]
    fn only_low_ends_are_raised() {
        let mut band = Band { low: 1.0, high: 16.0, noise_share: 0.5 };
        raise(&mut band, 2.0);
        assert_eq!([band.low, band.high], [2.0, 16.0]);
        raise(&mut band, 100.0);
        assert!((band.low - 32.0_f64.sqrt()).abs() < 1e-12);
    }
}
