//! Bytes of weights and of KV caches compared with figures calculated by hand, for every kind of layer and sharding.
//!
//! Each expectation is the arithmetic itself, from the sizes in the model's published `config.json`.

mod caches;
mod compressed;
mod drafts;
mod sharding;
mod states;
mod sums;
mod support;
mod weights;

use rooflight::config::catalog::catalog;
use rooflight::config::model::Class;
use rooflight::config::{
    Drafts, Dtype, Lengths, Load, Model, ModelChoice, Parallelism, Scenario, Workload, check,
};
use rooflight::efficiency::Efficiencies;
use rooflight::serving::report::Memory;
use rooflight::serving::{finish, plan};

const BF16: f64 = 2.0;
const FP8: f64 = 1.0;
/// A scale of 4 bytes for each block of 128 x 128.
const FP8_BLOCK: f64 = 1.0 + 4.0 / 16384.0;
/// Half a byte and a scale of 1 byte for 16 weights.
const NVFP4: f64 = 0.5 + 1.0 / 16.0;
/// Half a byte and a scale of 1 byte for 32 weights.
const MXFP4: f64 = 0.5 + 1.0 / 32.0;
/// Half a byte and a scale of 2 bytes for 128 weights.
const INT4: f64 = 0.5 + 2.0 / 128.0;

#[track_caller]
fn model(id: &str) -> &'static Model {
    catalog().model(id).unwrap_or_else(|| panic!("{id} is missing"))
}

/// A served model: its parallelism, and the format of its cache.
#[derive(Clone)]
struct Served {
    model: ModelChoice,
    parallel: Parallelism,
    kv: Dtype,
    engine: &'static str,
    drafts: Drafts,
}

fn served(id: &str) -> Served {
    Served {
        model: ModelChoice::Catalog(id.into()),
        parallel: Parallelism::NONE,
        kv: Dtype::Bf16,
        engine: "vllm",
        drafts: Drafts::default(),
    }
}

impl Served {
    fn tp(mut self, tp: u32) -> Self {
        self.parallel.tp = tp;
        self
    }

    fn pp(mut self, pp: u32) -> Self {
        self.parallel.pp = pp;
        self
    }

    fn dp(mut self, dp: u32) -> Self {
        self.parallel.dp = dp;
        self
    }

    fn ep(mut self, ep: u32) -> Self {
        self.parallel.ep = ep;
        self
    }

    fn fp8_cache(mut self) -> Self {
        self.kv = Dtype::Fp8;
        self
    }

    fn on(mut self, engine: &'static str) -> Self {
        self.engine = engine;
        self
    }

    fn drafting(mut self, drafted: u32) -> Self {
        self.drafts.drafted = drafted;
        self
    }

    fn scenario(&self, tokens: u32) -> Scenario {
        Scenario {
            model: self.model.clone(),
            gpu: "b300".into(),
            engine: self.engine.into(),
            parallel: self.parallel,
            kv: self.kv,
            workload: Workload {
                isl: Lengths::Fixed(tokens - 1),
                osl: 1,
                load: Load::Concurrency(8),
                drafts: self.drafts,
                ..Workload::default()
            },
            ..Scenario::default()
        }
    }

    #[track_caller]
    fn memory(&self, tokens: u32) -> Memory {
        let (setup, issues) = check(&self.scenario(tokens), catalog());
        let setup = setup.unwrap_or_else(|| panic!("{issues:?}"));
        let (plan, _) = plan(&setup).unwrap_or_else(|issues| panic!("{issues:?}"));
        finish(&plan, &Efficiencies::Roofline).unwrap().memory
    }

    /// Bytes that one sequence of `tokens` keeps on one GPU.
    #[track_caller]
    fn keeps(&self, tokens: u32, bytes: f64) {
        let counted = self.memory(tokens).kv_per_token.0 * f64::from(tokens);
        assert!((counted / bytes - 1.0).abs() < 1e-9, "{tokens} tokens: counted {counted}, by hand {bytes}");
    }

    /// Bytes of weights on one GPU.
    #[track_caller]
    fn weighs(&self, bytes: f64) {
        let counted = self.memory(100).weights.0;
        assert!((counted / bytes - 1.0).abs() < 1e-9, "counted {counted}, by hand {bytes}");
    }
}

/// Elements and bytes of one class of all layers, in the checkpoint's own formats.
fn class(model: &Model, wanted: Class) -> (f64, f64) {
    let formats = model.formats(model.weights);
    let of = |blocks: &rooflight::config::model::Blocks| {
        let tensors = blocks.tensors(model.hidden);
        let elements: f64 = tensors.iter().filter(|one| one.class == wanted).map(|one| one.elements).sum();
        f64::from(blocks.count) * elements
    };
    let elements: f64 = model.blocks.iter().map(of).sum();
    (elements, elements * wanted.dtype(&formats).bytes())
}

#[track_caller]
fn bytes(id: &str, wanted: Class, elements: f64, each: f64) {
    let counted = class(model(id), wanted);
    assert!(
        (counted.0 / elements - 1.0).abs() < 1e-9,
        "{id} {wanted:?}: {} elements, by hand {elements}",
        counted.0
    );
    let by_hand = elements * each;
    assert!(
        (counted.1 / by_hand - 1.0).abs() < 1e-9,
        "{id} {wanted:?}: {} bytes, by hand {by_hand}",
        counted.1
    );
}
