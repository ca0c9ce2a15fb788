//! A custom spec sheet: figures that replace those of the catalog GPU it starts from.

use std::borrow::Cow;

use super::{Dtype, Field, Figure, Gpu, Issue};
use crate::units::{Bytes, GIB, MIB};

/// Source id of figures given with the configuration.
pub const GIVEN: &str = "given";

/// Figures that replace those of the scenario's GPU; `None` keeps the catalog's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpecSheet {
    /// Streaming multiprocessors, or compute units.
    pub sms: Option<u32>,
    /// Boost clock, in MHz.
    pub clock_mhz: Option<f64>,
    /// Dense peaks of the tensor cores at the boost clock, in TFLOP/s.
    pub bf16_tflops: Option<f64>,
    pub fp8_tflops: Option<f64>,
    pub fp4_tflops: Option<f64>,
    pub int8_tflops: Option<f64>,
    /// Device memory, in GiB.
    pub memory_gib: Option<f64>,
    /// Bandwidth of device memory, in GB/s.
    pub bandwidth: Option<f64>,
    /// L2 cache, in MiB.
    pub l2_mib: Option<f64>,
    /// Read bandwidth of the L2 cache, in GB/s.
    pub l2_bandwidth: Option<f64>,
    /// Links to the other GPUs of the node, in GB/s per direction.
    pub link: Option<f64>,
    /// Network port, in GB/s per direction.
    pub network: Option<f64>,
    /// Board power limit, in watts.
    pub power_w: Option<f64>,
}

const TERA: f64 = 1e12;

/// The dense peak of `gpu` in TFLOP/s.
pub fn tflops(gpu: &Gpu, dtype: Dtype) -> Option<f64> {
    gpu.peak(dtype).ok().map(|peak| peak.0 / TERA)
}

impl SpecSheet {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// `gpu` with these figures. Dense peaks that are not given follow SMs and clock, as they are per clock and SM.
    pub fn apply<'a>(&self, gpu: &'a Gpu) -> Cow<'a, Gpu> {
        if self.is_empty() {
            return Cow::Borrowed(gpu);
        }
        let mut own = Gpu { name: format!("{} (edited)", gpu.name), ..gpu.clone() };
        let put = |figure: &mut Figure, value: Option<f64>| {
            if value.is_some() {
                *figure = Figure(value, GIVEN.into());
            }
        };
        put(&mut own.sms, self.sms.map(f64::from));
        put(&mut own.clock_mhz, self.clock_mhz);
        if let (Ok(sms), Ok(clock)) = (own.sm_count(), own.clock_hz()) {
            let rates = &mut own.tensor_flops_per_clock;
            let per_clock = |peak: Option<f64>| peak.map(|peak| peak * TERA / (sms * clock));
            put(&mut rates.bf16, per_clock(self.bf16_tflops));
            put(&mut rates.fp8, per_clock(self.fp8_tflops));
            put(&mut rates.fp4, per_clock(self.fp4_tflops));
            put(&mut rates.int8, per_clock(self.int8_tflops));
        }
        put(&mut own.memory_bytes, self.memory_gib.map(|gib| gib * GIB));
        put(&mut own.memory_gb_per_s, self.bandwidth);
        put(&mut own.l2_bytes, self.l2_mib.map(|mib| mib * MIB));
        put(&mut own.l2_gb_per_s, self.l2_bandwidth);
        put(&mut own.link.gb_per_s, self.link);
        put(&mut own.link.network_gb_per_s, self.network);
        put(&mut own.power_w, self.power_w);
        own.edited_from = Some(Box::new(gpu.clone()));
        Cow::Owned(own)
    }

    /// What is wrong with these figures on `gpu`, and caveats for valid ones.
    pub fn issues(&self, gpu: &Gpu) -> Vec<Issue> {
        if self.is_empty() {
            return Vec::new();
        }
        let peaks = [
            (Field::Bf16Tflops, self.bf16_tflops, Dtype::Bf16, "BF16"),
            (Field::Fp8Tflops, self.fp8_tflops, Dtype::Fp8, "FP8"),
            (Field::Fp4Tflops, self.fp4_tflops, Dtype::Nvfp4, "FP4"),
            (Field::Int8Tflops, self.int8_tflops, Dtype::W8a8, "INT8"),
        ];
        // Kernels are chosen by architecture: a rate alone gives a GPU no kernels.
        let foreign =
            peaks.into_iter().filter(|(_, given, dtype, _)| given.is_some() && !gpu.supports(*dtype));
        let mut issues: Vec<Issue> = foreign
            .map(|(field, _, _, name)| {
                let text = format!(
                    "the tensor cores of {} have no {name} mode: leave the rate empty, or start from a GPU that has one",
                    gpu.name
                );
                Issue::error(field, text)
            })
            .collect();
        let host = gpu.host_bytes.as_ref().and_then(|figure| figure.0);
        if let Some((host, given)) = host.zip(self.memory_gib)
            && given * GIB <= host
        {
            let text =
                format!("the host keeps {} of the memory of {}: enter more", Bytes(host).print(), gpu.name);
            issues.push(Issue::error(Field::MemoryGib, text));
        }
        let text = format!(
            "nothing was measured with these figures: kernel efficiencies, and bands if there are any, follow from {}",
            gpu.name
        );
        issues.push(Issue::warning(Field::Gpu, text));
        issues
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    fn h100() -> &'static Gpu {
        catalog().gpu("h100-sxm").expect("in the catalog")
    }

    #[test]
    fn an_empty_sheet_is_the_catalogs_gpu() {
        assert!(matches!(SpecSheet::default().apply(h100()), Cow::Borrowed(gpu) if gpu == h100()));
        assert!(SpecSheet::default().issues(h100()).is_empty());
    }

    #[test]
    fn peaks_follow_sms_and_clock_unless_given() {
        let twice = SpecSheet { sms: Some(264), ..SpecSheet::default() }.apply(h100()).into_owned();
        let peaks = |gpu: &Gpu| [Dtype::Bf16, Dtype::Fp8].map(|dtype| tflops(gpu, dtype).expect("a rate"));
        let [bf16, fp8] = peaks(h100());
        assert_eq!(peaks(&twice), [2.0 * bf16, 2.0 * fp8]);
        let given = SpecSheet { sms: Some(264), bf16_tflops: Some(1000.0), ..SpecSheet::default() };
        let [own, other] = peaks(&given.apply(h100()));
        assert!((own - 1000.0).abs() < 1e-9 && other == 2.0 * fp8);
    }

    #[test]
    fn a_format_without_kernels_is_refused() {
        let sheet = SpecSheet { fp4_tflops: Some(4000.0), ..SpecSheet::default() };
        let issues = sheet.issues(h100());
        assert!(issues[0].is_error() && issues[0].field == Field::Fp4Tflops, "{issues:?}");
        assert!(
            sheet
                .issues(catalog().gpu("b200").expect("in the catalog"))
                .iter()
                .all(|issue| !issue.is_error())
        );
    }
}
