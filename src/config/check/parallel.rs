//! How the model is cut over GPUs.

use super::range::{PP, REPLICAS, Range, TP};
use crate::config::model::{Attention, Ffn};
use crate::config::{Field, Gpu, Issue, LinkKind, Model};

pub fn ranges(tp: u32, pp: u32, replicas: u32, issues: &mut Vec<Issue>) {
    let checks: [(Range, u32); 3] = [(TP, tp), (PP, pp), (REPLICAS, replicas)];
    issues.extend(checks.into_iter().filter_map(|(range, value)| range.check(f64::from(value))));
    if (TP.min..=TP.max).contains(&f64::from(tp)) && !tp.is_power_of_two() {
        let text = format!("tensor parallelism is {tp}: a power of two is right (1, 2, 4, 8 ...)");
        issues.push(Issue::error(Field::Tp, text).with_given(tp.to_string()));
    }
}

/// Whether heads and MLP columns divide. Called with `tp` and `pp` in range.
pub fn fits_model(model: &Model, tp: u32, pp: u32, issues: &mut Vec<Issue>) {
    let mut refuse = |field, text: String| issues.push(Issue::error(field, text));
    if pp > model.layers() {
        refuse(Field::Pp, format!("{pp} stages, but {} has {} layers", model.name, model.layers()));
    }
    for blocks in &model.blocks {
        let Attention::Gqa(gqa) = &blocks.attention;
        let Ffn::Dense(dense) = &blocks.ffn;
        if !gqa.heads.is_multiple_of(tp) {
            refuse(Field::Tp, format!("{} attention heads do not divide by {tp}", gqa.heads));
        }
        // KV heads are cut, or each is copied to the ranks that share it.
        if !gqa.kv_heads.is_multiple_of(tp) && !tp.is_multiple_of(gqa.kv_heads) {
            refuse(Field::Tp, format!("{} KV heads neither divide by {tp} nor divide it", gqa.kv_heads));
        }
        if !dense.intermediate.is_multiple_of(tp) {
            refuse(Field::Tp, format!("the MLP's {} columns do not divide by {tp}", dense.intermediate));
        }
    }
}

/// One replica has to lie inside one fast-link domain: traffic between machines is not modelled.
pub fn fits_machine(gpu: &Gpu, tp: u32, pp: u32, issues: &mut Vec<Issue>) {
    let gpus = u64::from(tp) * u64::from(pp);
    if gpus > u64::from(gpu.link.domain) {
        let link = match gpu.link.kind {
            LinkKind::Nvlink => "NVLink",
            LinkKind::Pcie => "PCIe",
        };
        let text = format!(
            "{tp} x {pp} is {gpus} GPUs, but {link} joins at most {} of {}: traffic between machines is not \
             covered by this release",
            gpu.link.domain, gpu.name
        );
        issues.push(Issue::error(if tp > gpu.link.domain { Field::Tp } else { Field::Pp }, text));
    }
    if gpus > 1
        && let Err(missing) = gpu.link_bandwidth()
    {
        issues.push(Issue::error(Field::Gpu, missing.to_string()));
    }
}
