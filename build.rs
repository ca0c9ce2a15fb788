//! Prepares the part of `static/catalog` that a build contains, so that visitors download no more than the build reads:
//!
//! * calibration.json with the figures of all runs in columns
//! * gpus.json and engines.json without sources and published peaks (these and models.json on one line for the web)
//! * families.json, launch.json, reports.json and collectives.json without what is for readers
//! * models.json without its source, and without ids, which follow from the names
//! * offered.json: the parts of the engines that the form shows
//! * numbers.rs: the constants of kernels.json and constants.json as numbers
//! * workloads.rs: the workloads with a button
//! * models.rs: the files of the learned models, as `models/manifest.json` names them
//! * trained.rs and call_names.rs: of kernels.json, what features and the page read
//! * machines.txt, labels.txt, measured.txt and popular.rs: plain lists

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use serde_json::Value;

const MANIFEST: &str = "models/manifest.json";
const CALIBRATION: &str = "models/calibration.json";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=static/catalog");
    println!("cargo::rerun-if-changed={MANIFEST}");
    println!("cargo::rerun-if-changed={CALIBRATION}");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for file in ["gpus.json", "engines.json"] {
        let records = without_sources(&read(file)?).ok_or(format!("{file} lists no sources"))?;
        fs::write(out.join(file), packed(&uncited(&records)))?;
    }
    let calibration = by_column(serde_json::from_str(&text(CALIBRATION)?)?);
    let calibration = calibration.ok_or("models/calibration.json: a layout lacks its runs")?;
    fs::write(out.join("calibration.json"), calibration.to_string())?;
    fs::write(out.join("models.json"), packed(&without_ids(&read("models.json")?)))?;
    let engines: Value = serde_json::from_str(&uncited(&read("engines.json")?))?;
    fs::write(out.join("offered.json"), offered(&engines).ok_or("engines.json: an engine lacks a part")?)?;
    let kernels = parsed("kernels.json")?;
    let mut modules = numbers(&kernels).ok_or("kernels.json: a constant has no number")?;
    modules += &numbers(&parsed("constants.json")?).ok_or("constants.json: a constant has no number")?;
    fs::write(out.join("numbers.rs"), modules)?;
    for file in ["families.json", "launch.json", "reports.json", "collectives.json"] {
        let mut records = parsed(file)?;
        leave_out_remarks(&mut records);
        fs::write(out.join(file), records.to_string())?;
    }
    let lengths = parsed("lengths.json")?;
    let quantiles = ["prompts", "outputs"].map(|of| lengths["sharegpt"][of].to_string());
    fs::write(out.join("share_gpt.rs"), format!("[&{}, &{}]", quantiles[0], quantiles[1]))?;
    let presets = parsed("presets.json")?;
    fs::write(
        out.join("workloads.rs"),
        workloads(&presets).ok_or("presets.json: a workload lacks a figure")?,
    )?;
    let launched = parsed("measured.json")?;
    fs::write(out.join("measured.txt"), measured(&launched).ok_or("measured.json: a record lacks a key")?)?;
    fs::write(out.join("trained.rs"), trained(&kernels).ok_or("kernels.json: a family lists no GPUs")?)?;
    fs::write(out.join("call_names.rs"), call_names(&kernels).ok_or("kernels.json lists no calls")?)?;
    let machines = parsed("machines.json")?;
    fs::write(
        out.join("machines.txt"),
        machine_types(&machines).ok_or("machines.json: a machine lacks its GPU or their number")?,
    )?;
    let labels = node_labels(&machines).ok_or("machines.json: a label lacks its GPU")?;
    fs::write(out.join("labels.txt"), labels)?;
    let files = models(&text(MANIFEST)?).ok_or("models/manifest.json: a family has no file")?;
    fs::write(out.join("models.rs"), files)?;
    let popular = parsed("popular.json")?;
    fs::write(out.join("popular.rs"), format!("[&{}, &{}]", popular["models"], popular["gpus"]))?;
    Ok(())
}

/// The calibration with each figure of all runs in a column, which compresses to seven eighths: a layout keeps the
/// number of its runs. Figures that a run lacks are null in the first column of their metric and left out of the others.
fn by_column(mut calibration: Value) -> Option<Value> {
    const METRICS: [&str; 3] = ["ttft", "tpot", "throughput"];
    let mut places: [Vec<Value>; 3] = Default::default();
    let mut figures: [[Vec<Value>; 4]; 3] = Default::default();
    for build in calibration["builds"].as_array_mut()? {
        for layout in build["layouts"].as_array_mut()? {
            let layout = layout.as_object_mut()?;
            let runs = layout.remove("at")?.as_array()?.clone();
            for (metric, columns) in METRICS.iter().zip(&mut figures) {
                let measured = layout.remove(*metric);
                for run in 0..runs.len() {
                    match measured.as_ref().map_or(&Value::Null, |all| &all[run]).as_array() {
                        Some(of) => columns
                            .iter_mut()
                            .zip(of)
                            .for_each(|(column, figure)| column.push(figure.clone())),
                        None => columns[0].push(Value::Null),
                    }
                }
            }
            for run in &runs {
                places
                    .iter_mut()
                    .zip(run.as_array()?)
                    .for_each(|(column, figure)| column.push(figure.clone()));
            }
            layout.insert("runs".into(), runs.len().into());
        }
    }
    calibration["at"] = places.map(Value::from).to_vec().into();
    for (metric, columns) in METRICS.into_iter().zip(figures) {
        calibration[metric] = columns.map(Value::from).to_vec().into();
    }
    Some(calibration)
}

/// What records say for readers alone.
fn leave_out_remarks(records: &mut Value) {
    if let Some(of) = records.as_object_mut() {
        of.retain(|key, _| !["source", "sources", "about"].contains(&key.as_str()));
        of.values_mut().for_each(leave_out_remarks);
    }
}

/// What a form shows of each engine.
fn offered(engines: &Value) -> Option<String> {
    let part = |engine: &Value| {
        let parts = ["id", "name", "version", "scheduler", "weight_rules"].into_iter();
        parts.map(|key| Some((key.to_owned(), engine.get(key)?.clone()))).collect::<Option<Value>>()
    };
    let all: Option<Value> = engines["engines"].as_array()?.iter().map(part).collect();
    Some(all?.to_string())
}

/// A module for each part of the constants, with its numbers as Rust's.
fn numbers(constants: &Value) -> Option<String> {
    let part = |(part, of): (&String, &Value)| {
        let named = of.as_object()?.iter();
        let numbers: Vec<(&String, f64)> =
            named.map(|(name, constant)| Some((name, constant["value"].as_f64()?))).collect::<Option<_>>()?;
        let fields: String = numbers.iter().map(|(name, _)| format!("pub {name}: f64, ")).collect();
        let values: String = numbers.iter().map(|(name, value)| format!("{name}: {value:?}, ")).collect();
        Some(format!(
            "pub mod {part} {{ pub struct Constants {{ {fields}}} \
             pub const fn constants() -> &'static Constants {{ &Constants {{ {values}}} }} }}\n"
        ))
    };
    constants["constants"].as_object()?.iter().map(part).collect()
}

/// A line for each measured kernel: its family, engine, kernel and format, then the GPUs.
fn measured(all: &Value) -> Option<String> {
    let line = |of: &Value| {
        let keys = ["family", "engine", "kernel", "format"].map(|key| of[key].as_str());
        let gpus = of["gpus"].as_array()?.iter().map(Value::as_str);
        let words: Option<Vec<&str>> = keys.into_iter().chain(gpus).collect();
        Some(
            words?
                .into_iter()
                .map(|word| if word.is_empty() { "-" } else { word })
                .collect::<Vec<_>>()
                .join(" "),
        )
    };
    let lines: Option<Vec<String>> = all["kernels"].as_array()?.iter().map(line).collect();
    Some(lines?.join("\n"))
}

/// A line for each machine type: name, GPU, and number of GPUs.
fn machine_types(all: &Value) -> Option<String> {
    let line = |of: &Value| Some(format!("{} {} {}", of[0].as_str()?, of[1].as_str()?, of[2].as_u64()?));
    let lines: Option<Vec<String>> = all["machines"].as_array()?.iter().map(line).collect();
    Some(lines?.join("\n"))
}

/// A line for each label of a node: the label and its GPU.
fn node_labels(all: &Value) -> Option<String> {
    let line = |of: &Value| Some(format!("{} {}", of[0].as_str()?, of[1].as_str()?));
    let lines: Option<Vec<String>> = all["labels"].as_array()?.iter().map(line).collect();
    Some(lines?.join("\n"))
}

/// Each family with the GPUs that trained its model.
fn trained(all: &Value) -> Option<String> {
    let family = |of: &Value| {
        let (id, gpus) = (of["id"].as_str()?, &of["trained_on"]);
        gpus.as_array().filter(|gpus| !gpus.is_empty()).map(|_| format!("({id:?}, &{gpus} as &[&str])"))
    };
    let families: Option<Vec<String>> = all["families"].as_array()?.iter().map(family).collect();
    Some(format!("&[{}]", families?.join(", ")))
}

/// The name of each call with the words to show, in the order of the names.
fn call_names(all: &Value) -> Option<String> {
    let mut names = Vec::new();
    for (name, words) in all["calls"].as_object()? {
        names.push((name.as_str(), words.as_str()?));
    }
    names.sort_unstable();
    Some(format!("&{names:?}"))
}

/// The workloads that have a button on the page, as rows of a table: id, name, input and output tokens, share of
/// prompts in the prefix cache, and prompts of an offline queue (0: the load is unchanged).
fn workloads(presets: &Value) -> Option<String> {
    let row = |of: &Value| {
        let (id, name) = (of["id"].as_str()?, of["short"].as_str()?);
        let cached = of["cached_share"].as_f64().unwrap_or(0.0);
        let (isl, osl, prompts) =
            (of["isl"].as_u64()?, of["osl"].as_u64()?, of["offline"].as_u64().unwrap_or(0));
        Some(format!("({id:?}, {name:?}, {isl}, {osl}, {cached:?}, {prompts})"))
    };
    let shown = presets["workloads"].as_array()?.iter().filter(|of| of.get("short").is_some());
    let rows: Option<Vec<String>> = shown.map(row).collect();
    Some(format!("&[{}]", rows?.join(", ")))
}

/// Each file of the manifest with its content.
fn models(manifest: &str) -> Option<String> {
    let folder = env::current_dir().ok()?.join("models");
    let manifest: Value = serde_json::from_str(manifest).ok()?;
    let file = |family: &Value| {
        let name = family["file"].as_str()?;
        Some(format!("({name:?}, include_bytes!({:?}))", folder.join(name)))
    };
    let files: Option<Vec<String>> = manifest["families"].as_object()?.values().map(file).collect();
    Some(format!("&[{}]", files?.join(", ")))
}

fn parsed(file: &str) -> Result<Value, Box<dyn Error>> {
    Ok(serde_json::from_str(&read(file)?)?)
}

fn read(file: &str) -> Result<String, String> {
    text(&format!("static/catalog/{file}"))
}

fn text(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|fault| format!("{path}: {fault}"))
}

/// The figures without the ids of their sources. Estimates keep theirs, because the form names them as such, and so do
/// prices, whose source plans name.
fn uncited(records: &str) -> String {
    let cited = |figure: &str| {
        let (value, source) = figure.split_once(',')?;
        value.trim().parse::<f64>().ok()?;
        let (id, rest) = source.trim_start().strip_prefix('"')?.split_once('"')?;
        (id != "sibling" && rest.starts_with(']')).then(|| format!("[{value},\"\"{rest}"))
    };
    let mut parts = records.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let kept = text.ends_with("\"dollars_per_hour\":");
        text + &cited(part).filter(|_| !kept).unwrap_or_else(|| format!("[{part}"))
    })
}

/// Each model from its name on: `Catalog::shipped` adds the id again, a tenth of what models take in a download. Nothing reads the source.
fn without_ids(models: &str) -> String {
    let from_name = |line: &str| match line.split_once("\",\"name\":") {
        Some((id, rest)) if id.starts_with("{\"id\":\"") => format!("{{\"name\":{rest}"),
        _ if line.starts_with("\"source\":") => String::new(),
        _ => line.to_owned(),
    };
    models.lines().map(from_name).collect::<Vec<_>>().join("\n")
}

/// For the web without line breaks and indentation, which only serve to find an error at its line.
fn packed(records: &str) -> String {
    match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("wasm32") => records.lines().map(str::trim).collect(),
        _ => records.to_owned(),
    }
}

/// Line numbers are kept, so that an error in a record is found at its line in the file.
fn without_sources(text: &str) -> Option<String> {
    let (before, after) = text.split_once("\"sources\"")?;
    let value = after.trim_start().strip_prefix(':')?;
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
    values.next()?.ok()?;
    let (sources, records) = value.split_at(values.byte_offset());
    let lines = "\n".repeat(sources.matches('\n').count());
    let records = records.trim_start().strip_prefix(',')?.lines();
    let kept = records.map(|line| if line.starts_with(" \"published_tflops\"") { "" } else { line });
    Some(format!("{before}{lines}{}", kept.collect::<Vec<_>>().join("\n")))
}
