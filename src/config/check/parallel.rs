//! How the model is sharded over GPUs.

use crate::config::command::{DataParallel, launches};
use crate::config::model::{Attention, Ffn};
use crate::config::{Engine, Field, Gpu, Issue, MissingFigure, Model, Parallelism};
use crate::units::counted;

/// The inputs of these degrees, and of the replicas.
pub const FIELDS: [Field; 5] = [Field::Tp, Field::Pp, Field::Dp, Field::Ep, Field::Gpus];

/// Checks that heads, columns and experts divide. All degrees must be in range.
pub fn fits_model(model: &Model, parallel: Parallelism, issues: &mut Vec<Issue>) {
    let Parallelism { tp, pp, dp, ep } = parallel;
    let stage = parallel.gpus_per_stage();
    let mut refuse = |field, text: String| issues.push(Issue::error(field, text));
    if pp > model.layers() {
        refuse(
            Field::Pp,
            format!("{pp} stages, but {} has only {} layers: lower PP", model.name, model.layers()),
        );
    }
    if !model.has_experts() {
        if dp > 1 {
            let text = format!("{} has no experts to share: use replicas instead", model.name);
            refuse(Field::Dp, text);
        }
        if ep > 1 {
            refuse(Field::Ep, format!("{} has no experts to distribute: set EP to 1", model.name));
        }
    }
    if ep > stage {
        let text = format!("EP {ep} exceeds the {stage} GPUs of a stage (TP × DP): lower EP");
        refuse(Field::Ep, text);
    }
    for blocks in &model.blocks {
        for text in blocks.attention.iter().flat_map(|attention| heads(attention, tp)) {
            refuse(Field::Tp, text);
        }
        match &blocks.ffn {
            Some(Ffn::Dense(dense)) if !dense.intermediate.is_multiple_of(tp) => {
                refuse(
                    Field::Tp,
                    format!(
                        "the MLP's {0} columns are not divisible by TP {tp}: {1}",
                        dense.intermediate,
                        at_most(dense.intermediate)
                    ),
                );
            }
            Some(Ffn::Moe(moe)) if ep <= stage => {
                let (experts, shards) = (moe.experts, stage / ep);
                if !stage.is_multiple_of(ep) {
                    let text = format!(
                        "EP {ep} does not divide the {stage} GPUs of a stage (TP × DP): choose a divisor of {stage}"
                    );
                    refuse(Field::Ep, text);
                } else if !experts.is_multiple_of(ep) && ep < stage {
                    // Engines fill whole ranks with redundant copies of busy experts.
                    let text = format!(
                        "{experts} experts are not divisible by EP {ep}: set EP to {stage}, all GPUs of a stage"
                    );
                    refuse(Field::Ep, text);
                } else if ep > experts {
                    refuse(Field::Ep, format!("EP {ep} exceeds the {experts} experts: lower EP"));
                } else if !moe.intermediate.is_multiple_of(shards) {
                    let columns = moe.intermediate;
                    let text = format!(
                        "an expert's {columns} columns are not divisible by {shards} (TP × DP / EP): lower TP or raise EP"
                    );
                    refuse(Field::Tp, text);
                }
            }
            _ => {}
        }
    }
}

/// Checks that the engine can start such a layout.
pub fn fits_engine(engine: &Engine, parallel: Parallelism, issues: &mut Vec<Issue>) {
    let Parallelism { tp, dp, ep, .. } = parallel;
    let (stage, name) = (parallel.gpus_per_stage(), &engine.name);
    let Some(launch) = launches().of(&engine.id) else { return };
    if launch.data_parallel == DataParallel::IsTp && tp > 1 && dp > 1 {
        let text = format!(
            "with attention DP, each GPU of {name} is a rank of its own: set TP to 1 and DP to {stage}, or DP to 1"
        );
        issues.push(Issue::error(Field::Dp, text));
    }
    if launch.experts_over_all && ep > 1 && ep < stage {
        let text =
            format!("{name} distributes experts over all {stage} GPUs of a stage: set EP to {stage} or 1");
        issues.push(Issue::error(Field::Ep, text));
    }
}

/// The largest degree that divides so many: all are powers of two.
fn at_most(parts: u32) -> String {
    format!("set TP to at most {}", 1_u64 << parts.trailing_zeros())
}

/// Which parts of an attention do not divide over `tp` ranks.
fn heads(attention: &Attention, tp: u32) -> Vec<String> {
    let mut found = Vec::new();
    let mut divides = |what: &str, heads: u32| {
        if !heads.is_multiple_of(tp) {
            found.push(format!("{heads} {what} are not divisible by TP {tp}: {}", at_most(heads)));
        }
    };
    match attention {
        Attention::Gqa(gqa) => {
            divides("attention heads", gqa.heads);
            // KV heads are sharded, or replicated on the ranks that share one.
            if !gqa.kv_heads.is_multiple_of(tp) && !tp.is_multiple_of(gqa.kv_heads) {
                found.push(format!(
                    "{} KV heads are neither divisible by TP {tp} nor a divisor of it: {}",
                    gqa.kv_heads,
                    at_most(gqa.kv_heads)
                ));
            }
        }
        Attention::Mla(mla) => divides("attention heads", mla.heads),
        Attention::Delta(delta) => {
            divides("key heads of the delta rule", delta.key_heads);
            divides("value heads of the delta rule", delta.value_heads);
        }
        Attention::Mamba(mamba) => divides("heads of the Mamba layers", mamba.heads),
        Attention::Compressed(compressed) => {
            divides("attention heads", compressed.heads);
            divides("groups of heads (`o_groups`)", compressed.groups);
        }
    }
    found
}

/// Checks that the GPU's record has the links the layout needs: a replica may span nodes, which then communicate
/// over the network.
pub fn links(gpu: &Gpu, parallel: Parallelism, issues: &mut Vec<Issue>) {
    let Parallelism { tp, pp, dp, .. } = parallel;
    let gpus = parallel.gpus();
    let domain = gpu.link.domain;
    if gpus > 1
        && domain > 1
        && let Err(missing) = gpu.link_bandwidth()
    {
        issues.push(Issue::error(Field::Gpu, missing.to_string()));
    }
    if gpus <= domain {
        return;
    }
    let field = if tp > domain {
        Field::Tp
    } else if parallel.gpus_per_stage() > domain {
        Field::Dp
    } else {
        Field::Pp
    };
    let link = gpu.link.kind.name();
    let groups = if dp > 1 { format!(" × DP {dp}") } else { String::new() };
    let text = format!("TP {tp}{groups} × PP {pp} needs {gpus} GPUs, ");
    let text = text
        + &match domain {
            1 => format!("and each {} is a node of its own", gpu.name),
            _ => format!("but {link} connects at most {domain} {}", gpu.name),
        };
    issues.push(match gpu.network_bandwidth() {
        Err(MissingFigure { reason, .. }) => Issue::error(
            field,
            format!(
                "{text}, and no network between such nodes is known ({reason}): use at most {} per replica",
                counted(domain, "GPU")
            ),
        ),
        Ok(network) => Issue::warning(
            field,
            format!(
                "{text}: between nodes, each GPU is assumed to send at {}, its own NIC's specified rate. No \
                multi-node communication was measured.",
                network.print()
            ),
        ),
    });
}
