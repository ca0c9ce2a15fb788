//! Options of lists: models, formats, engines, GPUs.

use crate::config::catalog::{catalog, offered};
use crate::config::{Arch, Dtype, Field, Gpu, ModelChoice, Scenario, Shape, check};
use crate::study::words;

/// An input's list, and the effect of a choice.
#[derive(Clone, Copy)]
pub struct Options {
    pub entries: fn(&Scenario) -> Vec<Heading>,
    pub chosen: fn(&Scenario) -> String,
    pub choose: fn(&mut Scenario, &str),
}

/// Entries under a heading, which may be empty.
pub type Heading = (&'static str, Vec<Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: String,
    pub text: String,
    /// Listed but not selectable.
    pub refused: bool,
}

impl Entry {
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), refused: false }
    }
}

/// `None` for inputs without a list.
pub fn of(field: Field) -> Option<Options> {
    Some(match field {
        Field::Model => Options {
            entries: models,
            chosen: |scenario| scenario.model.id().into(),
            // Choosing a custom model's entry keeps it.
            choose: |scenario, id| {
                if scenario.model.id() != id {
                    scenario.choose_model(id);
                }
            },
        },
        Field::Weights => Options {
            entries: weights,
            chosen: |scenario| scenario.weights.map_or(UNCHOSEN, Dtype::id).into(),
            choose: |scenario, id| scenario.weights = Dtype::from_id(id),
        },
        Field::Kv => Options {
            entries: |_| vec![("", check::KV_FORMATS.map(format).to_vec())],
            chosen: |scenario| scenario.kv.id().into(),
            choose: |scenario, id| scenario.kv = Dtype::from_id(id).unwrap_or(scenario.kv),
        },
        Field::Engine => Options {
            entries: engines,
            chosen: |scenario| scenario.engine.clone(),
            choose: |scenario, id| scenario.engine = id.into(),
        },
        Field::Shape => Options {
            entries: shapes,
            chosen: |scenario| scenario.workload.shape.map_or(UNCHOSEN, Shape::id).into(),
            choose: |scenario, id| scenario.workload.shape = Shape::from_id(id),
        },
        Field::Gpu => Options {
            entries: gpus,
            chosen: |scenario| scenario.gpu.clone(),
            choose: |scenario, id| scenario.gpu = id.into(),
        },
        _ => return None,
    })
}

fn models(scenario: &Scenario) -> Vec<Heading> {
    let models = &catalog().models;
    let mut headings: Vec<Heading> = Vec::new();
    if let ModelChoice::Custom(model) = &scenario.model {
        headings.push(("Your config.json", vec![Entry::new(&model.id, &model.name)]));
    }
    for (title, experts) in [("Dense", false), ("Mixture of experts", true)] {
        let of = models.models.iter().filter(|model| model.has_experts() == experts);
        headings.push((title, of.map(|model| Entry::new(&model.id, short(&model.name))).collect()));
    }
    let refused = models.refused.iter().map(|model| Entry {
        refused: true,
        ..Entry::new(&model.id, format!("{}: {}", short(&model.name), model.reason))
    });
    headings.push(("Not predicted yet", refused.collect()));
    headings.retain(|(_, entries)| !entries.is_empty());
    headings
}

/// The name first, because lists are scanned by it: `Qwen3-32B (Qwen)`.
fn short(name: &str) -> String {
    match name.split_once('/') {
        Some((organisation, name)) => format!("{name} ({organisation})"),
        None => name.to_string(),
    }
}

/// The default entry: a model's own format, lengths without a shape.
const UNCHOSEN: &str = "";

fn format(dtype: Dtype) -> Entry {
    Entry::new(dtype.id(), dtype.name())
}

/// The model's published format, and those with kernels.
fn weights(scenario: &Scenario) -> Vec<Heading> {
    let model = scenario.model.record();
    let published = match model {
        Some(model) => format!("As published ({})", model.weights.name()),
        None => "As published".to_string(),
    };
    let formats = model.map_or(&[][..], check::weight_formats);
    let entries = formats.iter().copied().map(format);
    vec![("", std::iter::once(Entry::new(UNCHOSEN, published)).chain(entries).collect())]
}

fn shapes(_: &Scenario) -> Vec<Heading> {
    let name = |shape: &Shape| match shape {
        Shape::Sharegpt => Entry::new(shape.id(), "ShareGPT"),
    };
    let plain = Entry::new(UNCHOSEN, "As set by the spreads");
    vec![("", std::iter::once(plain).chain(Shape::ALL.iter().map(name)).collect())]
}

fn engines(_: &Scenario) -> Vec<Heading> {
    let engines = offered().iter();
    let entries = engines.map(|engine| Entry::new(&engine.id, format!("{} {}", engine.name, engine.version)));
    vec![("", entries.collect())]
}

/// Newest first.
const ARCHS: [Arch; 10] = [
    Arch::Blackwell,
    Arch::BlackwellRtx,
    Arch::Hopper,
    Arch::Ada,
    Arch::Ampere,
    Arch::Turing,
    Arch::Volta,
    Arch::Cdna4,
    Arch::Cdna3,
    Arch::Xe2,
];

/// The GPUs of one architecture.
fn of_arch(arch: Arch) -> impl Iterator<Item = &'static Gpu> {
    catalog().gpus.gpus.iter().filter(move |gpu| gpu.arch == arch)
}

/// All GPUs in the order of their list.
pub fn ordered_gpus() -> impl Iterator<Item = &'static Gpu> {
    ARCHS.into_iter().flat_map(of_arch)
}

fn gpus(_: &Scenario) -> Vec<Heading> {
    let of = |arch: Arch| {
        (words::arch(arch), of_arch(arch).map(|gpu| Entry::new(&gpu.id, &gpu.name)).collect::<Vec<_>>())
    };
    ARCHS.into_iter().map(of).filter(|(_, entries)| !entries.is_empty()).collect()
}
