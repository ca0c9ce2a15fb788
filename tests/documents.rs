//! Figures in documents: the tables between `<!-- NAME -->` and `<!-- end -->` show the evidence that the page ships.
//! `ROOFLIGHT_WRITE=1 cargo test --test documents` updates them.

#![cfg(feature = "chart")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use rooflight::config::catalog::{Recorded, catalog, kernels as recorded_kernels};
use rooflight::study::accuracy::{self, Accuracy, ErrorGroup, Grouping};
use serde::Deserialize;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn evidence() -> Accuracy {
    Accuracy::parse(&read("models/evidence.json")).expect("evidence")
}

fn group<'a>(all: &'a [ErrorGroup], of: Grouping, name: &str) -> &'a ErrorGroup {
    all.iter()
        .find(|group| group.of == of && group.name == name)
        .unwrap_or_else(|| panic!("no {of:?} {name}"))
}

fn table(rows: Vec<Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let (head, body) = rows.split_first().expect("a head");
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    line(head) + &rule + &body.iter().map(|cells| line(cells)).collect::<String>()
}

fn texts<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// The groups of a table: a name, and the `of` and `name` of the group.
type Named = [(&'static str, (Grouping, &'static str))];

const BATCHES: &Named = &[
    ("**Rooflight**", (Grouping::All, "")),
    ("plain roofline", (Grouping::Roofline, "")),
    ("Rooflight on the peers' cases", (Grouping::Ours, "pipeweave")),
    ("PipeWeave", (Grouping::Peer, "pipeweave")),
    ("NeuSight", (Grouping::Peer, "neusight")),
    ("Habitat", (Grouping::Peer, "habitat")),
];

const LOOPS: &Named = &[
    ("**Rooflight**", (Grouping::All, "")),
    ("the physics alone, without calibration", (Grouping::Physics, "")),
    ("without runs of the same engine version", (Grouping::WithoutVersion, "")),
    ("without runs of the same model", (Grouping::WithoutModel, "")),
    ("without runs on the same GPU", (Grouping::WithoutGpu, "")),
    ("server configuration fully known", (Grouping::KnownLaunch, "")),
    ("at most 4 clients", (Grouping::FewClients, "")),
    ("plain roofline, same simulation", (Grouping::Roofline, "")),
    ("Rooflight on aiconfigurator's cases", (Grouping::Ours, "aiconfigurator-0.12.0")),
    ("aiconfigurator 0.12.0", (Grouping::Peer, "aiconfigurator-0.12.0")),
];

fn both(error: &accuracy::Error) -> String {
    format!("{:.1} / {:.1} %", error.mean, error.median)
}

/// The error, if it was measured.
fn shown(error: &Option<accuracy::Error>, figure: impl Fn(&accuracy::Error) -> String) -> String {
    error.as_ref().map_or_else(|| "–".into(), figure)
}

fn batches(evidence: &Accuracy) -> String {
    let mut rows = vec![texts(["offline batches, mean error", "cases", "prefill", "decode step", "total"])];
    for (name, (of, which)) in BATCHES {
        let group = group(&evidence.batches, *of, which);
        let errors = group.errors.iter().map(|error| shown(error, |error| format!("{:.1} %", error.mean)));
        rows.push([name.to_string(), group.cases.to_string()].into_iter().chain(errors).collect());
    }
    table(rows)
}

fn loops(evidence: &Accuracy) -> String {
    let mut rows = vec![texts(["closed loops", "runs", "TTFT mean / median", "TPOT mean / median"])];
    for (name, (of, which)) in LOOPS {
        let group = group(&evidence.loops, *of, which);
        let errors = group.errors.iter().map(|error| shown(error, both));
        rows.push([name.to_string(), group.cases.to_string()].into_iter().chain(errors).collect());
    }
    table(rows)
}

fn ranks(evidence: &Accuracy) -> String {
    let mut rows =
        vec![texts(["two runs that differ in", "pairs", "faster one named", "by the physics alone"])];
    for one in &evidence.ranks {
        let name = format!("{}, {}", one.difference, one.metric);
        let percent = |value: f64| format!("{value:.0} %");
        rows.push(vec![name, one.pairs.to_string(), percent(one.right), percent(one.physics)]);
    }
    table(rows)
}

/// Runs that no constant was fitted on, by source; a figure that they do not report is left blank.
fn outside(evidence: &Accuracy) -> String {
    let head = ["not fitted on, mean / median", "runs", "TTFT", "TPOT", "output tokens/s"];
    let mut rows = vec![texts(head)];
    for group in &evidence.outside {
        let figures = group.errors.iter().take(head.len() - 2).map(|error| shown(error, both));
        let name = group.name.replace(" (not fitted on)", "");
        rows.push([name, group.cases.to_string()].into_iter().chain(figures).collect());
    }
    table(rows)
}

#[derive(Deserialize)]
struct Manifest {
    families: BTreeMap<String, Family>,
}

#[derive(Deserialize)]
struct Family {
    errors: Errors,
}

#[derive(Deserialize)]
struct Errors {
    unseen_shapes: Error,
    unseen_gpu: Error,
}

#[derive(Deserialize)]
struct Error {
    mean: f64,
    #[serde(default)]
    roofline_mean: f64,
    by_gpu: BTreeMap<String, OfGpu>,
}

#[derive(Deserialize)]
struct OfGpu {
    rows: f64,
    mean: f64,
}

impl Error {
    /// The mean over GPUs that have another of their architecture among the measured ones, or over those that have none.
    fn with_sibling(&self, wanted: bool) -> String {
        let arch = |gpu: &str| catalog().gpu(gpu).expect("in the catalog").arch;
        let has_sibling =
            |gpu: &str| self.by_gpu.keys().any(|other| other != gpu && arch(other) == arch(gpu));
        let of: Vec<&OfGpu> =
            self.by_gpu.iter().filter(|(gpu, _)| has_sibling(gpu) == wanted).map(|(_, of)| of).collect();
        let sum = |each: fn(&OfGpu) -> f64| of.iter().map(|of| each(of)).sum::<f64>();
        if of.is_empty() {
            "–".into()
        } else {
            format!("{:.1} %", sum(|of| of.rows * of.mean) / sum(|of| of.rows))
        }
    }
}

fn kernels() -> String {
    let manifest: Manifest = serde_json::from_str(&read("models/manifest.json")).expect("a manifest");
    let head =
        ["kernels, mean error", "unseen shapes", "unseen GPU, sibling seen", "no sibling", "plain roofline"];
    let mut rows = vec![texts(head)];
    for record in &recorded_kernels().families {
        let Errors { unseen_shapes, unseen_gpu } = &manifest.families[&record.id].errors;
        let shapes = format!("{:.1} %", unseen_shapes.mean);
        let [sibling, none] = [true, false].map(|wanted| unseen_gpu.with_sibling(wanted));
        let roofline = format!("{:.0} %", unseen_shapes.roofline_mean);
        rows.push(vec![record.title.clone(), shapes, sibling, none, roofline]);
    }
    table(rows)
}

fn release(evidence: &Accuracy) -> String {
    format!("Measured with the models of {}.\n", evidence.release)
}

fn skipped(evidence: &Accuracy) -> String {
    let runs: u32 = evidence.skipped.iter().map(|skipped| skipped.cases).sum();
    let mut text = format!("{runs} closed-loop and trace runs are not predicted:\n\n");
    for accuracy::Skipped { cases, reason } in &evidence.skipped {
        text += &format!("* {cases}: {reason}\n");
    }
    text
}

#[test]
fn tables_are_those_of_the_evidence() {
    let name = "README.md";
    let mut text = read(name);
    let evidence = evidence();
    let parts: [(&str, String); 7] = [
        ("release", release(&evidence)),
        ("batches", batches(&evidence)),
        ("kernels", kernels()),
        ("loops", loops(&evidence)),
        ("outside", outside(&evidence)),
        ("ranks", ranks(&evidence)),
        ("skipped", skipped(&evidence)),
    ];
    for (mark, fresh) in parts {
        let begin = format!("<!-- {mark} -->\n");
        let from = text.find(&begin).unwrap_or_else(|| panic!("{name} has no {begin}")) + begin.len();
        let to = from + text[from..].find("<!-- end -->").expect("an end");
        let fresh = format!("\n{fresh}\n");
        if std::env::var_os("ROOFLIGHT_WRITE").is_some() {
            text.replace_range(from..to, &fresh);
            fs::write(file(name), &text).expect("a document");
        }
        let to = from + text[from..].find("<!-- end -->").expect("an end");
        assert_eq!(&text[from..to], fresh, "{name}, {mark}: stale");
    }
}

#[test]
fn the_headline_is_that_of_the_tables() {
    let text = read("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let evidence = evidence();
    let medians = |of: Grouping, name: &str| {
        let errors = &group(&evidence.loops, of, name).errors;
        [errors[0], errors[1]].map(|error| format!("{:.1} %", error.expect("measured").median))
    };
    let [ttft, tpot] = medians(Grouping::All, "");
    let [physics_ttft, physics_tpot] = medians(Grouping::Physics, "");
    let [peer_ttft, peer_tpot] = medians(Grouping::Peer, "aiconfigurator-0.12.0");
    let batches = &group(&evidence.batches, Grouping::All, "").errors;
    for said in [
        format!("median error {ttft} for TTFT and {tpot} for TPOT"),
        format!("({physics_ttft} and {physics_tpot} by the physics alone)"),
        format!("The best published predictor has {peer_ttft} and {peer_tpot}."),
        format!(
            "mean error {:.0} % for the whole batch, {:.0} % for a decode step",
            batches[2].expect("measured").mean,
            batches[1].expect("measured").mean
        ),
    ] {
        assert!(text.contains(&said), "README.md does not say: {said}");
    }
}

/// The list of constants, which is generated.
fn constants() -> String {
    let recorded: Recorded = serde_json::from_str(&read("static/catalog/constants.json")).expect("it reads");
    let mut text = String::from(
        "# Constants\n\n<!-- Written from kernels.json and constants.json of static/catalog: `ROOFLIGHT_WRITE=1 cargo test --test documents` \
         renews it. -->\n\nThe constants of kernels, features and serving, with what they mean and where they come from. \
         Figures of GPUs and engines are in static/catalog, each with its source.\n",
    );
    let of_kernels = recorded_kernels().constants.iter().map(|part| (part, &recorded_kernels().sources));
    let others = recorded.constants.iter().map(|part| (part, &recorded.sources));
    let all: BTreeMap<_, _> =
        of_kernels.chain(others).map(|((part, of), cited)| (part, (of, cited))).collect();
    for (part, (constants, sources)) in all {
        text += &format!(
            "\n## {part}\n\n| constant | value | unit | meaning | source | fitted on |\n|---|---|---|---|---|---|\n"
        );
        for (name, constant) in constants {
            let source = &sources[&constant.source];
            let address = source.url.strip_prefix("docs/").unwrap_or(&source.url);
            let cells = [
                name.clone(),
                constant.value.to_string(),
                constant.unit.clone(),
                constant.what.clone(),
                format!("[{}]({address})", source.title),
                constant.fitted_on.clone().unwrap_or_default(),
            ];
            text += &format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
        }
    }
    text
}

#[test]
fn the_list_of_constants_is_that_of_the_catalog() {
    let (name, fresh) = ("docs/constants.md", constants());
    if std::env::var_os("ROOFLIGHT_WRITE").is_some() {
        fs::write(file(name), &fresh).expect("a document");
    }
    assert!(read(name) == fresh, "{name} is stale");
}
