//! The weight formats of a checkpoint, from `quantization_config` or `hf_quant_config.json`.

use serde_json::{Map, Value};

use super::globs::Globs;
use super::modules::Module;
use super::schemes::{self, INSTEAD, Scheme};
use crate::config::model::{Class, Formats};
use crate::config::names::format_note;
use crate::config::{Dtype, excerpt, json};
use crate::units::Order;

/// How the linear layers are stored.
#[derive(Debug, Clone)]
pub struct Quantization {
    /// Format of the experts, and of everything not listed, unless only experts are quantised.
    experts: Dtype,
    others: Dtype,
    /// Modules with a separate format.
    own: Globs,
    /// Modules kept in 16 bits.
    kept: Globs,
    /// Modules excluded by lists were already quantised, and stay so.
    requantised: bool,
    /// The record does not list what stays in 16 bits.
    unlisted: bool,
    /// The checkpoint carries scales for an FP8 KV cache.
    pub fp8_kv: bool,
    /// INT4 weights that share a scale, if fewer than 128.
    pub int4_group: Option<u32>,
    notes: Vec<&'static str>,
}

const UNNAMED: &str = "weights in an unnamed format (`quantization_config`)";
const LISTS: [&str; 6] = [
    "modules_to_not_convert",
    "ignored_layers",
    "ignore",
    "exclude_modules",
    "exclude",
    "llm_int8_skip_modules",
];

/// Reads the record; the error is the reason for refusing the model.
///
/// `text` is the language model's part of `top`; `separate` the parsed `hf_quant_config.json`.
pub fn read(top: &Value, text: &Value, separate: Option<&Value>) -> Result<Quantization, String> {
    let inline = [top, text].into_iter().find_map(|object| {
        json::inner(object, "quantization_config").or_else(|| json::inner(object, "compression_config"))
    });
    if [top, text]
        .iter()
        .any(|object| !matches!(object["quantization_config"], Value::Null | Value::Object(_)))
    {
        return Err("a `quantization_config` that is not an object".into());
    }
    let separate = separate.map(|object| json::inner(object, "quantization").unwrap_or(object));
    let both: Vec<&Value> = inline.into_iter().chain(separate).collect();
    let mut read = Quantization {
        experts: Dtype::Bf16,
        others: Dtype::Bf16,
        own: Globs::default(),
        kept: Globs::default(),
        unlisted: !both.iter().any(|config| LISTS.iter().any(|key| config.get(*key).is_some())),
        requantised: false,
        fp8_kv: both.iter().any(|config| fp8_kv(config)),
        int4_group: None,
        notes: Vec::new(),
    };
    // GPTQModel's formats of single modules, by regular expressions.
    if both.iter().any(|config| config["dynamic"].as_object().is_some_and(|of| !of.is_empty())) {
        return Err("weights in several formats (`dynamic` of `quantization_config`)".into());
    }
    if let Some(config) = inline.or(separate) {
        read.weights(config)?;
    }
    // gpt-oss and DeepSeek-V4 give the experts' format separately.
    match text["expert_dtype"].as_str() {
        Some("fp4") => read.experts = Dtype::Mxfp4,
        None | Some("fp8") => {}
        Some(other) => return Err(format!("experts in {} (`expert_dtype`)", excerpt(other))),
    }
    for name in
        both.iter().flat_map(|config| LISTS.iter().filter_map(|key| config[*key].as_array())).flatten()
    {
        if read.requantised {
            continue;
        }
        let name = name.as_str().ok_or("excluded modules that are not names (`quantization_config`)")?;
        read.kept.add(name, Dtype::Bf16)?;
    }
    read.notes.dedup();
    Ok(read)
}

impl Quantization {
    fn weights(&mut self, config: &Value) -> Result<(), String> {
        // ModelOpt gives an algorithm, with or without a `quant_method`.
        let scheme = match (config["quant_algo"].as_str(), config["quant_method"].as_str()) {
            // Only experts were requantised; everything else keeps its published format.
            (Some("MIXED_PRECISION"), Some("fp8")) if config.get("weight_block_size").is_some() => {
                self.listed(config)?;
                self.others = schemes::fp8(config)?.dtype;
                self.requantised = true;
                return Ok(());
            }
            (Some("MIXED_PRECISION"), _) => return self.listed(config),
            (Some(name), _) => schemes::algorithm(name)?,
            (None, Some("fp8")) => schemes::fp8(config)?,
            (None, Some("fbgemm_fp8")) => Dtype::Fp8.into(),
            // Replaces only the experts' modules.
            (None, Some("mxfp4")) => {
                self.experts = Dtype::Mxfp4;
                return Ok(());
            }
            (None, Some(method @ ("awq" | "gptq"))) => schemes::integers(method, config)?,
            (None, Some(method @ "auto-round")) if schemes::is_weight_only(config) => {
                for (name, own) in config["extra_config"].as_object().into_iter().flatten() {
                    match own["bits"].as_f64() {
                        None => {}
                        Some(16.0..) => self.kept.add(name, Dtype::Bf16)?,
                        Some(_) => self.own.add(name, schemes::integers(method, own)?.dtype)?,
                    }
                }
                schemes::integers(method, config)?
            }
            (None, Some("bitsandbytes")) if config["load_in_4bit"] == true => {
                Scheme { note: format_note("bnb-4bit"), ..Dtype::Int4.into() }
            }
            (None, Some("quark")) => {
                for (name, own) in config["layer_quant_config"].as_object().into_iter().flatten() {
                    self.own.add(name, schemes::quark(own)?)?;
                }
                schemes::quark(&config["global_quant_config"])?.into()
            }
            (None, Some("compressed-tensors" | "modelopt") | None) => return self.groups(config),
            (None, Some(other)) => {
                let bits = config["bits"].as_f64().map_or_else(String::new, |bits| format!("{bits:.0}-bit "));
                return Err(format!("{bits}{} weights (`quant_method`; {INSTEAD})", excerpt(other)));
            }
        };
        if config["lm_head"] == true {
            self.own.add("lm_head", scheme.dtype)?;
        }
        // Only ModelOpt always excludes something: elsewhere no list means no exclusion.
        self.unlisted &= config["quant_algo"].as_str().is_some();
        self.all(scheme);
        Ok(())
    }

    fn all(&mut self, scheme: Scheme) {
        (self.experts, self.others) = (scheme.dtype, scheme.dtype);
        self.remark(&scheme);
    }

    fn remark(&mut self, scheme: &Scheme) {
        self.int4_group = self.int4_group.or(scheme.int4_group);
        self.notes.extend(scheme.note);
    }

    /// ModelOpt's per-module formats; everything else stays in 16 bits.
    fn listed(&mut self, config: &Value) -> Result<(), String> {
        let layers = json::inner(config, "quantized_layers");
        let layers =
            layers.ok_or("weights in several formats (`quant_algo` MIXED_PRECISION without a list)")?;
        for (name, layer) in layers.as_object().into_iter().flatten() {
            let scheme = schemes::algorithm(layer["quant_algo"].as_str().ok_or(UNNAMED)?)?;
            self.own.add(name, scheme.dtype)?;
            self.remark(&scheme);
        }
        self.unlisted = false;
        self.notes.order_by(|one, other| one.cmp(other));
        Ok(())
    }

    /// compressed-tensors: a scheme and the modules it applies to, `Linear` for all.
    fn groups(&mut self, config: &Value) -> Result<(), String> {
        let groups = json::inner(config, "config_groups").ok_or(UNNAMED)?;
        self.unlisted = false;
        let mut general: Option<Dtype> = None;
        let mut any = false;
        for group in groups.as_object().into_iter().flat_map(Map::values) {
            let scheme = schemes::group(group)?;
            any = true;
            let targets = group["targets"].as_array().into_iter().flatten();
            let named: Vec<&str> = targets.filter_map(Value::as_str).collect();
            if named.is_empty() || named.contains(&"Linear") {
                if general.is_some_and(|other| other != scheme.dtype) {
                    return Err("weights in several formats (`config_groups`)".into());
                }
                general = Some(scheme.dtype);
                self.all(scheme);
            } else {
                named.iter().try_for_each(|name| self.own.add(name, scheme.dtype))?;
                self.remark(&scheme);
            }
        }
        if any { Ok(()) } else { Err(UNNAMED.into()) }
    }

    fn of(&self, module: &Module) -> Dtype {
        let general = if module.class == Class::Experts { self.experts } else { self.others };
        match self.kept.find(&module.name) {
            Some(kept) => kept,
            None => self.own.find(&module.name).unwrap_or(general),
        }
    }

    /// The formats by class, the one the checkpoint is named by, and notes on rounding: a class gets the format of
    /// most of its linear layers, the wider one on a tie.
    pub fn formats(&self, modules: &[Module]) -> (Formats, Vec<String>) {
        let mut notes: Vec<String> = self.notes.iter().map(|note| (*note).to_owned()).collect();
        let experts = modules.iter().any(|module| module.class == Class::Experts);
        if self.unlisted && self.experts != Dtype::Bf16 {
            let formats = Formats::usual(self.experts, experts);
            if formats != Formats::uniform(self.experts) {
                notes.push("The checkpoint does not say which layers it keeps in 16 bits; attention and shared experts are assumed to be.".into());
            }
            return (formats, notes);
        }
        let mut of_class = |(class, what): (Class, &str)| {
            let formats = modules.iter().filter(|module| module.class == class).map(|module| self.of(module));
            let (chosen, others, all) = most(formats)?;
            if others > 0 {
                let id = chosen.id();
                notes.push(format!(
                    "{others} of {all} linear layers of {what} use other formats and are counted as {id}."
                ));
            }
            Some(chosen)
        };
        let classes = [
            (Class::Attention, "attention"),
            (Class::Mlp, "MLPs"),
            (Class::Shared, "shared experts"),
            (Class::Experts, "experts"),
        ];
        let [attention, mlp, shared, routed] = classes.map(&mut of_class);
        let quantised = [mlp, attention].into_iter().flatten().find(|dtype| *dtype != Dtype::Bf16);
        let weights = routed.or(quantised).unwrap_or(Dtype::Bf16);
        let usual = Formats::usual(weights, experts);
        if self.own.names("lm_head") {
            notes.push("The checkpoint quantises the output head, which is counted in 16 bits.".into());
        }
        let formats = Formats {
            weights,
            attention: attention.unwrap_or(usual.attention),
            mlp: mlp.unwrap_or(usual.mlp),
            shared: shared.unwrap_or(usual.shared),
        };
        (formats, notes)
    }
}

/// The most frequent format, the number in other formats, and the total.
fn most(formats: impl Iterator<Item = Dtype>) -> Option<(Dtype, usize, usize)> {
    let mut counts: Vec<(Dtype, usize)> = Vec::new();
    for format in formats {
        match counts.iter_mut().find(|(dtype, _)| *dtype == format) {
            Some((_, count)) => *count += 1,
            None => counts.push((format, 1)),
        }
    }
    let all = counts.iter().map(|(_, count)| count).sum();
    let order =
        |a: &&(Dtype, usize), b: &&(Dtype, usize)| a.1.cmp(&b.1).then(a.0.bytes().total_cmp(&b.0.bytes()));
    let (dtype, count) = counts.iter().max_by(order)?;
    Some((*dtype, all - count, all))
}

fn fp8_kv(config: &Value) -> bool {
    // Quark's scales belong to the projections that write the cache.
    let group = config["export"]["kv_cache_group"].as_array();
    config["kv_cache_quant_algo"] == "FP8"
        || config["kv_cache_scheme"] == "FP8"
        || config["kv_cache_scheme"]["num_bits"] == 8
        || group.is_some_and(|group| !group.is_empty())
}
