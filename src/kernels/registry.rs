//! The interface of all calls and of all families with a model; the list of them is in `mod.rs`.

use std::str::FromStr;

use serde::Serialize;

use super::features::{self, DeviceSpec};
use super::{Count, Family, Op, Schedule};
use crate::config::catalog::TRAINED_ON;
use crate::config::kernels::{Caller, KernelId, KernelName};
use crate::config::{Arch, Dtype, Engine, Gpu, MissingFigure};
use crate::units::{Bytes, Seconds};

/// A call of any family.
pub trait Kernel {
    /// The resources the call needs on `gpu`.
    fn count(&self, gpu: &Gpu) -> Result<Count, MissingFigure>;

    /// The format of the weights, or of the KV cache for attention.
    fn format(&self) -> Dtype {
        Dtype::Bf16
    }

    /// The call's shape in words.
    fn shape(&self) -> String;

    /// The family whose model covers the call; `None` if it is timed otherwise.
    fn family(&self) -> Option<Family> {
        None
    }

    /// The engine's default kernel for the call and the format it multiplies in; `None` if the engine has no such
    /// kernel with measurements.
    fn served<'a>(&self, _engine: &'a Engine, launch: Launch<'a>) -> Option<Launch<'a>> {
        Some(launch)
    }

    /// The kernel behind a name in the measured tables of the call's family, launched by `engine` on `arch`; `None` if
    /// it has no learned model.
    fn named(&self, name: &str, _engine: Option<&Engine>, _arch: Arch) -> Option<KernelId> {
        (self.family()?.spec().kernel)(name)
    }

    /// The feature vector of the call with this launch; `None` if the kernel has no learned model or there is
    /// nothing to do.
    fn vector(&self, _launch: &Launch<'_>) -> Result<Option<Vec<f32>>, MissingFigure> {
        Ok(None)
    }

    /// The vector, and whether the call takes as long as the host needs to launch its kernels, which the model has
    /// learned with it.
    fn vector_and_wait(&self, launch: &Launch<'_>) -> Result<Option<(Vec<f32>, bool)>, MissingFigure> {
        Ok(self.vector(launch)?.map(|vector| (vector, false)))
    }

    /// The call without its cached tokens, and the time they add to it, where that is known better than learned.
    fn without_cache(&self, _launch: &Launch<'_>) -> Result<Option<(Op, Seconds)>, MissingFigure> {
        Ok(None)
    }

    /// The time of a call of `engine` without a model, if there is a closed form for its kind.
    fn closed_form(&self, _gpu: &Gpu, _engine: &Engine) -> Result<Option<Seconds>, MissingFigure> {
        Ok(None)
    }

    /// Extra time in service relative to the benchmark loop behind its vector; negative if shorter.
    ///
    /// Weights and cached keys (`stored`) come from device memory, because the rest of the model ran since they
    /// were last read. This is added to the learned time rather than being a feature: no benchmark measured small
    /// launches with cold operands, and a model asked for one extrapolates (attention over 3 MB of cache 50 % too
    /// slow).
    fn in_service(&self, stored: Bytes, gpu: &Gpu, _engine: &Engine) -> Result<Seconds, MissingFigure> {
        if self.family().is_none() {
            return Ok(Seconds::ZERO);
        }
        Ok(Seconds::from_micros(DeviceSpec::of(gpu)?.missed(stored.0, 1.0)))
    }

    /// Time as a multiple of the measured kernel's, if the engine's version runs a slower form of it.
    fn stretch(&self, _gpu: &Gpu, _engine: &Engine) -> f64 {
        1.0
    }

    /// Launches with other tiles, if candidates are known.
    fn candidates(&self, _gpu: &Gpu) -> Vec<Schedule> {
        Vec::new()
    }

    /// Kernels launched by one call without a CUDA graph, or what takes the host of `engine` as long.
    fn launches(&self, _gpu: &Gpu, _engine: &Engine) -> f64 {
        1.0
    }

    /// Coordinates that distinguish measured calls of the family.
    fn point(&self) -> CallPoint {
        CallPoint::default()
    }

    /// The number formats as grouped in reports, with the phase if the family has both. `dtype` is the measured
    /// table's format.
    fn formats(&self, dtype: Dtype) -> String {
        dtype.id().to_owned()
    }
}

/// How a call is launched.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    pub gpu: &'a Gpu,
    /// The engine, if it is among those whose launches were measured.
    pub caller: Option<Caller>,
    /// The kernel's name in tables and the engine's record; empty if it has none.
    pub name: &'a str,
    /// The kernel; `None` if it has no learned model, or the family but one.
    pub kernel: Option<KernelId>,
    /// The format of the products, if the kernel leaves a choice.
    pub math: Dtype,
}

impl<'a> Launch<'a> {
    /// A launch on `gpu`, with nothing else known.
    pub fn on(gpu: &'a Gpu) -> Self {
        Self { gpu, caller: None, name: "", kernel: None, math: Dtype::Bf16 }
    }

    /// The launch with the kernel that a record names.
    pub fn with<K: Copy + Into<KernelId>>(self, named: &'a KernelName<K>) -> Self {
        Self { name: named.name(), kernel: named.id().map(Into::into), ..self }
    }
}

/// What a model is asked for a served call.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedVector {
    pub vector: Vec<f32>,
    pub waits_for_host: bool,
    /// What cached tokens add, if the vector is of the call without them.
    pub added: Option<Added>,
}

/// The part of a call that its vector leaves out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Added {
    /// Ideal time of the call, and of the part in the vector.
    pub whole: Seconds,
    pub alone: Seconds,
    /// The time of the rest.
    pub time: Seconds,
}

/// Coordinates that distinguish measured calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallPoint {
    /// Held out together: the weight shape, head layout, expert layer, or width of an operator; where models hardly
    /// differ in their heads, heads with number of sequences.
    pub shape: [u64; 4],
    /// The size within the shape.
    pub size: [u64; 4],
}

/// The columns of a family's vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schema {
    pub family: Family,
    /// Incremented whenever a column changes its meaning: a model belongs to one version.
    pub version: u32,
    pub names: Vec<&'static str>,
    /// Columns from here on identify the GPU: zero on GPUs without measurements.
    pub identity_from: usize,
}

/// A family's description of its vectors and kernels.
#[derive(Debug, Clone, Copy)]
pub struct FamilySpec {
    pub version: u32,
    /// Names of the columns before the GPU identity columns.
    pub columns: fn() -> Vec<&'static str>,
    /// The kernel behind a name in the family's measured tables.
    pub kernel: fn(&str) -> Option<KernelId>,
    /// Fraction of the power limit that a kernel draws while it runs, besides its bytes and FLOP: softmax,
    /// dequantisation, copies into shared memory, padded rows. None was seen for GEMMs and whole blocks.
    pub busy: f64,
}

/// The kernel of this type with a name.
pub fn parsed<K: FromStr + Into<KernelId>>(name: &str) -> Option<KernelId> {
    name.parse().ok().map(K::into)
}

/// Lists the calls of all families.
macro_rules! calls {
    ($($call:ident),+ $(,)?) => {
        /// A call of any family.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Op { $($call($call)),+ }

        impl std::ops::Deref for Op {
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

/// Lists the families, each with what describes its vectors.
macro_rules! families {
    ($($family:ident = $spec:expr),+ $(,)?) => {
        /// A family of kernels covered by one model.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        pub enum Family { $($family),+ }

        // The name of the model's file, and the key of reports.
        crate::config::ids::ids!(Family);

        impl Family {
            fn spec(self) -> FamilySpec {
                match self { $(Self::$family => $spec),+ }
            }
        }
    };
}

impl Family {
    /// The schema of this build.
    pub fn schema(self) -> Schema {
        let FamilySpec { version, columns, .. } = self.spec();
        let own = columns();
        let identity_from = own.len();
        let names = own.into_iter().chain(features::identity_names()).collect();
        Schema { family: self, version, names, identity_from }
    }

    /// The family's [`FamilySpec::busy`].
    pub fn busy(self) -> f64 {
        self.spec().busy
    }

    /// GPUs whose measurements trained the model; the identity columns are filled for these.
    pub fn trained_on(self) -> &'static [&'static str] {
        TRAINED_ON.iter().find(|(family, _)| *family == self.id()).map_or(&[], |(_, gpus)| gpus)
    }
}

impl Op {
    /// The vector of the call as `engine` launches it by default on `gpu`; `None` if no model covers it.
    pub fn served_vector(&self, gpu: &Gpu, engine: &Engine) -> Result<Option<ServedVector>, MissingFigure> {
        let launch = Launch { caller: engine.caller(), ..Launch::on(gpu) };
        let Some(launch) = self.served(engine, launch) else { return Ok(None) };
        let Some((alone, time)) = self.without_cache(&launch)? else {
            let served = self.vector_and_wait(&launch)?;
            return Ok(served.map(|(vector, waits_for_host)| ServedVector {
                vector,
                waits_for_host,
                added: None,
            }));
        };
        let [whole, ideal] = [self.count(gpu)?, alone.count(gpu)?].map(|count| count.ideal(gpu));
        let added = Added { whole: whole?, alone: ideal?, time };
        let vector = alone.vector(&launch)?;
        Ok(vector.map(|vector| ServedVector { vector, waits_for_host: false, added: Some(added) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;
    use crate::config::catalog::kernels;

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
    fn each_family_has_a_record() {
        let recorded: Vec<&str> = kernels().families.iter().map(|record| record.id.as_str()).collect();
        assert_eq!(recorded, Family::ALL.iter().map(|family| family.id()).collect::<Vec<_>>());
    }

    #[test]
    fn each_family_was_trained_on_gpus_of_the_catalog() {
        for family in Family::ALL {
            assert!(!family.trained_on().is_empty(), "{family:?}");
            for id in family.trained_on() {
                assert!(catalog().gpu(id).is_some(), "{id}");
            }
        }
    }
}
