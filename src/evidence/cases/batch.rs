//! Offline batches: all prompts at once, no server.

use serde::Deserialize;

use super::{Ask, dtype, model, texts};
use crate::config::catalog::Catalog;
use crate::config::{Dtype, Lengths, Load, ModelChoice, Overrides, Scenario, Workload, check, link};
use crate::efficiency::Efficiencies;
use crate::evidence::compared::{Compared, Metric, Times};
use crate::kernels::Phase;
use crate::serving::{Report, finish, plan};

/// One offline batch.
#[derive(Debug, Clone, Deserialize)]
pub struct BatchCase {
    pub id: String,
    pub source: String,
    pub model: String,
    pub engine: String,
    pub gpu: String,
    pub tp: u32,
    pub pp: u32,
    pub precision: String,
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
    /// No constant was fitted on batches of its file.
    #[serde(skip)]
    pub outside: bool,
    pub measured: Times,
}

impl BatchCase {
    pub const METRICS: [Metric; 3] = [Metric::Prefill, Metric::DecodeStep, Metric::Total];

    /// The scenario of the batch.
    ///
    /// # Errors
    /// Why there is none.
    fn scenario(&self) -> Result<Scenario, String> {
        let prompts = match self.prompt_lens.is_empty() {
            true => vec![self.isl; self.batch as usize],
            false => self.prompt_lens.clone(),
        };
        let size = u32::try_from(prompts.len()).map_err(|error| error.to_string())?;
        Ok(Scenario {
            model: ModelChoice::Catalog(model(&self.model)?.model.id.clone()),
            gpu: self.gpu.clone(),
            engine: self.engine.clone(),
            tp: self.tp,
            pp: self.pp,
            dp: 1,
            ep: 1,
            replicas: 1,
            prefill: crate::config::Prefill::default(),
            weights: Some(dtype(&self.precision)?),
            kv: Dtype::Bf16,
            workload: Workload {
                isl: Lengths::Each(prompts),
                osl: self.output_len,
                load: Load::Batch(size),
                ..Workload::default()
            },
            overrides: Overrides::default(),
            measured: crate::config::Measured::default(),
        })
    }

    /// Predicts the batch.
    ///
    /// # Errors
    /// Why it cannot be predicted.
    pub fn compare(&self, catalog: &Catalog, ask: &Ask) -> Result<Compared, String> {
        let scenario = self.scenario()?;
        let (setup, issues) = check(&scenario, catalog);
        let setup = setup.ok_or_else(|| texts(&issues))?;
        let (plan, rows) = plan(&setup).map_err(|issues| texts(&issues))?;
        let learned = ask(&rows)?;
        let times = |efficiencies: &Efficiencies| {
            let report = finish(&plan, efficiencies).ok_or("the models did not answer every row")?;
            times(&report)
        };
        Ok(Compared {
            id: self.id.clone(),
            model: self.model.clone(),
            engine: self.engine.clone(),
            gpu: self.gpu.clone(),
            source: self.source.clone(),
            outside: self.outside,
            concurrency: None,
            recorded: None,
            predicted: times(&Efficiencies::Learned(learned))?,
            roofline: times(&Efficiencies::Roofline)?,
            physics: None,
            calibrated: Default::default(),
            measured: self.measured,
            link: link::encode(&scenario),
        })
    }
}

fn times(report: &Report) -> Result<Times, String> {
    let headline = report.headline.as_ref().ok_or_else(|| texts(&report.issues))?;
    let decode = report.passes.iter().find(|pass| pass.phase == Phase::Decode);
    Ok(Times {
        prefill_ms: Some(headline.ttft.millis()),
        decode_step_ms: decode.map(|pass| pass.time.millis()),
        total_ms: Some(headline.e2e.millis()),
        ..Times::default()
    })
}
