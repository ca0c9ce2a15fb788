//! Offline batches: all prompts at once, no server.

use serde::Deserialize;

use super::{AskLearned, Ran, texts};
use crate::config::catalog::Catalog;
use crate::config::{Lengths, Load, Scenario, Setup, Version, VersionDefaults, Workload, check, link};
use crate::efficiency::{Efficiencies, UNANSWERED};
use crate::evidence::compared::{ComparedCase, ErrorMetric, Times};
use crate::evidence::served::sequence_us;
use crate::kernels::Phase;
use crate::serving::{Report, finish, plan};

/// One offline batch.
#[derive(Debug, Clone, Deserialize)]
pub struct BatchCase {
    #[serde(flatten)]
    pub ran: Ran,
    pub engine_version: Option<Version>,
    /// The command, where the source prints it.
    #[serde(default)]
    pub launch: String,
    /// Tokens of each prompt, or else of all of them and how many there are.
    #[serde(default)]
    pub prompt_lens: Vec<u32>,
    #[serde(default)]
    isl: u32,
    #[serde(default)]
    batch: u32,
    /// Tokens of each answer.
    #[serde(alias = "osl")]
    pub output_len: u32,
    /// Whether its file is outside every fit of constants.
    #[serde(skip)]
    pub outside: bool,
    pub measured: Times,
}

impl BatchCase {
    pub const METRICS: [ErrorMetric; 3] = [ErrorMetric::Prefill, ErrorMetric::DecodeStep, ErrorMetric::Total];

    /// The scenario of the batch.
    fn scenario(&self) -> Result<Scenario, String> {
        let prompts = match self.prompt_lens.is_empty() {
            true => vec![self.isl; self.batch as usize],
            false => self.prompt_lens.clone(),
        };
        let size = u32::try_from(prompts.len()).map_err(|error| error.to_string())?;
        let workload = Workload {
            isl: Lengths::Each(prompts),
            osl: self.output_len,
            load: Load::Batch(size),
            ..Workload::default()
        };
        Ok(Scenario { workload, ..self.ran.scenario()? })
    }

    /// What the recorded version does by default.
    fn defaults<'a>(&self, catalog: &'a Catalog) -> Option<&'a VersionDefaults> {
        let version = self.engine_version.as_ref().filter(|version| !version.text().is_empty())?;
        catalog.engine(&self.ran.engine)?.version_defaults(version, catalog.gpu(&self.ran.gpu)?.arch)
    }

    /// The setup, with what the recorded version does differently from the catalog's.
    ///
    /// * Without asynchronous scheduling the host's work on each sequence is not hidden.
    /// * vLLM's `benchmark_latency` sends the same prompts again and again: a prefix cache holds all but their last blocks.
    fn as_recorded(&self, mut setup: Setup, catalog: &Catalog) -> Setup {
        let Some(defaults) = self.defaults(catalog) else { return setup };
        if !defaults.async_scheduling {
            let sequences = setup.workload.isl.each().len() as f64;
            let all = sequence_us(&self.ran.engine, catalog).0.map(|one| one * sequences);
            let host = &mut setup.engine.host;
            for step in [&mut host.decode_step_us, &mut host.prefill_step_us] {
                step.0 = step.0.zip(all).map(|(own, all)| own + all);
            }
        }
        if defaults.prefix_cache && self.launch.starts_with("benchmark_latency") {
            let (block, prompt) = (f64::from(setup.kv_block()), setup.mean_prompt());
            setup.workload.cached_share = (1.0 - block / prompt).max(0.0);
        }
        setup
    }

    /// Predicts the batch.
    pub fn compare(&self, catalog: &Catalog, ask: &AskLearned) -> Result<ComparedCase, String> {
        let scenario = self.scenario()?;
        let (setup, issues) = check(&scenario, catalog);
        let setup = self.as_recorded(setup.ok_or_else(|| texts(&issues))?, catalog);
        let (plan, rows) = plan(&setup).map_err(|issues| texts(&issues))?;
        let learned = ask(&rows)?;
        let times = |efficiencies: &Efficiencies| {
            let report = finish(&plan, efficiencies).ok_or(UNANSWERED)?;
            times(&report)
        };
        Ok(ComparedCase {
            outside: self.outside,
            predicted: times(&Efficiencies::Learned(learned))?,
            roofline: times(&Efficiencies::Roofline)?,
            measured: self.measured,
            link: link::encode(&scenario),
            ..self.ran.compared()
        })
    }
}

fn times(report: &Report) -> Result<Times, String> {
    let headline = report.headline.as_ref().ok_or_else(|| texts(&report.issues))?;
    Ok(Times {
        prefill_ms: Some(headline.ttft.millis()),
        decode_step_ms: report.pass(Phase::Decode).map(|pass| pass.time.millis()),
        total_ms: Some(headline.e2e.millis()),
        ..Times::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    fn setup(version: &str, launch: &str) -> Setup {
        let case = serde_json::json!({
            "id": "", "source": "", "model": "amd/Llama-3.1-70B-Instruct-FP8-KV", "engine": "vllm", "gpu": "mi300x",
            "tp": 8, "pp": 1, "precision": "fp8", "isl": 2048, "batch": 16, "osl": 2048, "measured": {},
            "engine_version": version, "launch": launch,
        });
        let case: BatchCase = serde_json::from_value(case).expect("a batch");
        let (setup, issues) = check(&case.scenario().expect("known"), catalog());
        case.as_recorded(setup.unwrap_or_else(|| panic!("{issues:?}")), catalog())
    }

    #[test]
    fn a_repeated_batch_is_found_in_the_prefix_cache() {
        assert_eq!(setup("0.9.0.1", "benchmark_latency.py").workload.cached_share, 0.0);
        assert_eq!(setup("0.9.1", "benchmark_throughput.py").workload.cached_share, 0.0);
        assert_eq!(setup("0.9.1", "benchmark_latency.py").cached(2048), 2032);
    }

    #[test]
    fn without_asynchronous_scheduling_each_sequence_shows() {
        let step = |version| setup(version, "").engine.host.decode_step_us.0.expect("known");
        let own = catalog().engine("vllm").expect("known").host.sequence_us.0.expect("known");
        assert_eq!(step("0.10.0") - step("0.14.0"), 16.0 * own);
    }
}
