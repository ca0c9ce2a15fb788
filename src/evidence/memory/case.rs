//! A logged start predicted.

use super::{ComparedStart, Sizes, StartCase, version::version};
use crate::config::catalog::Catalog;
use crate::config::model::Attention;
use crate::config::names::Resolved;
use crate::config::{
    Dtype, Engine, Figure, Gpu, Lengths, Load, Model, Parallelism, Scenario, Setup, Usage, Workload, check,
};
use crate::evidence::cases;
use crate::serving::memory_of;
use crate::units::{Bytes, GIB};

/// GPUs as logs name them, the record that stands for each, and its memory in GiB where that differs: of another
/// size, or not in the catalog.
const GPUS: [(&str, &str, Option<f64>); 7] = [
    ("h100-unknown", "h100-sxm", None),
    ("a100-unknown-80gb", "a100-sxm-80gb", None),
    ("h20-96gb", "h20", None),
    ("rtx-pro-6000", "rtx-pro-6000-server", None),
    ("gh200-96gb", "gh200", None),
    ("gb10", "rtx-pro-6000-server", Some(121.69)),
    ("rtx-a4000", "rtx-a6000", Some(15.74)),
];

/// How far the sum of the logged parts may differ from the share of memory that they should fill.
const TOLERATED_SHARE: f64 = 0.01;

/// The start predicted with the defaults of its engine's version.
pub fn compare(case: &StartCase, catalog: &Catalog) -> Result<ComparedStart, String> {
    let mut assumed = Vec::new();
    let model = resolved(&case.model, &mut assumed)?;
    let gpu = gpu(catalog, &case.gpu, &mut assumed)?;
    let engine = engine(catalog, case, &mut assumed)?;
    let weights = weights(case, model, &mut assumed)?;
    let formats = engine.formats_of(model, weights, gpu.arch);
    let kv = case.kv_dtype.as_deref().map_or(Ok(Dtype::Bf16), format)?;
    let (token_budget, max_seqs) = engine.scheduler.limits_on(&gpu, Usage::plain(case.dp));
    let limit = |given: Option<u32>, default: Option<f64>| given.or(default.map(|limit| limit as u32));
    let unlimited = || format!("{} has no default limits", engine.name);
    let token_budget = limit(case.max_num_batched_tokens, token_budget.0).ok_or_else(unlimited)?;
    let max_seqs = limit(case.max_num_seqs, max_seqs.0).ok_or_else(unlimited)?;
    let parallel = Parallelism { tp: case.tp, pp: case.pp, dp: case.dp, ep: 1 };
    let graph = engine.scheduler.decode_graph(&gpu, parallel, max_seqs).unwrap_or(u32::MAX);
    let (tokens, usage) = (f64::from(token_budget), Usage::plain(case.dp));
    let default = engine.scheduler.share_on(&gpu, (parallel, usage), tokens, Some(graph));
    let (memory_share, contradiction) = share(case, (&engine, &default), &gpu, &mut assumed)?;
    let longest = case.max_model_len.unwrap_or(model.max_context).max(2);
    let (plain, issues) = check(&Scenario::default(), catalog);
    let bare = plain.ok_or_else(|| cases::texts(&issues))?.without_requests();
    let setup = Setup {
        model: model.clone(),
        parallel,
        weights,
        formats,
        kv,
        workload: Workload { isl: Lengths::Fixed(longest - 1), load: Load::Concurrency(1), ..bare.workload },
        token_budget,
        max_seqs,
        memory_share,
        largest_graph: if case.enforce_eager { 0 } else { graph },
        gpu,
        engine,
        ..bare
    };
    let memory = memory_of(&setup).map_err(|issues| cases::texts(&issues))?;
    // If the requested length is unknown, room for one token is enough.
    let sequence = f64::from(case.max_model_len.unwrap_or(1));
    let room = memory.kv_room - memory.missing;
    let needed = memory.kv_per_token * sequence;
    let gib = |bytes: Bytes| Some(bytes.0 / GIB);
    let predicted = Sizes {
        weights_gib: gib(memory.weights),
        activation_gib: gib(memory.activations),
        reserve_gib: gib(memory.reserve),
        available_kv_gib: gib(room),
        kv_tokens: Some(memory.kv_tokens),
        starts: room.0 > 0.0 && room >= needed,
    };
    // SGLang logs the memory of states and of tokens separately, and divides the room by its own ratio.
    let has_two_pools = setup.engine.id == "sglang" && model.attentions().any(Attention::recurs);
    if has_two_pools {
        assumed.push("its room for tokens is not compared: states have a pool of their own".into());
    }
    let logged = Sizes {
        available_kv_gib: case.logged.available_kv_gib.filter(|_| !has_two_pools),
        kv_tokens: case.logged.kv_tokens.filter(|_| !has_two_pools),
        starts: !case.failed_start,
        ..case.logged
    };
    Ok(ComparedStart {
        id: case.id.clone(),
        engine: case.engine.clone(),
        model: model.name.clone(),
        gpu: case.gpu.clone(),
        assumed,
        contradiction,
        hybrid_kv: case.hybrid_kv,
        near_edge: (room - needed).0.abs() < memory.margin.0,
        predicted,
        logged,
    })
}

/// The format of the weights. If the log names a wider format than a published checkpoint has, the checkpoint's own.
fn weights(case: &StartCase, model: &Model, assumed: &mut Vec<String>) -> Result<Dtype, String> {
    let named = format(&case.weights)?;
    if case.model != model.name || model.weights.bytes() >= named.bytes() {
        return Ok(named);
    }
    assumed.push(format!(
        "weights in {}, as published, though {} is named",
        model.weights.id(),
        case.weights
    ));
    Ok(model.weights)
}

/// The engine at the version of the log.
fn engine(catalog: &Catalog, case: &StartCase, assumed: &mut Vec<String>) -> Result<Engine, String> {
    let engine = catalog.engine_named(&case.engine).ok_or_else(|| format!("no engine {}", case.engine))?;
    let Some((version, how)) = version(case) else {
        assumed.push(format!("version {}: none is named", engine.version));
        return Ok(engine.clone());
    };
    assumed.extend(how);
    Ok(Engine { version, ..engine.clone() })
}

/// The memory share that the run used, and why the logged parts cannot all be true, if they cannot. If a log gives
/// every part, their sum determines the share.
fn share(
    case: &StartCase,
    (engine, default): (&Engine, &Figure),
    gpu: &Gpu,
    assumed: &mut Vec<String>,
) -> Result<(f64, Option<String>), String> {
    let total = gpu.memory()?.0 / GIB;
    let Some(given) = case.memory_share else {
        let of_version = engine.budget().and_then(|budget| budget.memory_share.as_ref());
        let default = of_version.unwrap_or(default).0;
        let default = default.ok_or_else(|| format!("{} has no default share", engine.name))?;
        assumed.push(format!("share {default}: the default of version {}", engine.version));
        return Ok((default, None));
    };
    if engine.id != "vllm" {
        return Ok((given, None));
    }
    let Sizes { weights_gib, available_kv_gib, activation_gib, reserve_gib, .. } = case.logged;
    let parts = [weights_gib, available_kv_gib, activation_gib, reserve_gib];
    let filled = parts.iter().flatten().sum::<f64>() / total;
    let whole = parts.iter().all(Option::is_some);
    if whole && (filled - given).abs() > TOLERATED_SHARE {
        assumed.push(format!("share {filled:.2}: what the logged parts fill, though {given} is named"));
        return Ok((filled, None));
    }
    let over = filled > given + TOLERATED_SHARE;
    let text = || format!("the logged parts fill {filled:.2} of the memory, more than the share of {given}");
    Ok((given, over.then(text)))
}

fn gpu(catalog: &Catalog, named: &str, assumed: &mut Vec<String>) -> Result<Gpu, String> {
    let alias = GPUS.iter().find(|(name, ..)| *name == named);
    let id = alias.map_or(named, |(_, id, _)| id);
    let mut gpu = catalog.gpu(id).cloned().ok_or_else(|| format!("no GPU {named}"))?;
    if let Some((_, _, gib)) = alias {
        assumed.push(format!("{} stands for {named}", gpu.name));
        if let Some(gib) = gib {
            gpu.memory_bytes.0 = Some(gib * GIB);
        }
    }
    Ok(gpu)
}

/// The model whose architecture a checkpoint has, by its name.
fn resolved(named: &str, assumed: &mut Vec<String>) -> Result<&'static Model, String> {
    let Resolved { model, issues, .. } = cases::model(named)?;
    if !issues.is_empty() {
        assumed.push(format!("{} stands for {named}", model.name));
    }
    Ok(model)
}

/// A format by the name that logs give it.
fn format(named: &str) -> Result<Dtype, String> {
    match named {
        "fp16" => Ok(Dtype::Bf16),
        "fp8_e5m2" | "fp8_e4m3" => Ok(Dtype::Fp8),
        "int8_wo" => Ok(Dtype::Int8),
        named if named.starts_with("int4") => Ok(Dtype::Int4),
        named => cases::dtype(named),
    }
}
