//! The feature row of a measured call.

use crate::config::catalog::catalog;
use crate::config::kernels::Caller;
use crate::kernels::Launch;
use crate::kernels::measured::MeasuredCall;
use crate::units::Seconds;

/// A call's features as launched by the benchmark loop, and its ideal time.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureRow {
    pub features: Vec<f32>,
    pub ideal: Seconds,
}

impl MeasuredCall {
    /// Fails if no model covers the call: a GPU without a record, or one that lacks a figure; a format or kernel
    /// nobody learned.
    pub fn row(&self) -> Result<FeatureRow, String> {
        let gpu = catalog().gpu(&self.gpu).ok_or_else(|| format!("no record of {}", self.gpu))?;
        // Sources that name no engine called the library, as vLLM does.
        let engine = catalog().engine(if self.engine.is_empty() { "vllm" } else { &self.engine });
        let launch = Launch {
            caller: Caller::from_id(&self.engine),
            name: &self.kernel,
            kernel: self.op.named(&self.kernel, engine, gpu.arch),
            math: self.dtype,
            ..Launch::on(gpu)
        };
        let row = self.op.vector(&launch)?;
        let features = row.ok_or_else(|| format!("no model for {} by {}", self.formats(), self.kernel))?;
        let count = self.op.count(gpu)?;
        let ideal = count.ideal(gpu)?;
        Ok(FeatureRow { features, ideal })
    }
}
