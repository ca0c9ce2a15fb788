//! Bands of measured figures, from a posterior over the factors.

use serde::Serialize;

use super::widths::{Width, Widths};
use super::{Calibration, Factors, Observed, PerFactor, Posterior};

/// Half the width of an 80 % band in standard deviations, for Student's t with 5 degrees of freedom, which
/// `training/calibration` fits the variances with. Left-out runs have heavier tails than a normal distribution.
pub const OF_80_PERCENT: f64 = 1.4759;
/// Step for numerical derivatives with respect to a factor: large enough to show in a mean, small enough to be
/// linear.
const STRETCH: f64 = 1.1;

/// The interval that 80 % of measurements are expected in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Band {
    pub low: f64,
    pub high: f64,
    /// Share of the variance that would remain after measuring this exact configuration.
    pub noise_share: f64,
}

/// A result at some factors, and with each of them increased.
#[derive(Debug, Clone)]
pub struct Responses<T> {
    pub at: T,
    pub longer_prefill: T,
    pub longer_decode: T,
}

/// A positive figure in any unit, with what determines its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UncertainFigure {
    pub value: f64,
    /// Derivative of its logarithm with respect to the logarithm of each factor.
    pub response: PerFactor,
    /// Variance of its logarithm that no factor explains.
    pub noise: f64,
    /// The correction of its variance.
    pub width: Width,
}

impl<T> Responses<T> {
    /// Evaluates `of` at the factors and at increased ones, to which the first is given.
    pub fn of<E>(factors: Factors, of: impl Fn(Factors, Option<&T>) -> Result<T, E>) -> Result<Self, E> {
        let at = of(factors, None)?;
        Ok(Self {
            longer_prefill: of(factors.longer(STRETCH, 1.0), Some(&at))?,
            longer_decode: of(factors.longer(1.0, STRETCH), Some(&at))?,
            at,
        })
    }

    /// Log-derivative of a figure with respect to prefill and decode.
    ///
    /// The derivative with respect to the wait factor is `waits`, the share of TTFT in the figure.
    pub fn response(&self, waits: f64, figure: impl Fn(&T) -> f64) -> PerFactor {
        let at = figure(&self.at);
        let of = |longer: &T| (figure(longer) / at).ln() / STRETCH.ln();
        [of(&self.longer_prefill), of(&self.longer_decode), waits]
    }
}

impl Calibration {
    /// A figure composed of the metrics in these shares, which also determine its noise. `None` if it was not
    /// computed.
    pub fn figure<T>(
        &self,
        responses: &Responses<T>,
        (widths, shares): (Widths, &[(Observed, f64)]),
        of: impl Fn(&T) -> f64,
    ) -> Option<UncertainFigure> {
        let value = of(&responses.at);
        let waits = shares.iter().map(|(metric, share)| share * metric.waits()).sum();
        let noise = shares.iter().map(|(metric, share)| share * share * self.noise.of(*metric)).sum();
        let response = responses.response(waits, of);
        let is_known = value > 0.0 && response.iter().all(|one| one.is_finite());
        is_known.then_some(UncertainFigure { value, response, noise, width: widths.of(shares) })
    }
}

impl UncertainFigure {
    /// The interval that 80 % of its measurements are expected in.
    pub fn band(&self, posterior: &Posterior) -> Band {
        let of_factors = posterior.variance(self.response);
        let factor = (OF_80_PERCENT * self.corrected(of_factors).sqrt()).exp();
        Band {
            low: self.value / factor,
            high: self.value * factor,
            noise_share: self.noise_share(of_factors),
        }
    }

    /// The interval that 80 % of measurements are expected in, from the figure's values at both edges of a step-time
    /// band scaled so ([`Posterior::edges`]), in any order: near saturation a figure responds nonlinearly.
    pub fn band_between(&self, posterior: &Posterior, edges: [f64; 2], scale: f64) -> Band {
        let of_waiting = posterior.variance([0.0, 0.0, self.response[2]]);
        let others = OF_80_PERCENT.powi(2) * (of_waiting + self.noise);
        let own = self.scale(posterior);
        let factor = |away: f64| (own * (away.max(0.0).powi(2) / scale + others)).sqrt().exp();
        let [shorter, longer] = edges.map(|edge| (edge / self.value).ln());
        Band {
            low: self.value / factor(-shorter.min(longer)),
            high: self.value * factor(shorter.max(longer)),
            noise_share: self.noise_share(posterior.variance(self.response)),
        }
    }

    /// The variance of its logarithm, if the factors contribute this much.
    pub fn corrected(&self, of_factors: f64) -> f64 {
        let [prefill, decode, _] = self.response;
        self.width.corrected(of_factors + self.noise, prefill.abs() + decode.abs())
    }

    /// The factor by which the correction changes its variance.
    pub fn scale(&self, posterior: &Posterior) -> f64 {
        let of_factors = posterior.variance(self.response);
        let fitted = of_factors + self.noise;
        // A certain figure stays so.
        if fitted > 0.0 { self.corrected(of_factors) / fitted } else { 1.0 }
    }

    fn noise_share(&self, of_factors: f64) -> f64 {
        // A figure that no factor affects has none.
        if self.noise > 0.0 { self.corrected(0.0) / self.corrected(of_factors) } else { 0.0 }
    }
}

impl Band {
    /// The band of what grows in proportion, by `factor`.
    pub fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, high: self.high * factor, ..self }
    }

    /// The band of `whole` over what this band is of.
    pub fn under(self, whole: f64) -> Self {
        Self { low: whole / self.high, high: whole / self.low, ..self }
    }

    /// The probability that a measurement is at most `limit` if `value` is predicted.
    pub fn within(&self, value: f64, limit: f64) -> f64 {
        let edge = if limit < value { value / self.low } else { self.high / value };
        let deviation = edge.ln() / OF_80_PERCENT;
        probability((limit / value).ln(), deviation * deviation)
    }
}

/// The probability that a quantity with this mean and variance is positive, under the bands' distribution.
pub(super) fn probability(expected: f64, variance: f64) -> f64 {
    let away = expected / variance.sqrt();
    // Without variance it is certain.
    if away.is_nan() {
        return 0.5;
    }
    // Student's t with 5 degrees of freedom, in closed form.
    let root = 5.0_f64.sqrt();
    let flat = 1.0 / (1.0 + away * away / 5.0);
    let bend = if away.is_finite() { away / root * flat * (1.0 + flat * 2.0 / 3.0) } else { 0.0 };
    0.5 + (bend + (away / root).atan()) / std::f64::consts::PI
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_80_percent_band_leaves_a_tenth_on_either_side() {
        assert!((probability(OF_80_PERCENT, 1.0) - 0.9).abs() < 1e-4);
        assert!((probability(-OF_80_PERCENT, 1.0) - 0.1).abs() < 1e-4);
        let band = Band { low: 0.5, high: 2.0, noise_share: 0.0 };
        assert!((band.within(1.0, 2.0) - 0.9).abs() < 1e-4);
    }

    #[test]
    fn a_figure_that_falls_less_than_it_rises_has_a_band_that_does_so_too() {
        let posterior =
            Posterior { mean: [0.0; 3], covariance: [[0.01, 0.0, 0.0], [0.0; 3], [0.0; 3]], left: [1.0; 3] };
        let figure =
            UncertainFigure { value: 1.0, response: [8.0, 0.0, 0.0], noise: 0.0, width: Width::AS_FITTED };
        let band = figure.band_between(&posterior, [0.8, 4.0], 1.0);
        assert!((band.low - 0.8).abs() < 1e-9 && (band.high - 4.0).abs() < 1e-9, "{band:?}");
        assert!((band.within(1.0, 4.0) - 0.9).abs() < 1e-4 && (band.within(1.0, 0.8) - 0.1).abs() < 1e-4);
        // If the response is uniform, the edges are those that its derivative gives.
        for times in [1.0, 3.0] {
            let figure = UncertainFigure { width: Width { times, ..Width::AS_FITTED }, ..figure };
            let edges = posterior.edges(figure.response, times).map(|factors| factors.prefill.powi(8));
            let (even, plain) = (figure.band_between(&posterior, edges, times), figure.band(&posterior));
            assert!((even.low / plain.low - 1.0).abs() < 1e-9 && (even.high / plain.high - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_figure_without_factors_is_certain() {
        assert_eq!([probability(0.1, 0.0), probability(-0.1, 0.0), probability(0.0, 0.0)], [1.0, 0.0, 0.5]);
    }
}
