//! Names of weight formats in quantisation records.

use serde_json::Value;

use crate::config::{Dtype, excerpt, json};

/// A format, and a note on what is not distinguished.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheme {
    pub dtype: Dtype,
    /// INT4 weights that share a scale, if fewer than 128.
    pub int4_group: Option<u32>,
    pub note: Option<&'static str>,
}

impl From<Dtype> for Scheme {
    fn from(dtype: Dtype) -> Self {
        Self { dtype, int4_group: None, note: None }
    }
}

const WEIGHT_ONLY: &str =
    "The checkpoint multiplies FP4 weights with 16-bit activations; FP4 activations are assumed.";
const SMALL_GROUPS: &str =
    "INT4 weights with a scale for fewer than 128 values are timed as those with one for 128.";

/// What to do about a format that is not covered.
pub const INSTEAD: &str = "remove `quantization_config` to choose another format";

/// ModelOpt's `quant_algo`.
pub fn algorithm(name: &str) -> Result<Scheme, String> {
    Ok(match name {
        "FP8" | "FP8_PER_CHANNEL_PER_TOKEN" => Dtype::Fp8.into(),
        "FP8_PB_WO" | "FP8_BLOCK_SCALES" => Dtype::Fp8Block.into(),
        "NVFP4" => Dtype::Nvfp4.into(),
        "W4A16_NVFP4" => Scheme { note: Some(WEIGHT_ONLY), ..Dtype::Nvfp4.into() },
        "W4A16_MXFP4" => Dtype::Mxfp4.into(),
        "W4A8_MXFP4_MXFP8" => Dtype::Mxfp4Mxfp8.into(),
        "W4A16_AWQ" | "W4A16_GPTQ" | "W4A16" => Dtype::Int4.into(),
        "W8A16" => Dtype::Int8.into(),
        "W8A8_SQ_PER_CHANNEL" | "INT8_SQ" => Dtype::W8a8.into(),
        other => return Err(format!("{} weights (`quant_algo`)", excerpt(other))),
    })
}

/// Weight-only integers of AWQ and GPTQ.
pub fn integers(method: &str, config: &Value) -> Result<Scheme, String> {
    let group = config["group_size"].as_f64().or_else(|| config["q_group_size"].as_f64());
    match config["bits"].as_f64().or_else(|| config["w_bit"].as_f64()) {
        Some(4.0) => Ok(int4(group)),
        Some(8.0) => Ok(Dtype::Int8.into()),
        Some(bits) => Err(format!("{bits:.0}-bit weights (`quant_method` {method})")),
        None => Err(format!("weights of unknown width (`bits` is missing, `quant_method` {method})")),
    }
}

/// Whether AutoRound stored integers and left activations in 16 bits.
pub fn is_weight_only(config: &Value) -> bool {
    let activations = config["act_bits"].as_f64().unwrap_or(16.0);
    config["data_type"].as_str().unwrap_or("int") == "int" && activations >= 16.0
}

/// AMD Quark's format of some modules.
pub fn quark(config: &Value) -> Result<Dtype, String> {
    let (weight, input) = (&config["weight"], &config["input_tensors"]["dtype"]);
    let is_same = input.is_null() || *input == weight["dtype"];
    match (weight["dtype"].as_str(), weight["qscheme"].as_str()) {
        (Some("fp8_e4m3"), Some("per_tensor" | "per_channel")) if is_same => Ok(Dtype::Fp8),
        (Some("fp4"), Some("per_group")) if is_same && weight["group_size"] == 32 => Ok(Dtype::Mxfp4),
        _ => Err(format!("Quark weights in other formats than FP8 and MXFP4 (`quant_method`; {INSTEAD})")),
    }
}

fn int4(group: Option<f64>) -> Scheme {
    let int4_group = group.filter(|group| (1.0..128.0).contains(group)).map(|group| group as u32);
    Scheme { int4_group, note: int4_group.map(|_| SMALL_GROUPS), ..Dtype::Int4.into() }
}

/// `quant_method` fp8.
pub fn fp8(config: &Value) -> Result<Scheme, String> {
    if let Some(format) = config["fmt"].as_str().filter(|format| !format.contains("e4m3")) {
        return Err(format!("FP8 weights in {} (`fmt`)", excerpt(format)));
    }
    match config["weight_block_size"].as_array() {
        None => Ok(Dtype::Fp8.into()),
        Some(sides) => block(sides),
    }
}

/// The only block size with measured kernels.
fn block(sides: &[Value]) -> Result<Scheme, String> {
    if sides.iter().map(Value::as_f64).eq([Some(128.0); 2]) {
        return Ok(Dtype::Fp8Block.into());
    }
    Err("FP8 weights scaled in blocks other than 128x128".into())
}

/// One group of compressed-tensors.
pub fn group(group: &Value) -> Result<Scheme, String> {
    let weights = json::inner(group, "weights").ok_or("weights in an unnamed format (`config_groups`)")?;
    let kind = weights["type"].as_str().unwrap_or("float");
    let size = weights["group_size"].as_f64();
    let wide = json::inner(group, "input_activations").is_none();
    match (weights["num_bits"].as_f64(), kind) {
        (Some(8.0), "float") => match (weights["strategy"].as_str(), weights["block_structure"].as_array()) {
            (Some("block"), Some(sides)) => block(sides),
            (Some("group" | "block"), _) => Err("FP8 weights scaled in groups (`strategy`)".into()),
            _ => Ok(Dtype::Fp8.into()),
        },
        (Some(4.0), "float") => match size {
            Some(16.0) => Ok(Scheme { note: wide.then_some(WEIGHT_ONLY), ..Dtype::Nvfp4.into() }),
            Some(32.0) => Ok(Dtype::Mxfp4.into()),
            _ => Err("FP4 weights scaled in groups other than 16 or 32 (`group_size`)".into()),
        },
        (Some(4.0), "int") if wide => Ok(int4(size)),
        (Some(8.0), "int") if wide => Ok(Dtype::Int8.into()),
        (Some(8.0), "int") => Ok(Dtype::W8a8.into()),
        (Some(bits), "int") => Err(format!("INT{bits:.0} weights (`num_bits`)")),
        (Some(bits), kind) => Err(format!("{bits:.0}-bit {} weights (`num_bits`)", excerpt(kind))),
        (None, _) => Err("weights of unknown width (`num_bits` is missing)".into()),
    }
}
