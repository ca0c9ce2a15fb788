//! Whether the kernel an engine launches for a call was measured.

use super::{Launch, Op};
use crate::config::catalog::MEASURED_KERNELS;
use crate::config::{Engine, Gpu};

impl Op {
    /// Whether `engine`'s default kernel for the call was measured on `gpu`, launched by that engine.
    pub fn measured_with(&self, gpu: &Gpu, engine: &Engine) -> bool {
        let Some(family) = self.family() else { return false };
        let caller = engine.caller();
        let launch = Launch { caller, ..Launch::on(gpu) };
        // Another engine's measurements that stand in for its own do not count.
        let Some(launch) = self.served(engine, launch).filter(|launch| launch.caller == caller) else {
            return false;
        };
        let kernel = if launch.name.is_empty() { "-" } else { launch.name };
        let sought = [family.id(), engine.id.as_str(), kernel, self.format().id()];
        MEASURED_KERNELS.lines().any(|line| {
            let mut words = line.split(' ');
            words.by_ref().take(sought.len()).eq(sought) && words.any(|id| id == gpu.id)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Dtype, catalog};
    use crate::kernels::{Gemm, Op};

    #[test]
    fn only_what_an_engine_was_measured_with_counts() {
        let measured = |engine: &str, gpu: &str, weights| {
            let (engine, gpu) =
                (catalog().engine(engine).expect("known"), catalog().gpu(gpu).expect("known"));
            Op::from(Gemm { m: 64, n: 4096, k: 4096, weights }).measured_with(gpu, engine)
        };
        assert!(measured("sglang", "h100-sxm", Dtype::Bf16));
        assert!(!measured("sglang", "b300", Dtype::Bf16), "on B300 SGLang was not measured");
        assert!(!measured("vllm", "h800", Dtype::Bf16), "of H800 there are no such tables");
        assert!(!measured("trtllm", "h100-sxm", Dtype::Fp8), "SGLang's products stand for its own");
        assert!(!measured("vllm", "h100-sxm", Dtype::Nvfp4));
    }
}
