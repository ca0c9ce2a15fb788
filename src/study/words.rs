//! Display names of the core's enums, and of a setup.

use crate::calibration::Factors;
use crate::config::{Arch, Load, Setup, Workload};
use crate::graph::{Block, Phase};
use crate::latency::{Provenance, Resource};
use crate::serving::report::{KernelLine, PassReport};
use crate::units::{count, counted, decimal, fixed, percent};

/// `38 % longer`, `0.3 % shorter`.
pub fn longer(factor: f64) -> String {
    let away = 100.0 * (factor - 1.0).abs();
    format!("{}\u{a0}% {}", fixed(away, 1), if factor < 1.0 { "shorter" } else { "longer" })
}

/// What limits a pass, and what measured runs make of its time.
pub fn limits(pass: &PassReport, factors: Option<Factors>) -> String {
    /// Changes below this are within the error of the parts.
    const LEAST: f64 = 0.02;
    let factor = |factors: Factors| match pass.phase {
        Phase::Prefill => factors.prefill,
        Phase::Decode => factors.decode,
    };
    match factors.map(factor).filter(|factor| (factor - 1.0).abs() >= LEAST) {
        Some(factor) => {
            let (than, time) = (longer(factor), (pass.time * factor).print());
            format!("{} Calibration on measured runs makes this step {than}: {time}.", pass.sentence)
        }
        None => pass.sentence.clone(),
    }
}

/// A short title of the configuration.
pub fn title(setup: &Setup) -> String {
    let mut on = format!("{} × {}", setup.own_gpus(), setup.gpu.name);
    if let Some(pool) = &setup.prefill {
        on = format!("{} × {} for prefill and {on} for decode", pool.setup.gpus(), pool.setup.gpu.name);
    }
    format!("{} on {on} with {}", setup.model.name, setup.engine.name)
}

/// What is asked of a system: `1024 tokens in, 512 out, 16 clients`; lengths that differ by their means; and what
/// else decides the numbers.
pub fn demand(workload: &Workload) -> String {
    let spread = match (&workload.shape, workload.spread, workload.log_spread) {
        _ if !workload.histogram.is_empty() => "lengths of a histogram".into(),
        (Some(shape), ..) => format!("lengths as in {}", shape.id()),
        (_, spread, _) if spread > 0.0 => format!("lengths ± {}", percent(spread)),
        (_, _, [0.0, 0.0]) => String::new(),
        _ => "log-normal lengths".into(),
    };
    let drafts = workload.drafts;
    let of_sessions = workload.load.is_sessions();
    let burstiness = workload.burstiness;
    let parts = [
        lengths(workload),
        spread,
        load(workload.load),
        if burstiness == 1.0 { String::new() } else { format!("burstiness {}", decimal(burstiness)) },
        workload
            .max_in_flight
            .map_or_else(String::new, |most| format!("at most {} at once", count(most.into()))),
        if of_sessions { counted(f64::from(workload.turns.count), "turn") } else { String::new() },
        match workload.cached_share {
            0.0 => String::new(),
            share => format!("{} of each prompt cached", percent(share)),
        },
        match drafts.drafted {
            0 => String::new(),
            drafted => format!("{drafted} drafted, {} accepted", decimal(drafts.accepted)),
        },
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// `1024 tokens in, 512 out`.
pub fn lengths(workload: &Workload) -> String {
    let prompt = workload.mean_prompt().map_or("no tokens".into(), |mean| counted(mean, "token"));
    format!("{prompt} in, {} out", count(workload.mean_output().into()))
}

pub fn load(load: Load) -> String {
    let amount = count(load.amount());
    let many = |one: &str| counted(load.amount(), one);
    match load {
        Load::Concurrency(_) => many("client"),
        Load::Rate(_) => many("request") + "/s",
        Load::ConstantRate(_) => many("request") + "/s, equal gaps",
        Load::Burst(_) => format!("burst of {amount}"),
        Load::Offline(_) => format!("queue of {amount}"),
        Load::Batch(_) => format!("batch of {amount}"),
        Load::Sessions(_) => format!("{} at once", many("session")),
        Load::SessionRate(_) => many("session") + "/s",
    }
}

/// `24 rates, 0.5 to 12 requests/s`: the rates of a day.
pub fn day(hours: &[&str]) -> String {
    let rates: Vec<f64> = hours.iter().filter_map(|hour| hour.parse().ok()).collect();
    let [least, most] = [rates.iter().copied().reduce(f64::min), rates.iter().copied().reduce(f64::max)];
    let range =
        least.zip(most).map(|(least, most)| format!(", {} to {} requests/s", decimal(least), decimal(most)));
    format!("{}{}", counted(hours.len() as f64, "rate"), range.unwrap_or_default())
}

/// `1, 2 and 4`.
pub fn list(all: &[String]) -> String {
    match all.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => all.concat(),
    }
}

/// `3 prompts: 512, 100 and 2000 tokens`; with many prompts only the first ones.
pub fn prompts(lengths: &[u32]) -> String {
    const SHOWN: usize = 6;
    let shown: Vec<String> = lengths.iter().take(SHOWN).map(|length| count(f64::from(*length))).collect();
    let list = if lengths.len() > SHOWN { format!("{}, …", shown.join(", ")) } else { list(&shown) };
    format!("{}: {list} tokens", counted(lengths.len() as f64, "prompt"))
}

pub fn arch(arch: Arch) -> &'static str {
    match arch {
        Arch::Volta => "Volta",
        Arch::Turing => "Turing",
        Arch::Ampere => "Ampere",
        Arch::Ada => "Ada",
        Arch::Hopper => "Hopper",
        Arch::Blackwell => "Blackwell",
        Arch::BlackwellRtx => "Blackwell RTX",
        Arch::Cdna3 => "CDNA 3",
        Arch::Cdna4 => "CDNA 4",
        Arch::Xe2 => "Xe2",
    }
}

pub fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Prefill => "Prefill",
        Phase::Decode => "Decode",
    }
}

pub fn block(block: Block) -> &'static str {
    match block {
        Block::Embedding => "Embedding",
        Block::Attention => "Attention",
        Block::Recurrence => "Recurrence",
        Block::Mlp => "MLP",
        Block::Experts => "Experts",
        Block::Head => "Head",
        Block::Drafting => "Drafting",
        Block::Communication => "Links",
        Block::Encoder => "Image encoder",
    }
}

/// A kernel's display name, or else its id without underscores.
pub fn kernel(name: &str) -> String {
    let words = match name {
        "input_norm" => "First norm",
        "post_norm" => "Norm before MLP or experts",
        "attention_output_norm" => "Norm of attention's output",
        "mlp_output_norm" => "Norm of the MLP's output",
        "mlp_branch_norm" => "Norm of the dense branch",
        "experts_input_norm" => "Norm before experts",
        "experts_branch_norm" => "Norm of the experts' branch",
        "qkv_proj" => "Q, K and V projection",
        "qk_norm" => "Norm of Q and K",
        "rope" => "Rotary embedding",
        "attention_prefill" | "attention_decode" => "Attention",
        "output_gate" => "Gate on the output",
        "o_proj" | "out_proj" => "Output projection",
        "qkv_a_proj" => "Down-projection of Q and KV",
        "q_a_norm" => "Norm of latent Q",
        "q_b_proj" => "Up-projection of Q",
        "q_proj" => "Q projection",
        "kv_a_proj" => "Down-projection of KV",
        "kv_b_proj" => "Up-projection of KV",
        "kv_a_norm" => "Norm of latent KV",
        "q_absorb" | "q_absorb_prefill" => "Absorption into Q",
        "v_absorb" | "v_absorb_prefill" => "Expansion of V",
        "mla_prefill" | "mla_decode" => "Latent attention",
        "latent_block_prefill" | "latent_block_decode" => "Latent attention block",
        "sparse_block_prefill" | "sparse_block_decode" => "Sparse attention block",
        "index_scores_prefill" | "index_scores_decode" => "Scores of the indexer",
        "in_proj" | "in_proj_qkvz" | "in_proj_qkv" => "Input projection",
        "in_proj_ba" | "in_proj_b" | "in_proj_a" => "Projection of gates",
        "in_proj_z" => "Projection of the output gate",
        "copy_q" | "copy_k" | "copy_v" => "Copy for the delta rule",
        "causal_conv1d_prefill" | "causal_conv1d_decode" => "Causal convolution",
        "delta_rule_prefill" | "delta_rule_decode" => "Gated delta rule",
        "ssm_scan_prefill" | "ssm_scan_decode" => "State-space scan",
        "gated_norm" => "Gated norm",
        "gate_up_proj" => "Gate and up projection",
        "up_proj" => "Up projection",
        "silu_and_mul" | "activation" => "Activation",
        "down_proj" => "Down projection",
        "shared_gate_up_proj" => "Shared expert: gate and up",
        "shared_up_proj" => "Shared expert: up",
        "shared_silu_and_mul" | "shared_activation" => "Shared expert: activation",
        "shared_down_proj" => "Shared expert: down",
        "shared_weight" | "shared_weighting" => "Shared expert: weight",
        "experts_add" => "Sum of the experts",
        "router" => "Router",
        "topk" => "Top-k routing",
        "fused_moe" => "Routed experts",
        "latent_in_proj" => "Projection to the experts' width",
        "latent_out_proj" => "Projection from the experts' width",
        "dispatch" => "Dispatch to experts",
        "combine" => "Combine from experts",
        "all_reduce" | "qk_norm_all_reduce" => "All-reduce",
        "all_gather" => "All-gather",
        "embedding" => "Token embedding",
        "final_norm" => "Last norm",
        "lm_head" => "LM head",
        "sampling" => "Sampling",
        "q_norm" => "Norm of Q",
        "kv_norm" => "Norm of KV",
        "output_rope" => "Inverse rotary embedding of the output",
        "o_a_proj" => "Down-projection of the output",
        "o_b_proj" => "Up-projection of the output",
        "compressor_proj" => "Projection to the compressor",
        "compress" => "Compression of KV",
        "index_q_proj" => "Q projection of the indexer",
        "index_weights_proj" => "Projection of the indexer's weights",
        "index_rope" => "Rotary embedding of the indexer",
        "index_compressor_proj" => "Projection to the indexer's compressor",
        "index_compress" => "Compression of the indexer's keys",
        "gates_a_proj" => "Down-projection of gates and decay",
        "gate_b_proj" => "Up-projection of the gate",
        "decay_b_proj" => "Up-projection of the decay",
        "x_proj" => "Projection of the scan's parameters",
        "select_norm" => "Norm of the scan's parameters",
        "dt_proj" => "Projection of the step size",
        "mhc_weights" => "Weights of the residual streams",
        "mhc_pre" | "mhc_mlp_pre" => "Residual streams joined",
        "mhc_post" | "mhc_mlp_post" => "Residual streams updated",
        _ => return name.replace('_', " "),
    };
    words.into()
}

pub fn resource(resource: Resource) -> &'static str {
    match resource {
        Resource::Compute => "Compute",
        Resource::Memory => "Memory",
        Resource::Network => "Links",
        Resource::Launch => "Launch",
    }
}

/// A resource's colour class in the page's styles.
pub fn colour(resource: Resource) -> &'static str {
    match resource {
        Resource::Compute => "resource-compute",
        Resource::Memory => "resource-memory",
        Resource::Network => "resource-links",
        Resource::Launch => "resource-host",
    }
}

/// What limits a kernel.
pub fn bound(kernel: &KernelLine) -> &'static str {
    if kernel.in_l2 { "L2" } else { resource(kernel.limit) }
}

pub fn provenance(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Learned => "Learned",
        Provenance::Extrapolated => "Extrapolated",
        Provenance::Measured => "Measured",
        Provenance::Fixed => "Fixed share",
        Provenance::Overlapped => "Overlapped",
        Provenance::Roofline => "Ideal",
    }
}

/// A provenance explained, for a tooltip.
pub fn provenance_help(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Learned => "Learned efficiency, on a GPU whose measurements trained the model",
        Provenance::Extrapolated => "Learned efficiency, on a GPU or at a size the model was not trained on",
        Provenance::Measured => "Interpolated between measured points",
        Provenance::Fixed => "Counted work over fixed shares of the peaks, and a launch floor",
        Provenance::Overlapped => "Overlaps with a longer kernel: only the time it adds is counted",
        Provenance::Roofline => "The ideal: no kernel is faster than this",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_read_as_longer_or_shorter() {
        assert_eq!([1.381, 0.997].map(longer), ["38.1\u{a0}% longer", "0.3\u{a0}% shorter"]);
    }

    #[test]
    fn one_token_is_one() {
        let one = Workload { isl: crate::config::Lengths::Fixed(1), osl: 1, ..Workload::default() };
        assert_eq!(lengths(&one), "1 token in, 1 out");
    }

    #[test]
    fn what_decides_a_load_is_told() {
        let fixed = Workload { load: Load::Burst(500), ..Workload::default() };
        assert_eq!(demand(&fixed), "1024 tokens in, 512 out, burst of 500");
        let capped = Workload {
            max_in_flight: Some(4),
            shape: Some(crate::config::Shape::Sharegpt),
            cached_share: 0.5,
            ..fixed
        };
        assert_eq!(
            demand(&capped),
            format!(
                "1024 tokens in, 512 out, lengths as in sharegpt, burst of 500, at most 4 at once, {} of each prompt cached",
                percent(0.5)
            )
        );
    }

    #[test]
    fn a_day_is_told_by_its_rates() {
        assert_eq!(day(&["0.5", "12", "3"]), "3 rates, 0.5 to 12 requests/s");
        assert_eq!(day(&["x"]), "1 rate");
    }

    #[test]
    fn a_list_of_lengths_is_told() {
        assert_eq!(prompts(&[512, 100, 2000]), "3 prompts: 512, 100 and 2000 tokens");
        assert_eq!(prompts(&[512]), "1 prompt: 512 tokens");
        assert_eq!(prompts(&[7; 8]), "8 prompts: 7, 7, 7, 7, 7, 7, … tokens");
    }
}
