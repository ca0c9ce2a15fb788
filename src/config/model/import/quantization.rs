//! The weight format of a checkpoint, from `quantization_config` or `hf_quant_config.json`.

use std::collections::BTreeSet;

use crate::config::Dtype;
use crate::config::issue::excerpt;
use crate::config::json::{Json, Object};

/// How the linear layers are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantization {
    pub weights: Dtype,
    /// The checkpoint carries scales for an FP8 KV cache.
    pub fp8_kv: bool,
    /// Linear layers of the blocks that stay in 16 bits.
    pub kept: BTreeSet<String>,
}

/// Reads the format; the error is the trait by which the model is refused.
///
/// `text` is the language model's part of `top`; `separate` the parsed `hf_quant_config.json`.
pub fn read(top: &Object, text: &Object, separate: Option<&Object>) -> Result<Quantization, String> {
    let inline = [top, text].into_iter().find_map(|object| {
        object.object("quantization_config").or_else(|| object.object("compression_config"))
    });
    let separate = separate.map(|object| object.object("quantization").unwrap_or(object));
    let weights = match inline.or(separate) {
        Some(config) => weights(config)?,
        None => Dtype::Bf16,
    };
    let both: Vec<&Object> = inline.into_iter().chain(separate).collect();
    let fp8_kv = both.iter().any(|config| fp8_kv(config));
    let mut kept = BTreeSet::new();
    both.iter().flat_map(|config| kept_layers(config)).for_each(|layer| {
        kept.insert(layer);
    });
    Ok(Quantization { weights, fp8_kv, kept })
}

fn weights(config: &Object) -> Result<Dtype, String> {
    // ModelOpt names an algorithm, with or without a `quant_method` beside it.
    if let Some(algorithm) = config.text("quant_algo") {
        return match algorithm {
            "FP8" | "FP8_PER_CHANNEL_PER_TOKEN" => Ok(Dtype::Fp8),
            "MIXED_PRECISION" => Err("weights in several formats (`quant_algo` MIXED_PRECISION)".into()),
            other => Err(format!("{} weights (`quant_algo`)", excerpt(other))),
        };
    }
    match config.text("quant_method") {
        Some("fp8") => fp8(config),
        Some("fbgemm_fp8") => Ok(Dtype::Fp8),
        Some("compressed-tensors" | "modelopt") | None => groups(config),
        Some("mxfp4") => Err("MXFP4 weights (`quant_method` mxfp4)".into()),
        Some(other) => match config.number("bits").or_else(|| config.number("w_bit")) {
            Some(bits) => Err(format!("{bits}-bit weights (`quant_method` {})", excerpt(other))),
            None => Err(format!("{} weights (`quant_method`)", excerpt(other))),
        },
    }
}

fn fp8(config: &Object) -> Result<Dtype, String> {
    if let Some(format) = config.text("fmt").filter(|format| !format.contains("e4m3")) {
        return Err(format!("FP8 weights in {} (`fmt`)", excerpt(format)));
    }
    match config.list("weight_block_size") {
        None => Ok(Dtype::Fp8),
        Some(sides) => block(sides),
    }
}

/// The one block size with measured kernels.
fn block(sides: &[Json]) -> Result<Dtype, String> {
    const SIDE: Json = Json::Number(128.0);
    if *sides == [SIDE, SIDE] {
        return Ok(Dtype::Fp8Block);
    }
    Err("FP8 weights scaled in blocks other than 128x128".into())
}

/// compressed-tensors: one scheme a group of layers. All groups have to agree.
fn groups(config: &Object) -> Result<Dtype, String> {
    const UNKNOWN: &str = "weights in a format that `quantization_config` does not name";
    let groups = config.object("config_groups").ok_or(UNKNOWN)?;
    let mut found: Option<Dtype> = None;
    for group in groups.values() {
        let Json::Object(group) = group else { return Err(UNKNOWN.into()) };
        let scheme = scheme(group.object("weights").ok_or(UNKNOWN)?)?;
        if found.is_some_and(|other| other != scheme) {
            return Err("weights in several formats (`config_groups`)".into());
        }
        found = Some(scheme);
    }
    found.ok_or_else(|| UNKNOWN.into())
}

fn scheme(weights: &Object) -> Result<Dtype, String> {
    let kind = weights.text("type").unwrap_or("float");
    match (weights.number("num_bits"), kind) {
        (Some(8.0), "float") => match (weights.text("strategy"), weights.list("block_structure")) {
            (Some("block"), Some(sides)) => block(sides),
            (Some("group" | "block"), _) => Err("FP8 weights scaled in groups (`strategy`)".into()),
            _ => Ok(Dtype::Fp8),
        },
        (Some(4.0), "float") => match weights.number("group_size") {
            Some(16.0) => Err("NVFP4 weights (`num_bits` 4, `group_size` 16)".into()),
            Some(32.0) => Err("MXFP4 weights (`num_bits` 4, `group_size` 32)".into()),
            _ => Err("FP4 weights (`num_bits` 4)".into()),
        },
        (Some(bits), "int") => Err(format!("INT{bits} weights (`num_bits`)")),
        (Some(bits), kind) => Err(format!("{bits}-bit {} weights (`num_bits`)", excerpt(kind))),
        (None, _) => Err("weights of unnamed width (`num_bits` is missing)".into()),
    }
}

fn fp8_kv(config: &Object) -> bool {
    config.text("kv_cache_quant_algo") == Some("FP8")
        || config.text("kv_cache_scheme") == Some("FP8")
        || config.object("kv_cache_scheme").and_then(|scheme| scheme.number("num_bits")) == Some(8.0)
}

/// Excluded modules that are linear layers of a block; norms, the embedding and the head are never quantised.
fn kept_layers(config: &Object) -> Vec<String> {
    const LINEAR: [&str; 3] = ["_proj", "mlp", "self_attn"];
    let lists = ["modules_to_not_convert", "ignore", "exclude_modules"];
    let names = lists.iter().filter_map(|key| config.list(key)).flatten().filter_map(Json::as_text);
    names
        .filter(|name| LINEAR.iter().any(|part| name.contains(part)) && !name.contains("norm"))
        .map(excerpt)
        .collect()
}
