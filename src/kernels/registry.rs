//! The registry: every kind of call, and every family that a model covers.
//!
//! A family is a file or folder beside this one. It holds the call, its counted work, its shape in words, its feature
//! vector, and the kernels it knows by name. To add one, write that file and name it in the two lists here.

use std::ops::Deref;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::attention::Attention;
use super::collective::Collective;
use super::elementwise::Elementwise;
use super::features::DeviceSpec;
use super::gemm::Gemm;
use super::latent::{BatchedGemm, LatentAttention, LatentModule, Scores, SparseModule};
use super::linear::{CausalConv, DeltaRule, Scan};
use super::moe::Moe;
use super::{Count, Schedule, attention, elementwise, features, gemm, latent, linear, moe};
use crate::config::ids::ids;
use crate::config::{Dtype, Engine, Gpu, MissingFigure};
use crate::units::{Bytes, Seconds};

/// What a call of any family answers.
pub trait Kernel {
    /// What the call asks of each resource of `gpu`.
    ///
    /// # Errors
    /// Where the GPU's record lacks a figure that the counting needs.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure>;

    /// The size of the call in words.
    fn shape(&self) -> String;

    /// The family whose model covers the call; none for what is timed by other means.
    fn family(&self) -> Option<Family> {
        None
    }

    /// The kernel that the engine of `launch` launches for the call by default, and the format it multiplies in; none
    /// where the engine has no such kernel that was measured.
    fn served<'a>(&self, _engine: &'a Engine, launch: Launch<'a>) -> Option<Launch<'a>> {
        Some(launch)
    }

    /// The feature vector of the call launched so; none if no model has learned the kernel, or there is nothing to
    /// do.
    ///
    /// # Errors
    /// Where the GPU's record lacks a figure that the vector needs.
    fn vector(&self, _launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
        Ok(None)
    }

    /// The time of a call that no model covers, if a closed form was fitted to measured calls of its kind.
    ///
    /// # Errors
    /// Where the GPU's record lacks a figure.
    fn closed_form(&self, _gpu: &Gpu) -> Result<Option<Seconds>, MissingFigure> {
        Ok(None)
    }

    /// What the call takes longer in service than in the measuring loop that its vector is of; below zero where
    /// shorter.
    ///
    /// Weights and cached keys (`stored`) come from device memory, for the rest of the model ran since they were last
    /// read. This is added to the learned time and is no feature: no loop measured a small launch with cold operands,
    /// and a model asked for one extrapolates (attention over 3 MB of cache by half too slow).
    ///
    /// # Errors
    /// Where the GPU's record lacks a figure.
    fn in_service(&self, stored: Bytes, gpu: &Gpu, _engine: &Engine) -> Result<Seconds, MissingFigure> {
        let Some(family) = self.family() else { return Ok(Seconds::ZERO) };
        Ok(Seconds::from_micros(DeviceSpec::new(gpu, family)?.missed(stored.0, 1.0)))
    }

    /// Launches with other tiles, where candidates are known.
    fn candidates(&self, _gpu: &Gpu) -> Vec<Schedule> {
        Vec::new()
    }

    /// Kernels that one call launches where no CUDA graph holds it.
    fn launches(&self) -> f64 {
        1.0
    }

    /// What tells measured calls of the family apart.
    fn point(&self) -> Point {
        Point::default()
    }

    /// The number formats as reports group them, with the phase where one family holds both. `dtype` is the format that
    /// the measured table names.
    fn formats(&self, dtype: Dtype) -> String {
        dtype.id().to_owned()
    }
}

/// How a call is launched.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    pub gpu: &'a Gpu,
    /// Catalog id of the engine.
    pub engine: &'a str,
    /// The kernel, as tables and the engine catalog name it; empty where the engine decides alone.
    pub kernel: &'a str,
    /// The format multiplied in, where the kernel leaves a choice.
    pub math: Dtype,
    /// The least time of a launch.
    pub floor: Seconds,
}

/// Numbers that tell measured calls apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Point {
    /// Held out together: the shape of the weights, the layout of heads, the layer of experts, or the width of one
    /// operator; where models hardly differ in their heads, the heads with the number of sequences.
    pub shape: [u64; 4],
    /// The size within the shape.
    pub size: [u64; 4],
}

/// The columns of a family's vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schema {
    pub family: Family,
    /// Raised whenever a column changes its meaning: a model belongs to one version.
    pub version: u32,
    pub names: Vec<&'static str>,
    /// The columns from here on name the GPU: zero on GPUs without measurements of their own.
    pub identity_from: usize,
}

/// What a family's file says of its vectors.
#[derive(Debug, Clone, Copy)]
pub struct FamilySpec {
    pub version: u32,
    /// Names of the columns before those of the GPU's identity.
    pub columns: fn() -> Vec<&'static str>,
    /// GPUs whose measurements trained the model.
    pub measured: &'static [&'static [&'static str]],
}

macro_rules! calls {
    ($($call:ident),+ $(,)?) => {
        /// A call of any family.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Op { $($call($call)),+ }

        impl Deref for Op {
            type Target = dyn Kernel;

            fn deref(&self) -> &Self::Target {
                match self { $(Self::$call(call) => call),+ }
            }
        }

        $(impl From<$call> for Op {
            fn from(call: $call) -> Self {
                Self::$call(call)
            }
        })+
    };
}

macro_rules! families {
    ($($family:ident = $spec:expr),+ $(,)?) => {
        /// A family of kernels that one model covers.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, EnumString, IntoStaticStr,
            VariantArray,
        )]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        pub enum Family { $($family),+ }

        impl Family {
            fn spec(self) -> FamilySpec {
                match self { $(Self::$family => $spec),+ }
            }
        }
    };
}

calls!(
    Gemm,
    Attention,
    Elementwise,
    Moe,
    LatentAttention,
    BatchedGemm,
    LatentModule,
    SparseModule,
    Scores,
    CausalConv,
    DeltaRule,
    Scan,
    Collective,
);

families!(
    Gemm = gemm::FAMILY,
    AttentionPrefill = attention::PREFILL,
    AttentionDecode = attention::DECODE,
    Elementwise = elementwise::FAMILY,
    Moe = moe::FAMILY,
    Mla = latent::ATTENTION,
    MlaBmm = latent::BMM,
    MlaModule = latent::DENSE_BLOCK,
    DsaModule = latent::SPARSE_BLOCK,
    LinearAttention = linear::FAMILY,
);

// The name of the model's file, and the key of reports.
ids!(Family);

impl Family {
    /// What this build computes for the family.
    pub fn schema(self) -> Schema {
        let FamilySpec { version, columns, .. } = self.spec();
        let own = columns();
        let identity_from = own.len();
        let names = own.into_iter().chain(features::identity_names()).collect();
        Schema { family: self, version, names, identity_from }
    }

    /// GPUs whose measurements trained the model: on those the vector's identity columns are filled.
    pub fn measured_on(self) -> impl Iterator<Item = &'static str> {
        self.spec().measured.iter().copied().flatten().copied()
    }
}

impl Op {
    /// The vector of the call in service, as `engine` launches it by default on `gpu`; none if no model covers it.
    ///
    /// # Errors
    /// Where the GPU's record lacks a figure that the vector needs.
    pub fn served_vector(
        &self,
        gpu: &Gpu,
        engine: &Engine,
        floor: Seconds,
    ) -> Result<Option<Vec<f32>>, MissingFigure> {
        let launch = Launch { gpu, engine: &engine.id, kernel: "", math: Dtype::Bf16, floor };
        self.served(engine, launch).map_or(Ok(None), |launch| self.vector(&launch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;

    #[test]
    fn ids_round_trip() {
        for &family in Family::ALL {
            assert_eq!(Family::from_id(family.id()), Some(family));
            assert_eq!(serde_json::to_value(family).expect("serialises"), family.id());
        }
    }

    #[test]
    fn names_are_unique() {
        for &family in Family::ALL {
            let mut names = family.schema().names;
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{family:?}");
        }
    }

    #[test]
    fn measured_gpus_are_in_the_catalog() {
        for id in Family::ALL.iter().flat_map(|family| family.measured_on()) {
            assert!(catalog().gpu(id).is_some(), "{id}");
        }
    }
}
