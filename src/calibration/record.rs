//! The shipped calibration: its covariance and measured runs.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::gram::Recent;
use super::{ConfigPoint, Covariance, Doubted, FACTORS, PerFactor, Place};
use crate::config::objects::carried;
use crate::config::{Arch, Metric};

static SHIPPED: LazyLock<Calibration> = LazyLock::new(|| {
    let text = include_str!(concat!(env!("OUT_DIR"), "/calibration.json"));
    carried::<File>("models/calibration.json", text).read()
});

/// `models/calibration.json`.
pub fn shipped() -> &'static Calibration {
    &SHIPPED
}

/// The file format's version.
const SCHEMA: u32 = 7;

/// What is known about how runs differ from the physics.
#[derive(Debug, Clone)]
pub struct Calibration {
    /// Release of the models the runs were compared with.
    pub release: String,
    /// Prior covariance by factor.
    pub prior: [Covariance; FACTORS],
    /// What step-time factors do not explain.
    pub noise: Variances,
    pub known: Vec<KnownRun>,
    /// How well each measured configuration was predicted when left out.
    pub configurations: Vec<LeftOut>,
    /// How many configurations the fitted covariance counts for in [`Widths`](super::Widths), and the variance up to
    /// which these scale in proportion.
    pub plain_counts: f64,
    pub typical: Variances,
    pub outliers: Outliers,
    /// Configurations whose runs are left out.
    pub doubted: Vec<Doubted>,
    /// The last decomposition of a posterior.
    pub(super) recent: Recent,
}

/// Treatment of outliers, as in the fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outliers {
    /// |ln(measured / predicted)| beyond which a run is taken to show a queue or a fault.
    pub furthest: f64,
    /// Degrees of freedom of the noise.
    pub tails: f64,
}

/// How far off a configuration was with its own runs left out.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    pub point: ConfigPoint,
    pub place: Place,
    /// The factor on variances, per metric, that puts about 80 % of its figures within their bands; `None` if not
    /// measured.
    pub by: [Option<f64>; Observed::ALL.len()],
}

/// A metric that runs are compared in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observed {
    Ttft,
    Tpot,
    Throughput,
}

/// A variance of ln(measured / predicted) per metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variances {
    pub ttft: f64,
    pub tpot: f64,
    pub throughput: f64,
}

impl Observed {
    pub const ALL: [Self; 3] = [Self::Ttft, Self::Tpot, Self::Throughput];

    /// What benchmarks report it as.
    pub fn metric(self) -> Metric {
        match self {
            Self::Ttft => Metric::Ttft,
            Self::Tpot => Metric::Tpot,
            Self::Throughput => Metric::Output,
        }
    }

    /// Log-derivative of the metric with respect to [`Factors::wait`](super::Factors::wait).
    pub fn waits(self) -> f64 {
        match self {
            Self::Ttft => 1.0,
            Self::Tpot | Self::Throughput => 0.0,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Ttft => "TTFT",
            Self::Tpot => "TPOT",
            Self::Throughput => "output rate",
        }
    }
}

impl Variances {
    pub fn of(&self, metric: Observed) -> f64 {
        match metric {
            Observed::Ttft => self.ttft,
            Observed::Tpot => self.tpot,
            Observed::Throughput => self.throughput,
        }
    }
}

/// One metric of a measured run compared with the physics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    pub metric: Observed,
    /// ln(measured / predicted) for the physics alone.
    pub log_ratio: f64,
    /// Derivative with respect to the logarithm of each factor.
    pub response: PerFactor,
    /// Below 1 if it fits the others badly, above 1 if well: noise has heavy tails.
    pub weight: f64,
}

/// A measured run.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownRun {
    pub point: ConfigPoint,
    /// The place of `point`.
    pub place: Place,
    pub observed: Vec<Observation>,
}

impl Calibration {
    /// A calibration on these runs, with all configurations on an engine sharing their error.
    #[cfg(test)]
    pub fn of_engines(prior: PerFactor, known: Vec<KnownRun>) -> Self {
        use super::{Label, Labels, Level};
        let shared = |variance| Covariance {
            levels: vec![Level { same: Labels::from_iter([Label::Engine]), variance }],
            smooth: Vec::new(),
        };
        let noise = Variances { ttft: 0.01, tpot: 0.01, throughput: 0.01 };
        Self {
            prior: prior.map(shared),
            known,
            noise,
            typical: noise,
            plain_counts: 1.0,
            outliers: Outliers { furthest: 1.0, tails: 4.0 },
            release: String::new(),
            configurations: Vec::new(),
            doubted: Vec::new(),
            recent: Recent::default(),
        }
    }
}

impl KnownRun {
    pub fn new(point: ConfigPoint, observed: Vec<Observation>) -> Self {
        Self { place: point.place(), point, observed }
    }
}

/// The file format, as `build.rs` packs it: runs grouped by what they have in common, their figures in columns.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    release: String,
    /// Whose measurements these are derived from.
    #[allow(dead_code, reason = "for readers of the file")]
    attribution: String,
    prefill: Covariance,
    decode: Covariance,
    wait: Covariance,
    noise: Variances,
    plain_counts: f64,
    typical: Variances,
    outliers: Outliers,
    doubted: Vec<Doubted>,
    builds: Vec<Build>,
    /// Requests in flight, prompt and output of each run.
    at: [Vec<f64>; 3],
    ttft: Figures,
    tpot: Figures,
    throughput: Figures,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Build {
    engine: String,
    version: String,
    kind: String,
    shape: String,
    arch: Arch,
    gpu: String,
    format: String,
    drafted: f64,
    layouts: Vec<StoredLayout>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredLayout {
    tp: f64,
    ep: f64,
    dp: f64,
    pp: f64,
    misses: [Option<f64>; Observed::ALL.len()],
    runs: usize,
}

/// A metric of all runs: its log ratio, null where it was not measured, and, where it was, its response to prefill and
/// to decode, and its weight.
#[derive(Debug, Deserialize)]
struct Figures(Vec<Option<f64>>, Vec<f64>, Vec<f64>, Vec<f64>);

impl Figures {
    /// What was observed in each run.
    fn of_runs(self, metric: Observed) -> impl Iterator<Item = Option<Observation>> {
        let Self(log_ratios, prefill, decode, weights) = self;
        let mut others = prefill.into_iter().zip(decode).zip(weights);
        log_ratios.into_iter().map(move |log_ratio| {
            let log_ratio = log_ratio?;
            let ((prefill, decode), weight) = others.next()?;
            Some(Observation { metric, log_ratio, response: [prefill, decode, metric.waits()], weight })
        })
    }
}

impl File {
    fn read(self) -> Calibration {
        assert_eq!(self.schema, SCHEMA, "models/calibration.json is of another schema: a test reads it");
        let Self { release, prefill, decode, wait, noise, plain_counts, typical, .. } = self;
        let Self { outliers, doubted, builds, .. } = self;
        let configurations: Vec<(LeftOut, usize)> = builds.into_iter().flat_map(Build::read).collect();
        let [in_flight, prompt, output] = self.at;
        let places = in_flight.into_iter().zip(prompt).zip(output);
        let mut ttft = self.ttft.of_runs(Observed::Ttft);
        let mut tpot = self.tpot.of_runs(Observed::Tpot);
        let mut throughput = self.throughput.of_runs(Observed::Throughput);
        let layouts = configurations.iter().flat_map(|(of, runs)| std::iter::repeat_n(&of.point, *runs));
        let run = |(layout, ((in_flight, prompt), output)): (&ConfigPoint, ((f64, f64), f64))| {
            let observed = [ttft.next(), tpot.next(), throughput.next()];
            let observed = observed.into_iter().flatten().flatten().collect();
            KnownRun::new(ConfigPoint { in_flight, prompt, output, ..layout.clone() }, observed)
        };
        let known = layouts.zip(places).map(run).collect();
        let configurations = configurations.into_iter().map(|(of, _)| of).collect();
        Calibration {
            prior: [prefill, decode, wait],
            recent: Recent::default(),
            release,
            noise,
            known,
            configurations,
            plain_counts,
            typical,
            outliers,
            doubted,
        }
    }
}

impl Build {
    /// Its layouts, with their numbers of runs.
    fn read(self) -> Vec<(LeftOut, usize)> {
        let Self { engine, version, kind, shape, arch, gpu, format, drafted, layouts } = self;
        let build = ConfigPoint {
            engine,
            version,
            kind,
            shape,
            arch,
            gpu,
            format,
            drafted,
            ..ConfigPoint::default()
        };
        let of_layout = |layout: StoredLayout| {
            let point =
                ConfigPoint { tp: layout.tp, ep: layout.ep, dp: layout.dp, pp: layout.pp, ..build.clone() };
            (LeftOut { place: point.place(), point, by: layout.misses }, layout.runs)
        };
        layouts.into_iter().map(of_layout).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_calibration_belongs_to_the_shipped_models() {
        let calibration = shipped();
        let manifest: serde_json::Value =
            serde_json::from_str(include_str!("../../models/manifest.json")).unwrap();
        assert_eq!(manifest["release"], calibration.release.as_str(), "fit it again: training/calibration");
        assert!(calibration.known.len() > 1000);
        assert!(calibration.known.iter().all(|run| !run.observed.is_empty()));
    }
}
