//! The prerendered pages of well-known configurations, and the pictures of the README: they show what is predicted.
#![cfg(all(feature = "infer", feature = "chart"))]

use std::fs;
use std::path::PathBuf;

use rooflight::api::{Failure, FailureKind, Options, ParsedScenario};
use rooflight::chart::svg;
use rooflight::chart::{Chart, Palette, Roofline, Theme, runs, summary};
use rooflight::efficiency::onnx::Models;
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::serving::report::Basis;
use rooflight::units::count;
use serde::{Deserialize, Serialize};

/// A printed number may round otherwise on another machine; the numbers themselves differ less than this.
const TOLERANCE: f64 = 1e-3;
const RENEW: &str = "ROOFLIGHT_WRITE=1 cargo test --features tools --test presets";
const SIZE: (u32, u32) = (880, 420);

#[derive(Deserialize)]
struct Presets {
    configurations: Vec<Configuration>,
}

#[derive(Deserialize)]
struct Configuration {
    id: String,
    name: String,
    link: String,
    about: String,
}

/// What a page is made of; `scripts/hooks/presets.mjs` makes it.
#[derive(Serialize, Deserialize)]
struct Rendered {
    id: String,
    name: String,
    link: String,
    about: String,
    release: String,
    /// In s and tokens/s: TTFT, TPOT, output, output per user.
    numbers: [f64; 4],
    /// Their names and what is printed.
    headline: Vec<[String; 2]>,
    /// What limits each phase.
    sentences: Vec<String>,
    /// Caveats.
    notes: Vec<String>,
    /// The accompanying picture, in words.
    roofline: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn models() -> Models {
    let bytes = |name: &str| Ok(fs::read(root().join("models").join(name)).expect("a model"));
    Models::new(&read("models/manifest.json"), bytes).expect("the shipped models load")
}

fn answer(models: &Models, rows: &Rows) -> Result<Efficiencies, Failure> {
    let learned = models.answer(rows).map(Efficiencies::Learned);
    learned.map_err(|error| Failure::new(FailureKind::Models, error.to_string()))
}

/// And its picture, light and dark.
fn rendered(models: &Models, of: Configuration) -> (Rendered, [(&'static str, String); 2]) {
    let asked = ParsedScenario::read(&of.link);
    let setup = asked.setup.clone().unwrap_or_else(|| panic!("{}: {:?}", of.id, asked.issues));
    let answer = asked.predict(&Options::default(), |rows| answer(models, rows));
    let report = answer.report.unwrap_or_else(|| panic!("{}: {:?}", of.id, answer.issues));
    let headline = report.headline.as_ref().unwrap_or_else(|| panic!("{} does not fit", of.id));
    let (tpot, per_user) =
        headline.tpot.zip(headline.output_per_s_per_user).expect("more than one token each");
    let chart = Roofline::new(&setup, &report.passes).expect("a GPU with a bandwidth");
    let words = summary(&chart);
    let chart = Chart::Roofline(chart);
    let drawn = |palette| svg(&chart, &[], SIZE, Theme::new(palette, 1.0)).expect("SVG takes everything");
    let Basis::Learned { release } = &report.basis else { panic!("{}: {:?}", of.id, report.basis) };
    let text = |name: &str, value: String| [name.to_owned(), value];
    let pictures = [("", drawn(Palette::LIGHT)), ("-dark", drawn(Palette::DARK))];
    let rendered = Rendered {
        numbers: [headline.ttft.0, tpot.0, headline.output_per_s, per_user],
        headline: vec![
            text("TTFT", headline.ttft.print().to_string()),
            text("TPOT", tpot.print().to_string()),
            text("E2E", headline.e2e.print().to_string()),
            text("Output", format!("{} tok/s", count(headline.output_per_s))),
            text("Output per GPU", format!("{} tok/s", count(headline.output_per_s_per_gpu))),
            text("Output per user", format!("{} tok/s", count(per_user))),
        ],
        sentences: report.passes.iter().map(|pass| pass.sentence.clone()).collect(),
        notes: answer.issues.iter().map(|issue| issue.text.clone()).collect(),
        roofline: words,
        release: release.clone(),
        id: of.id,
        name: of.name,
        link: of.link,
        about: of.about,
    };
    (rendered, pictures)
}

/// A pixel more or less is rounding; other kernels or runs are not.
fn same_picture(file: &str, fresh: &str) {
    if std::env::var_os("ROOFLIGHT_WRITE").is_some() {
        fs::write(root().join(file), fresh).expect("a folder of pictures");
    }
    let kept = read(file);
    assert_eq!(kept.matches("<text").count(), fresh.matches("<text").count(), "{file} is stale: {RENEW}");
}

#[test]
fn pictures_of_the_readme_are_up_to_date() {
    const LINK: &str = "v=1&m=qwen3-32b&tp=2&c=32&rr=0.2&st=1000&sp=25";
    assert!(read("README.md").contains(LINK));
    let models = models();
    let asked = ParsedScenario::read(LINK);
    let setup = asked.setup.clone().expect("a configuration");
    let options = Options { sweep: Some(true), ..Options::default() };
    let answer = asked.predict(&options, |rows| answer(&models, rows));
    let roofline = Roofline::new(&setup, &answer.report.expect("a report").passes).expect("a bandwidth");
    let loads = runs::loads(&setup, &answer.sweep.expect("a sweep").points);
    for (file, chart) in [("docs/roofline.svg", Chart::Roofline(roofline)), ("docs/loads.svg", loads)] {
        let kept = read(file);
        let size = |name: &str| -> u32 {
            let (_, rest) = kept.split_once(&format!("{name}=\"")).expect("a size");
            rest.split('"').next().and_then(|size| size.parse().ok()).expect("a whole number")
        };
        let size = (size("width"), size("height"));
        same_picture(
            file,
            &svg(&chart, &[], size, Theme::new(Palette::LIGHT, 1.0)).expect("SVG takes everything"),
        );
    }
}

#[test]
fn prerendered_pages_are_up_to_date() {
    let read =
        |name: &str| fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let presets: Presets = serde_json::from_str(&read("static/catalog/presets.json")).expect("presets");
    let bytes = |name: &str| fs::read(root().join("models").join(name)).map_err(|error| error.to_string());
    let models =
        Models::new(&read("models/manifest.json"), |name| Ok(bytes(name).expect("a model"))).expect("models");
    assert!(presets.configurations.len() >= 8);
    for of in presets.configurations {
        assert!(of.link.len() < 300, "{}", of.id);
        let (file, (fresh, pictures)) = (format!("static/presets/{}", of.id), rendered(&models, of));
        if std::env::var_os("ROOFLIGHT_WRITE").is_some() {
            let text = serde_json::to_string_pretty(&fresh).expect("JSON takes everything");
            fs::write(root().join(format!("{file}.json")), text + "\n").expect("a folder of presets");
        }
        let kept: Rendered = serde_json::from_str(&read(&format!("{file}.json"))).expect("a rendered preset");
        for (theme, picture) in pictures {
            same_picture(&format!("{file}{theme}.svg"), &picture);
        }
        let stale = format!("{file} is stale: {RENEW}");
        let texts = |of: &Rendered| [&of.name, &of.link, &of.about, &of.release].map(String::clone);
        assert_eq!(texts(&kept), texts(&fresh), "{stale}");
        for (kept, fresh) in kept.numbers.iter().zip(fresh.numbers) {
            assert!((kept / fresh - 1.0).abs() < TOLERANCE, "{kept} against {fresh}: {stale}");
        }
    }
}
