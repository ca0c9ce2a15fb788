//! Bands of what is measured, from a posterior of factors.

use serde::Serialize;

use super::{Calibration, Factors, Observed, PerFactor, Posterior};

/// Half the width of an 80 % band, in standard deviations: that of Student's t with 5 degrees of freedom, which `training/calibration`
/// fits the variances by. Runs left out lie further from their prediction than a normal distribution has them.
const OF_80_PERCENT: f64 = 1.4759;
/// By what a factor is made larger to see what follows: enough to show in a mean, too little to bend it.
const STRETCH: f64 = 1.1;

/// What 80 % of measurements are expected between.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Band {
    pub low: f64,
    pub high: f64,
    /// Share of its variance that another run of this very configuration would not take away.
    pub noise_share: f64,
}

/// Something computed at some factors, and with either of them larger.
#[derive(Debug, Clone)]
pub struct Responses<T> {
    pub at: T,
    pub longer_prefill: T,
    pub longer_decode: T,
}

impl<T> Responses<T> {
    /// What `of` makes of the factors.
    ///
    /// # Errors
    /// Those of `of`.
    pub fn of<E>(factors: Factors, of: impl Fn(Factors) -> Result<T, E>) -> Result<Self, E> {
        Ok(Self {
            at: of(factors)?,
            longer_prefill: of(factors.longer(STRETCH, 1.0))?,
            longer_decode: of(factors.longer(1.0, STRETCH))?,
        })
    }

    /// Change of the logarithm of a figure with that of either factor.
    ///
    /// With that of waiting it changes by `waits`, its share that is TTFT.
    pub fn response(&self, waits: f64, figure: impl Fn(&T) -> f64) -> PerFactor {
        let at = figure(&self.at);
        let of = |longer: &T| (figure(longer) / at).ln() / STRETCH.ln();
        [of(&self.longer_prefill), of(&self.longer_decode), waits]
    }
}

impl Calibration {
    /// The band of a figure, whose noise is that of the metrics with these shares of it.
    pub fn band<T>(
        &self,
        posterior: &Posterior,
        responses: &Responses<T>,
        shares: &[(Observed, f64)],
        figure: impl Fn(&T) -> f64,
    ) -> Option<Band> {
        let middle = figure(&responses.at);
        let waits = shares.iter().map(|(metric, share)| share * metric.waits()).sum();
        let of_factors = posterior.variance(responses.response(waits, &figure));
        let noise: f64 = shares.iter().map(|(metric, share)| share * share * self.noise.of(*metric)).sum();
        let factor = (OF_80_PERCENT * (of_factors + noise).sqrt()).exp();
        let noise_share = noise / (of_factors + noise);
        // Not where nothing was computed or measured.
        (factor.is_finite() && middle > 0.0).then_some(Band {
            low: middle / factor,
            high: middle * factor,
            noise_share,
        })
    }
}
