//! Prepares what a build carries of `static/catalog`: gpus.json and engines.json without their sources, which nothing but
//! `tests/catalog` reads, and of constants.json the two figures that checking a form takes. The page is smaller by the rest.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=static/catalog");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for file in ["gpus.json", "engines.json"] {
        fs::write(out.join(file), without_sources(&read(file)?).ok_or(format!("{file} lists no sources"))?)?;
    }
    let constants: Value = serde_json::from_str(&read("constants.json")?)?;
    let spread = |of: &str| {
        let constant = &constants["kernels"]["data_sets"][of]["value"];
        constant.as_f64().ok_or(format!("constants.json: data_sets has no number {of}"))
    };
    let spreads = [spread("share_gpt_prompt_spread")?, spread("share_gpt_output_spread")?];
    fs::write(out.join("share_gpt.rs"), format!("{spreads:?}"))?;
    Ok(())
}

fn read(file: &str) -> Result<String, String> {
    let path = format!("static/catalog/{file}");
    fs::read_to_string(&path).map_err(|fault| format!("{path}: {fault}"))
}

/// The lines stay, so that what is wrong with a record is found in the file by its line.
fn without_sources(text: &str) -> Option<String> {
    let (before, after) = text.split_once("\"sources\"")?;
    let value = after.trim_start().strip_prefix(':')?;
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
    values.next()?.ok()?;
    let (sources, records) = value.split_at(values.byte_offset());
    let lines = "\n".repeat(sources.matches('\n').count());
    Some(format!("{before}{lines}{}", records.trim_start().strip_prefix(',')?))
}
