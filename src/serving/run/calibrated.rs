//! A calibrated run, along with that of the physics alone.

use serde::Serialize;

use super::floor::Floor;
use super::{Run, RunOptions, Runner};
use crate::calibration::{
    Band, Calibration, ConfigPoint, Factors, KnownRun, Observed, Posterior, RankInput, Responses, Support,
    UncertainFigure, Versus, Widths, shipped,
};
use crate::config::{Issue, LatencyMetric, Load, Setup, Start};
use crate::efficiency::Efficiencies;
use crate::serving::sim::{LimitResult, Stats};

/// The calibration for the models that answered; `None` at the roofline, or for a different model release.
pub(super) fn calibration_of(efficiencies: &Efficiencies) -> Option<&'static Calibration> {
    let Efficiencies::Learned(learned) = efficiencies else { return None };
    Some(shipped()).filter(|calibration| calibration.release == learned.release)
}

/// Approximate step-time factors for a setup with this many requests in flight per replica.
pub fn factors(setup: &Setup, efficiencies: &Efficiencies, in_flight: f64) -> Factors {
    let roughly = |known: &Calibration| known.roughly(&ConfigPoint::of(setup, in_flight));
    calibration_of(efficiencies).map_or(Factors::NONE, roughly)
}

/// 80 % bands of a run: seconds, and output tokens per second.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Bands {
    pub ttft: Spread,
    pub tpot: Option<Spread>,
    pub e2e: Spread,
    pub output_per_s: Option<Band>,
    /// Bands of the figures that each limit applies to.
    pub limits: Vec<Option<Band>>,
}

impl Bands {
    /// `None` for TPOT of one output token.
    pub fn latency(&self, metric: LatencyMetric) -> Option<&Spread> {
        metric.choose([Some(&self.ttft), self.tpot.as_ref(), Some(&self.e2e)])
    }

    /// The probability that measurements of `run` meet all of its limits; `None` without limits, and for an overload, whose times
    /// depend on the length of the run.
    pub fn keep(&self, run: &Run) -> Option<f64> {
        if run.saturation.is_some() {
            return None;
        }
        let one =
            |(kept, band): (&LimitResult, &Option<Band>)| Some(band.as_ref()?.within(kept.at, kept.limit));
        // Limits are strongly correlated: all are met about as often as the tightest.
        run.limits.iter().zip(&self.limits).filter_map(one).reduce(f64::min)
    }
}

/// Bands of a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Spread {
    pub mean: Band,
    pub p50: Option<Band>,
    pub p90: Option<Band>,
    pub p99: Option<Band>,
}

impl Spread {
    /// Each percentile responds to the factors in its own way, so their bands may cross. In one run, however, no
    /// measured P90 is below the P50: the lower end of the P50's band is also one for the P90, and the upper end of the
    /// P90's band is also one for the P50.
    fn in_order(mut self) -> Self {
        let all = [&mut self.p50, &mut self.p90, &mut self.p99];
        let mut all: Vec<&mut Band> = all.into_iter().flatten().collect();
        for index in 1..all.len() {
            all[index].low = all[index].low.max(all[index - 1].low);
        }
        for index in (1..all.len()).rev() {
            all[index - 1].high = all[index - 1].high.min(all[index].high);
        }
        // Nor is a mean above the P99.
        self.mean.high = self.mean.high.min(self.p99.map_or(f64::INFINITY, |p99| p99.high));
        self
    }

    /// Times to first token and of whole answers: no answer is complete before its first token.
    fn nested(mut first: Self, mut all: Self) -> (Self, Self) {
        let (of_first, of_all) = (first.each(), all.each());
        for (first, all) in of_first.into_iter().zip(of_all).filter_map(|(first, all)| first.zip(all)) {
            all.low = all.low.max(first.low);
            first.high = first.high.min(all.high);
        }
        (first, all)
    }

    pub(super) fn each(&mut self) -> [Option<&mut Band>; 4] {
        [Some(&mut self.mean), self.p50.as_mut(), self.p90.as_mut(), self.p99.as_mut()]
    }
}

/// The basis of a calibrated run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Calibrated {
    /// Factors on step times.
    pub factors: Factors,
    pub bands: Bands,
    pub support: Support,
    /// The run of the physics alone.
    pub physics: Run,
    /// The prediction without the visitor's own runs, if there are any.
    pub without_own: Option<Run>,
    /// Input for comparisons with others.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub rank_input: RankInput,
    /// Output while the load lasts, and its band; `None` if it is as certain as the load.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    lasting_output: Option<BandedFigure>,
}

impl Calibrated {
    /// For a run with the figures while its load lasts.
    fn while_it_lasts(self) -> Self {
        let (output, output_per_s) = self.lasting_output.unzip();
        Self {
            bands: Bands { output_per_s, ..self.bands },
            rank_input: RankInput { output, ..self.rank_input },
            physics: self.physics.while_it_lasts(),
            without_own: self.without_own.map(Run::while_it_lasts),
            ..self
        }
    }
}

/// Compares `one` with `other`, given measured runs and the visitor's `own`; `None` without calibration.
pub fn versus<'a>(one: &'a Calibrated, other: &'a Calibrated, own: &[KnownRun]) -> Option<Versus<'a>> {
    Some(shipped().versus([&one.rank_input, &other.rank_input], own, |_| true))
}

impl Runner {
    /// The run under `load` with its bands; the physics alone and no bands without calibration.
    ///
    /// # Errors
    /// Errors of [`Runner::run`].
    pub fn calibrated(&self, load: Load) -> Result<(Run, Option<Calibrated>), Issue> {
        let (run, calibrated) = self.calibrated_of(&self.setup, load)?;
        let run = self.shown(run, load, self.setup.replicas).while_it_lasts();
        let calibrated = calibrated.map(|one| if run.lasts { one.while_it_lasts() } else { one });
        Ok((run, calibrated))
    }

    fn calibrated_of(&self, setup: &Setup, load: Load) -> Result<(Run, Option<Calibrated>), Issue> {
        let steps = self.steps();
        let run = |factors, in_brief, beside: Option<&Run>| {
            let options = RunOptions::new(factors, in_brief, &steps);
            self.simulated_with(setup, load, beside.map_or(options, |other| options.beside(other)))
        };
        let physics = run(Factors::NONE, false, None)?;
        let Some(calibration) = self.calibration else { return Ok((physics, None)) };
        let point = ConfigPoint::of(setup, physics.metrics.in_flight);
        let posterior = calibration.posterior(&point, self.own.iter(), |_| true);
        let without_own = match self.own.is_empty() {
            true => None,
            false => Some(run(calibration.posterior(&point, &[], |_| true).factors(), false, None)?),
        };
        let at = posterior.factors();
        let responses = Responses::of(at, |factors, at| run(factors, false, at))?;
        let widths = calibration.widths(&point, |_| true);
        let edges = match is_steep(&responses) {
            true => {
                // At the full width of the band: extrapolated beyond these runs, times would fall below what any queue
                // allows. Each as long as it needs: longer steps may fill the server, which takes more requests.
                let of = (widths, &of_e2e(&responses.at)[..]);
                calibration.figure(&responses, of, |run| run.metrics.e2e.mean).and_then(|e2e| {
                    let scale = e2e.scale(&posterior);
                    let edges = posterior.edges(e2e.response, scale);
                    let [shorter, longer] = edges.map(|factors| run(factors, true, None).ok());
                    shorter.zip(longer).map(|runs| Edges { runs, scale })
                })
            }
            false => None,
        };
        let bands = bands(calibration, (&point, &posterior, widths), (&responses, edges.as_ref()), load);
        let bands = bands.map(|(mut bands, rank_input, lasting)| {
            Floor::of(setup).raise_bands(&mut bands, responses.at.limits.iter().map(|kept| kept.metric));
            if load.is_rate() {
                // No more is served than arrives.
                let arriving = setup.requests_at(load.amount()) * f64::from(setup.workload.osl);
                let most = arriving.max(responses.at.metrics.output_per_s);
                bands.output_per_s.iter_mut().for_each(|band| band.high = band.high.min(most));
            }
            (bands, rank_input, lasting)
        });
        let calibrated = bands.map(|(bands, rank_input, lasting_output)| Calibrated {
            lasting_output,
            factors: posterior.factors(),
            bands,
            rank_input,
            support: calibration.support(&point, &self.own),
            physics,
            without_own,
        });
        Ok((responses.at, calibrated))
    }

    /// The bands of a run of [`Self::trial`] with this start; `None` without calibration.
    pub fn bands(&self, replicas: u32, load: Load, start: Start) -> Option<Bands> {
        self.calibration?;
        let begun = self.setup.under(|workload| workload.start = start);
        let (run, calibrated) = self.calibrated_of(&Setup { replicas, ..begun }, load).ok()?;
        let calibrated = calibrated?;
        Some(if run.while_it_lasts().lasts { calibrated.while_it_lasts() } else { calibrated }.bands)
    }

    /// The calibrated run of a setup under `load`, all of it or in brief.
    pub(super) fn corrected(&self, setup: &Setup, load: Load, in_brief: bool) -> Result<Run, Issue> {
        let steps = self.steps();
        let at = |factors| self.simulated_with(setup, load, RunOptions::new(factors, in_brief, &steps));
        let Some(calibration) = self.calibration else { return at(Factors::NONE) };
        let physics = RunOptions::new(Factors::NONE, true, &steps);
        let physics = self.filled(setup, load, physics).map_err(|error| self.issue(load, &error))?;
        let point = ConfigPoint::of(setup, physics.outcome.in_flight());
        at(calibration.posterior(&point, self.own.iter(), |_| true).factors())
    }
}

/// Runs at both edges of E2E's band, and the factor on its variance.
struct Edges {
    runs: (Run, Run),
    scale: f64,
}

/// The metrics that E2E is composed of, with their shares.
fn of_e2e(run: &Run) -> [(Observed, f64); 2] {
    let waited = run.metrics.ttft.mean / run.metrics.e2e.mean;
    [(Observed::Ttft, waited), (Observed::Tpot, 1.0 - waited)]
}

type BandedFigure = (UncertainFigure, Band);

/// Relative width below which a band only has the rounding errors of what arrives.
const CERTAIN: f64 = 1e-6;
/// TTFT that grows this many times as fast as step times is mostly queueing, which shorter steps would avoid.
const STEEP: f64 = 2.0;

/// Whether a run is close enough to saturation that the edges of its bands need runs of their own.
fn is_steep(responses: &Responses<Run>) -> bool {
    let [prefill, decode, _] = responses.response(0.0, |run| run.metrics.ttft.mean);
    // One may fall while the other rises, if other prompts share a step.
    prefill.abs() + decode.abs() > STEEP
}

/// The bands of a run, and input for comparisons. `None` if TTFT or E2E has no band.
fn bands(
    calibration: &Calibration,
    (point, posterior, widths): (&ConfigPoint, &Posterior, Widths),
    (responses, edges): (&Responses<Run>, Option<&Edges>),
    load: Load,
) -> Option<(Bands, RankInput, Option<BandedFigure>)> {
    let of_e2e = of_e2e(&responses.at);
    let shares = |metric: LatencyMetric| -> &[(Observed, f64)] {
        metric.choose([&[(Observed::Ttft, 1.0)], &[(Observed::Tpot, 1.0)], &of_e2e])
    };
    // A rate falls as times rise.
    let of_rate = of_e2e.map(|(metric, share)| (metric, -share));
    let figure = |shares: &[(Observed, f64)], of: &dyn Fn(&Run) -> f64| {
        calibration.figure(responses, (widths, shares), of)
    };
    let around = |figure: &UncertainFigure, of: &dyn Fn(&Run) -> f64| match edges {
        Some(Edges { runs: (shorter, longer), scale }) => {
            figure.band_between(posterior, [of(shorter), of(longer)], *scale)
        }
        None => figure.band(posterior),
    };
    // Where a mean changes smoothly, a percentile may jump between values: such a slope must not be extrapolated.
    let band = |shares: &[(Observed, f64)], of: &dyn Fn(&Run) -> f64| {
        let figure = figure(shares, of)?;
        let response = figure.response.map(|one| one.clamp(-STEEP, STEEP));
        Some(around(&UncertainFigure { response, ..figure }, of))
    };
    let time = |metric: LatencyMetric| {
        let (shares, stats) = (shares(metric), move |run: &Run| run.metrics.latency(metric));
        let of = |figure: fn(Stats) -> f64| move |run: &Run| stats(run).map_or(f64::NAN, figure);
        let mean = figure(shares, &of(|stats| stats.mean));
        let spread = mean.map(|mean| Spread {
            mean: around(&mean, &of(|stats| stats.mean)),
            p50: band(shares, &of(|stats| stats.p50)),
            p90: band(shares, &of(|stats| stats.p90)),
            p99: band(shares, &of(|stats| stats.p99)),
        });
        (spread.map(Spread::in_order), mean)
    };
    let rate: &[(Observed, f64)] = match load {
        // Clients wait for answers: their rate is as certain as E2E.
        Load::Concurrency(_) | Load::Sessions(_) => &of_rate,
        Load::Burst(_) | Load::Offline(_) | Load::Batch(_) => &[(Observed::Throughput, 1.0)],
        // Everything that arrives is served, whatever the step times.
        Load::Rate(_) | Load::ConstantRate(_) | Load::SessionRate(_) => &[],
    };
    let limits = responses.at.limits.iter().enumerate().map(|(index, kept)| {
        band(shares(kept.metric), &|run| run.limits.get(index).map_or(f64::NAN, |kept| kept.at))
    });
    let [(ttft_spread, ttft), (tpot_spread, tpot), (e2e_spread, e2e)] = LatencyMetric::ALL.map(time);
    let output_per_s = |run: &Run| run.metrics.output_per_s;
    let output = figure(rate, &output_per_s);
    let lasting =
        figure(rate, &Run::lasting_output).map(|figure| (figure, around(&figure, &Run::lasting_output)));
    let lasting = lasting.filter(|(_, band)| band.high > band.low * (1.0 + CERTAIN));
    let (ttft_spread, e2e_spread) = Spread::nested(ttft_spread?, e2e_spread?);
    let bands = Bands {
        e2e: e2e_spread,
        ttft: ttft_spread,
        tpot: tpot_spread,
        output_per_s: output.map(|output| around(&output, &output_per_s)),
        limits: limits.collect(),
    };
    Some((bands, RankInput { point: point.clone(), at: posterior.mean, ttft, tpot, e2e, output }, lasting))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_of_percentiles_do_not_cross() {
        let band = |low, high| Some(Band { low, high, noise_share: 0.5 });
        let mean = Band { low: 2.0, high: 9.0, noise_share: 0.5 };
        let spread = |mean| Spread { mean, p50: band(3.0, 30.0), p90: band(2.0, 40.0), p99: band(4.0, 25.0) };
        let ordered = spread(mean).in_order();
        let ends = [ordered.p50, ordered.p90, ordered.p99].map(|band| band.map(|band| (band.low, band.high)));
        assert_eq!(ends, [Some((3.0, 25.0)), Some((3.0, 25.0)), Some((4.0, 25.0))]);
        assert_eq!(ordered.mean, mean);
        let higher = spread(Band { high: 40.0, ..mean }).in_order();
        assert_eq!(higher.mean.high, 25.0);
    }

    #[test]
    fn the_first_token_is_not_later_than_the_answer() {
        let spread = |low, high| Spread {
            mean: Band { low, high, noise_share: 0.5 },
            p50: None,
            p90: None,
            p99: Some(Band { low, high, noise_share: 0.5 }),
        };
        let (first, all) = Spread::nested(spread(1.0, 90.0), spread(0.5, 20.0));
        assert_eq!([first.mean, all.mean].map(|band| (band.low, band.high)), [(1.0, 20.0); 2]);
    }
}
