//! Display names of the core's enums, and of a setup.

use crate::calibration::Factors;
use crate::config::catalog::CALL_NAMES;
use crate::config::{Arch, Load, Setup, Workload};
use crate::graph::Block;
use crate::latency::{Provenance, Resource};
use crate::serving::report::{KernelLine, PassReport};
use crate::units::{count, counted, decimal, fixed, percent};

/// A time that holds the wait in the queue of an overload: its value depends on the length of the run.
pub const GROWS: &str = "grows";

/// `38 % longer`, `0.3 % shorter`.
pub fn longer(factor: f64) -> String {
    let away = 100.0 * (factor - 1.0).abs();
    format!("{}\u{a0}% {}", fixed(away, 1), if factor < 1.0 { "shorter" } else { "longer" })
}

/// What limits a pass, and what measured runs make of its time.
pub fn limits(pass: &PassReport, factors: Option<Factors>) -> String {
    /// Changes below this are within the error of the parts.
    const LEAST: f64 = 0.02;
    let factor = |factors: Factors| pass.phase.choose(factors.prefill, factors.decode);
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

/// What to show for a call of a pass: `kernels.json` has words for each.
pub fn kernel(name: &str) -> &str {
    CALL_NAMES.binary_search_by_key(&name, |(call, _)| call).map_or(name, |found| CALL_NAMES[found].1)
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
    fn what_decides_a_load_is_described() {
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
    fn a_day_is_described_by_its_rates() {
        assert_eq!(day(&["0.5", "12", "3"]), "3 rates, 0.5 to 12 requests/s");
        assert_eq!(day(&["x"]), "1 rate");
    }

    #[test]
    fn a_list_of_lengths_is_described() {
        assert_eq!(prompts(&[512, 100, 2000]), "3 prompts: 512, 100 and 2000 tokens");
        assert_eq!(prompts(&[512]), "1 prompt: 512 tokens");
        assert_eq!(prompts(&[7; 8]), "8 prompts: 7, 7, 7, 7, 7, 7, … tokens");
    }
}
