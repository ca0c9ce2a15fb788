//! The basis of an answer: where its bands come from, and the nearest measured runs.

use super::metric::{self, HeadlineMetric, change};
use super::{Block, Row, Span, Study, edit};
use crate::calibration::{ConfigPoint, ErrorSource, Observed, PerFactor, shipped};
use crate::config::link::encode;
use crate::config::model::Model;
use crate::config::names::last_part;
use crate::config::names::named;
use crate::config::{Dtype, Field, Load, ModelChoice, Scenario, catalog};
use crate::serving::run::Calibrated;
use crate::units::{count, percent};

/// How many measured runs are listed.
const NEAREST: usize = 8;
const METRICS: [HeadlineMetric; 3] = [metric::TTFT, metric::TPOT, metric::PER_GPU];

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    let Some(calibrated) = own.report().and_then(|report| report.calibrated.as_ref()) else {
        let of_scenario = || match own.scenario.workload.load {
            _ if own.scenario.has_pools() => "prefill and decode pools",
            Load::Batch(_) => "static batches",
            _ => "answers at the roofline",
        };
        return vec![Block::text(match own.headline() {
            Some(_) => {
                format!("This answer is uncalibrated: {} are not calibrated on measured runs.", of_scenario())
            }
            None => own.reason().to_owned(),
        })];
    };
    let mut blocks = vec![Block::text(support(calibrated))];
    blocks.extend(doubts(study, calibrated));
    blocks.extend(nearest(study, &calibrated.rank_input.point));
    blocks
}

/// How many similar runs were measured.
fn support(calibrated: &Calibrated) -> String {
    let support = &calibrated.support;
    let of = |runs: u32| count(f64::from(runs));
    let unseen = match (support.of_model, support.of_gpu_on_engine) {
        (0, 0) => {
            " Neither models of this shape nor this GPU with this engine were measured: bands are wide."
        }
        (0, _) => " No model of this shape was measured: bands are wider for it.",
        (_, 0) => " This GPU was not measured with this engine: bands are wider for it.",
        _ => "",
    };
    let own = if support.own > 0 { format!(", and {} of yours", of(support.own)) } else { String::new() };
    format!(
        "Step times are corrected by measured runs: {} of models of this shape (same kinds, number and width of layers) on this \
         engine, {} on any engine, {} on this GPU with this engine{own}.{unseen}",
        of(support.of_model_on_engine),
        of(support.of_model),
        of(support.of_gpu_on_engine),
    )
}

/// Shares of the variance behind each band.
fn doubts(study: &Study, calibrated: &Calibrated) -> Option<Block> {
    let calibration = shipped();
    let own = study.calibrated_on.as_deref().unwrap_or_default();
    let figure = |metric: &HeadlineMetric| Some((metric.name, metric.figure(study.own())?));
    let known: Vec<_> = METRICS.iter().filter_map(figure).collect();
    let responses: Vec<PerFactor> = known.iter().map(|(_, figure)| figure.response).collect();
    let variances = calibration.variance_by_source(&calibrated.rank_input.point, own, &responses);
    let columns: Vec<[f64; 1 + ErrorSource::ALL.len()]> = known
        .iter()
        .zip(variances)
        .map(|((_, figure), by)| {
            let all = by.iter().sum::<f64>() + figure.noise;
            let [model, version, build, load] = by.map(|one| (one / all).max(0.0));
            [model, version, build, load, figure.noise / all]
        })
        .collect();
    let names =
        ErrorSource::ALL.iter().map(|source| source_name(*source)).chain(["Repeats of one configuration"]);
    let rows = names.enumerate().map(|(row, name)| {
        let cells = columns.iter().map(|column| percent(column[row]).to_string());
        Row::texts(std::iter::once(name.to_owned()).chain(cells))
    });
    let head: Vec<&str> =
        std::iter::once("Share of the variance").chain(known.iter().map(|(name, _)| *name)).collect();
    let table = Block::table("Where the 80 % bands come from", &head, rows);
    (!known.is_empty()).then(|| table.called("doubts"))
}

fn source_name(source: ErrorSource) -> &'static str {
    match source {
        ErrorSource::Model => "How the engine runs this kind of model",
        ErrorSource::Version => "The engine's version",
        ErrorSource::Build => "This GPU, format and version together",
        ErrorSource::Load => "Distance to the measured GPUs, loads and lengths",
    }
}

/// The nearest measured runs, compared with the physics.
fn nearest(study: &Study, at: &ConfigPoint) -> Vec<Block> {
    let like = shipped().like(at);
    if like.is_empty() {
        return Vec::new();
    }
    let rows = like.iter().take(NEAREST).map(|(likeness, known)| {
        let mut cells = vec![run(study, &known.point)];
        cells.extend(Observed::ALL.map(|metric| {
            let observed = known.observed.iter().find(|one| one.metric == metric);
            let beside = observed.and_then(|one| change(one.log_ratio.exp(), 1.0));
            beside.unwrap_or_else(|| "–".into()).into()
        }));
        cells.push(percent(*likeness).to_string().into());
        cells.extend(described(&known.point).map(Span::plain));
        Row::new(cells)
    });
    let head = ["Measured run", "TTFT", "TPOT", "Output", "Shared error", "Engine", "Layout", "Load"];
    let table = Block::table("Nearest measured runs", &head, rows).called("nearest");
    let text = "The nearest measured runs, named by the shape of their model, and how far they are from the uncalibrated prediction.";
    vec![Block::text(text), table]
}

/// Engine, layout and load of a measured run.
fn described(point: &ConfigPoint) -> [String; 3] {
    let engine = named(Field::Engine, &point.engine);
    let degrees = [("TP", point.tp), ("EP", point.ep), ("DP", point.dp), ("PP", point.pp)];
    let layout = degrees.iter().filter(|(_, degree)| *degree > 1.0);
    let layout: Vec<String> = layout.map(|(name, degree)| format!("{name} {}", count(*degree))).collect();
    let [running, prompt, output] = [point.in_flight, point.prompt, point.output].map(|of| count(of.round()));
    let version = match &*point.version {
        "" => ", version not recorded".to_owned(),
        known => format!(" {known}"),
    };
    [
        format!("{engine}{version}"),
        if layout.is_empty() { "one GPU".into() } else { layout.join(", ") },
        format!("{running} at once, {prompt} in, {output} out"),
    ]
}

/// The model and GPU of a measured run, linked as closely as its calibration point allows.
fn run(study: &Study, point: &ConfigPoint) -> Span {
    let form = &study.own().scenario;
    let is_its = |model: &&Model| {
        ConfigPoint::shape_of(model) == point.shape && ConfigPoint::kind_of(model) == point.kind
    };
    let own = study.own().setup().map(|setup| &setup.model).filter(is_its);
    let model = own.or_else(|| catalog().models.models.iter().find(is_its));
    let (gpu, engine) = (catalog().gpu(&point.gpu), catalog().engine(&point.engine));
    let format = Dtype::from_id(&point.format);
    // A run is known by the shape of its model, which several may have.
    let name = model.map_or("another model".to_owned(), |model| format!("like {}", last_part(&model.name)));
    let text =
        format!("{name}, {} on {}", format.map_or("", Dtype::name), gpu.map_or(&*point.gpu, |gpu| &gpu.name));
    let (Some(model), Some(gpu), Some(engine)) = (model, gpu, engine) else { return Span::plain(text) };
    let mut scenario = Scenario { model: form.model.clone(), ..Scenario::default() };
    if own.is_none() {
        scenario.model = ModelChoice::Catalog(model.id.clone());
    }
    scenario.put_on(&gpu.id);
    scenario.run_by(&engine.id);
    [scenario.parallel.tp, scenario.parallel.ep, scenario.parallel.dp, scenario.parallel.pp] =
        [point.tp, point.ep, point.dp, point.pp].map(|degree| degree as u32);
    scenario.weights = format;
    edit::isl(&mut scenario, point.prompt.round() as u32);
    edit::osl(&mut scenario, point.output.round() as u32);
    scenario.workload.load = Load::Concurrency(point.in_flight.round().max(1.0) as u32);
    Span::link(text, format!("#{}", encode(&scenario)))
}
