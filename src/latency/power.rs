//! GPU power: when idle, and while kernels run.

use super::Ideal;
use crate::config::{MissingFigure, Setup};
use crate::kernels::Family;
use crate::units::{Joules, Seconds, Watts};

/// Power model of one GPU. Each byte of device memory and each tensor FLOP takes a fixed energy, regardless of the
/// kernel's duration; kernels with much other work draw more while they run.
///
/// Power above the limit is only brief: the driver lowers clocks based on tens of milliseconds, so the limit
/// applies to steps rather than kernels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerModel {
    pub idle: Watts,
    /// The power limit, or the cap where that is lower.
    pub most: Watts,
    limit: Watts,
    /// Added by device memory at its peak bandwidth.
    memory: Watts,
    /// Added by tensor cores at their dense peak.
    compute: Watts,
}

impl PowerModel {
    pub fn of(setup: &Setup) -> Result<Self, MissingFigure> {
        let gpu = &setup.gpu;
        let (limit, [idle, memory, compute]) = (gpu.power()?, gpu.power_shares()?);
        let most = setup.power_cap.map_or(limit, |cap| Watts(cap.min(limit.0)));
        // Energy per FLOP goes with voltage squared, and voltage falls with the clock.
        let slowed = if most < limit { gpu.clock_under(most.0)?.powi(2) } else { 1.0 };
        let compute = limit * (compute * slowed);
        Ok(Self { idle: limit * idle, most, limit, memory: limit * memory, compute })
    }

    /// Energy of a launch beyond idle power.
    pub fn launch(&self, ideal: &Ideal, family: Option<Family>, time: Seconds) -> Joules {
        let busy = self.limit.0 * family.map_or(0.0, Family::busy) * time.0;
        Joules(self.memory.0 * ideal.memory.0 + self.compute.0 * ideal.compute.0 + busy)
    }

    /// Minimum time in which a launch's bytes stay below the cap.
    pub fn least(&self, ideal: &Ideal) -> Seconds {
        Seconds(self.memory.0 * ideal.memory.0 / self.room().0)
    }

    /// Power available beyond idle.
    pub fn room(&self) -> Watts {
        (self.most - self.idle).max(Watts::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::config::{Dtype, Scenario, check};
    use crate::kernels::{Gemm, Op};

    fn setup(power_cap: Option<f64>) -> Setup {
        let mut scenario = Scenario::default();
        scenario.overrides.power_cap = power_cap;
        check(&scenario, catalog()).0.expect("the default is sound")
    }

    fn ideal(setup: &Setup, m: u64) -> Ideal {
        let op = Op::Gemm(Gemm { m, n: 8192, k: 8192, weights: Dtype::Bf16 });
        let count = op.count(&setup.gpu).expect("complete");
        Ideal::of(&count, &setup.gpu).expect("complete")
    }

    #[test]
    fn bytes_and_flops_take_energy_however_long_they_take() {
        let setup = setup(None);
        let (draw, ideal) = (PowerModel::of(&setup).expect("H100 is known"), ideal(&setup, 1));
        let [fast, slow] =
            [1.0, 3.0].map(|times| draw.launch(&ideal, Some(Family::Gemm), ideal.time * times));
        assert_eq!(fast, slow);
        // Weights alone at the peak bandwidth: what memory adds, and next to nothing of the tensor cores.
        let watts = fast.0 / ideal.memory.0;
        assert!((watts / draw.memory.0 - 1.0).abs() < 0.01, "{watts}");
        let attention = Some(Family::AttentionDecode);
        assert!(
            draw.launch(&ideal, attention, ideal.time * 2.0) > draw.launch(&ideal, attention, ideal.time)
        );
    }

    #[test]
    fn a_cap_lowers_the_clock_and_what_a_flop_takes() {
        let (free, capped) = (setup(None), setup(Some(500.0)));
        assert_eq!(capped.power_cap, Some(500.0));
        let clock = capped.sustained / free.sustained;
        // 500 of 700 W, 126 of them idling.
        assert!((clock - ((500.0 - 126.0) / (700.0 - 126.0_f64)).cbrt()).abs() < 1e-9, "{clock}");
        let [all, less] = [&free, &capped].map(|setup| PowerModel::of(setup).expect("known"));
        assert!((less.compute.0 / all.compute.0 - clock * clock).abs() < 1e-9);
        assert_eq!((less.memory, less.most), (all.memory, Watts(500.0)));
        // At their peak bandwidth bytes would draw more than the cap leaves.
        let bytes = ideal(&capped, 1);
        let watts = bytes.memory.0 * less.memory.0 / less.least(&bytes).0;
        assert!((watts - less.room().0).abs() < 1e-6 && less.least(&bytes) > bytes.time);
        assert_eq!(setup(Some(700.0)).sustained, free.sustained, "the limit itself is no cap");
    }
}
