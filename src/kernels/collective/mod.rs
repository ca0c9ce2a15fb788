//! Times of collectives.
//!
//! Measured curves are used first, interpolated log-log. An engine's all-reduce curve follows what the engine
//! launches: its own kernel up to that kernel's size limit, NCCL beyond. If a GPU with NVLink has only NCCL
//! measurements, the engine is assumed to use the faster of NCCL and its own kernel, timed by the constants. GPUs
//! without measurements use the constants:
//!
//! `t = latency + wire bytes / (share * link bandwidth)`
//!
//! If the library has separate constants for large messages, the faster of both is used.
//!
//! For groups across nodes see [`between`].

mod between;
#[cfg(feature = "tools")]
pub mod measured;

use crate::config::catalog::{CollectiveCatalog, Curve, Generic, collectives};
use crate::config::{Gpu, LinkKind, MissingFigure};
use crate::kernels::{Count, Kernel};
use crate::units::{Bytes, Seconds};

/// Data exchanged between GPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Collective {
    /// Sum of `bytes` on each of `ranks` GPUs, with the result on all.
    AllReduce { ranks: u32, bytes: Bytes },
    /// `bytes` in total, gathered from `ranks` GPUs onto each.
    AllGather { ranks: u32, bytes: Bytes },
    /// Sum of `bytes` on each of `ranks` GPUs, with an equal part of the result on each.
    ReduceScatter { ranks: u32, bytes: Bytes },
    /// `bytes` on each of `ranks` GPUs, an equal part for each other one.
    AllToAll { ranks: u32, bytes: Bytes },
    /// `bytes` from one pipeline stage to the next; `across` if on another node.
    SendRecv { bytes: Bytes, across: bool },
}

impl Kernel for Collective {
    fn count(&self, _: &Gpu) -> Result<Count, MissingFigure> {
        Ok(Count::default())
    }

    fn shape(&self) -> String {
        match self {
            Self::AllReduce { ranks, bytes }
            | Self::AllGather { ranks, bytes }
            | Self::ReduceScatter { ranks, bytes }
            | Self::AllToAll { ranks, bytes } => format!("{} over {ranks} GPUs", bytes.print()),
            Self::SendRecv { bytes, .. } => bytes.print().to_string(),
        }
    }
}

/// The tables' name for NVIDIA's library, which engines call if they have no kernel of their own.
pub const NCCL: &str = "nccl";

/// Rank counts that were measured.
const MEASURED_RANKS: [u32; 3] = [2, 4, 8];

/// The time of a collective, and whether it was measured on this GPU at this size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollectiveTime {
    pub seconds: Seconds,
    /// Interpolated between measurements on this GPU; otherwise extrapolated or from constants.
    pub measured: bool,
}

/// Catalog name, ranks, and size of the whole tensor.
fn parts(collective: &Collective) -> (&'static str, u32, Bytes) {
    match *collective {
        Collective::AllReduce { ranks, bytes } => ("all_reduce", ranks, bytes),
        // Both move the same parts; reduce-scatter was measured within 4 to 6 % of all-gather.
        Collective::AllGather { ranks, bytes } | Collective::ReduceScatter { ranks, bytes } => {
            ("all_gather", ranks, bytes)
        }
        Collective::AllToAll { ranks, bytes } => ("alltoall", ranks, bytes),
        Collective::SendRecv { bytes, .. } => ("send_recv", 2, bytes),
    }
}

/// Bytes each GPU must send within a node.
pub fn wire_bytes(collective: &Collective) -> Bytes {
    match *collective {
        Collective::AllReduce { ranks, bytes } => bytes * (2.0 * others(ranks)),
        Collective::AllGather { ranks, bytes }
        | Collective::ReduceScatter { ranks, bytes }
        | Collective::AllToAll { ranks, bytes } => bytes * others(ranks),
        Collective::SendRecv { bytes, .. } => bytes,
    }
}

/// `(n - 1) / n`.
fn others(ranks: u32) -> f64 {
    1.0 - 1.0 / f64::from(ranks.max(1))
}

/// Lower bound from the links.
pub fn least(collective: &Collective, gpu: &Gpu) -> Result<Seconds, MissingFigure> {
    match between::of(collective, gpu) {
        Some(group) => group.least(gpu),
        None => Ok(wire_bytes(collective) / gpu.link_among(parts(collective).1)?),
    }
}

/// Times `collective` with `engine`'s kernels, or the library's if the group spans nodes, where engines have no
/// kernels.
pub fn time(collective: &Collective, gpu: &Gpu, engine: &str) -> Result<CollectiveTime, MissingFigure> {
    let (name, ranks, bytes) = parts(collective);
    if ranks < 2 {
        return Ok(CollectiveTime { seconds: Seconds::ZERO, measured: true });
    }
    if let Some(group) = between::of(collective, gpu) {
        return group.time(gpu);
    }
    let known = collectives();
    // Without a link of its own, the GPU it was edited from has no curves either.
    let faster =
        gpu.measured().link_bandwidth().map_or(Ok(1.0), |was| gpu.link_bandwidth().map(|now| now / was))?;
    let read = |curve: Curve<'_>| over_links(read(curve, bytes), curve, faster);
    if let Some(own) = known.curve(&gpu.id, name, ranks, engine) {
        return Ok(read(own));
    }
    let nccl = known.curve(&gpu.id, name, ranks, NCCL).map(read);
    let own_kernel = name == "all_reduce" && gpu.link.kind == LinkKind::Nvlink && engine != NCCL;
    match nccl {
        Some(measured) if !own_kernel => Ok(measured),
        Some(measured) => {
            let modelled = modelled(collective, gpu, known)?;
            Ok(if modelled.seconds < measured.seconds { modelled } else { measured })
        }
        None => modelled(collective, gpu, known),
    }
}

/// A collective's time over links `faster` times as fast: the smallest message's time is latency, the rest bandwidth.
fn over_links(time: CollectiveTime, curve: Curve<'_>, faster: f64) -> CollectiveTime {
    let latency = Seconds::from_micros(curve.micros[0]);
    let seconds = if faster == 1.0 { time.seconds } else { latency + (time.seconds - latency) / faster };
    CollectiveTime { seconds, ..time }
}

/// Log-log interpolation; constant below the first point, and at the last point's bandwidth beyond it.
fn read(curve: Curve<'_>, bytes: Bytes) -> CollectiveTime {
    let next = curve.bytes.partition_point(|&size| size < bytes.0);
    let (micros, measured) = match (next.checked_sub(1), curve.bytes.get(next)) {
        (None, _) => (curve.micros[0], true),
        (Some(last), None) => (curve.micros[last] * (bytes.0 / curve.bytes[last]), false),
        (Some(below), Some(&above)) => {
            let share = (bytes.0 / curve.bytes[below]).ln() / (above / curve.bytes[below]).ln();
            let (low, high) = (curve.micros[below], curve.micros[next]);
            (low * (high / low).powf(share), true)
        }
    };
    CollectiveTime { seconds: Seconds::from_micros(micros), measured }
}

fn modelled(
    collective: &Collective,
    gpu: &Gpu,
    known: &CollectiveCatalog,
) -> Result<CollectiveTime, MissingFigure> {
    let (name, ranks, _) = parts(collective);
    let link = gpu.link_among(ranks)?;
    let seconds =
        |Generic(latency, share)| Seconds::from_micros(latency) + wire_bytes(collective) / (link * share);
    let own = constants(known, gpu.link.kind, name, ranks).map(seconds).ok_or_else(|| MissingFigure {
        gpu: gpu.name.clone(),
        figure: "collective constants",
        reason: format!("{name} was measured on no link of its kind"),
    })?;
    let library = known.generic(gpu.link.kind, &format!("{name}_library"), ranks).map(seconds);
    Ok(CollectiveTime { seconds: library.map_or(own, |library| own.min(library)), measured: false })
}

/// Between measured rank counts both constants are linear in log2 of the ranks; beyond, the latency keeps growing
/// and the share stays constant.
fn constants(known: &CollectiveCatalog, kind: LinkKind, name: &str, ranks: u32) -> Option<Generic> {
    if let Some(exact) = known.generic(kind, name, ranks) {
        return Some(exact);
    }
    let [_, middle, most] = MEASURED_RANKS;
    let (fewer, more) = if ranks < middle { (2, middle) } else { (middle, most) };
    let (low, high) = (known.generic(kind, name, fewer)?, known.generic(kind, name, more)?);
    let position = (f64::from(ranks) / f64::from(fewer)).log2() / f64::from(more / fewer).log2();
    let latency = low.0 + (high.0 - low.0) * position;
    Some(Generic(latency, low.1 + (high.1 - low.1) * position.min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    const ENGINES: [&str; 3] = ["vllm", "sglang", "trtllm"];

    fn all_reduce(ranks: u32, bytes: f64) -> Collective {
        Collective::AllReduce { ranks, bytes: Bytes(bytes) }
    }

    fn micros(collective: &Collective, gpu: &str, engine: &str) -> f64 {
        let gpu = catalog().gpu(gpu).expect("in the catalog");
        time(collective, gpu, engine).expect("has a link").seconds.micros()
    }

    #[test]
    fn time_never_falls_with_size() {
        for gpu in &catalog().gpus.gpus {
            for ranks in 2..=gpu.link.domain.min(8) {
                for engine in ENGINES {
                    let mut before = [0.0; 4];
                    for step in 0..140 {
                        let bytes = Bytes(256.0 * 1.2f64.powi(step));
                        let all = [
                            Collective::AllReduce { ranks, bytes },
                            Collective::AllGather { ranks, bytes },
                            Collective::AllToAll { ranks, bytes },
                            Collective::SendRecv { bytes, across: false },
                        ];
                        for (collective, before) in all.iter().zip(&mut before) {
                            let now = time(collective, gpu, engine).expect("has a link").seconds.micros();
                            assert!(now >= *before * (1.0 - 1e-12), "{} {collective:?}: {now}", gpu.id);
                            *before = now;
                        }
                    }
                }
            }
        }
    }

    /// Each inner point is interpolated from its neighbours, twice as far apart as in use.
    #[test]
    fn a_left_out_point_is_interpolated_closely() {
        let known = collectives();
        let mut errors = Vec::new();
        for curve in known.curves.values().flat_map(|curves| curves.values()) {
            let sizes = &known.sizes[..curve.len()];
            for out in 1..curve.len() - 1 {
                let without = |values: &[f64]| [values[out - 1], values[out + 1]];
                let (bytes, around) = (without(sizes), without(curve));
                let found = read(Curve { bytes: &bytes, micros: &around }, Bytes(sizes[out]));
                errors.push((found.seconds.micros() / curve[out]).ln().abs());
            }
        }
        errors.sort_by(f64::total_cmp);
        let (median, p90) = (errors[errors.len() / 2], errors[errors.len() * 9 / 10]);
        println!("{} points left out: median {median:.3}, p90 {p90:.3}", errors.len());
        assert!(median < 0.06 && p90 < 0.25, "median {median}, p90 {p90}");
    }

    #[test]
    fn bandwidth_is_kept_beyond_the_last_size() {
        let last = 1024.0 * 1024.0 * 1024.0;
        let (at, beyond) = (all_reduce(8, last), all_reduce(8, 10.0 * last));
        let ratio = micros(&beyond, "h100-sxm", "vllm") / micros(&at, "h100-sxm", "vllm");
        assert!((ratio - 10.0).abs() < 1e-9, "{ratio}");
        let gpu = catalog().gpu("h100-sxm").expect("in the catalog");
        assert!(!time(&beyond, gpu, "vllm").expect("has a link").measured);
    }

    #[test]
    fn curves_pass_through_measured_points() {
        // H100, two GPUs, 1 MiB: 5.9 µs by SGLang's kernel, 8.3 by vLLM's, 14.7 by NCCL.
        let one = all_reduce(2, 1024.0 * 1024.0);
        assert!((micros(&one, "h100-sxm", "sglang") - 5.9).abs() < 0.1);
        assert!((micros(&one, "h100-sxm", "vllm") - 8.3).abs() < 0.1);
        // vLLM has no kernel of its own for an L40S: NCCL, 74.8 µs.
        assert!((micros(&one, "l40s", "vllm") - 74.8).abs() < 0.1);
    }

    #[test]
    fn engines_use_their_kernel_where_only_nccl_was_measured() {
        let gpu = catalog().gpu("h20").expect("in the catalog");
        let small = time(&all_reduce(8, 65_536.0), gpu, "sglang").expect("has a link");
        assert!(!small.measured && small.seconds.micros() < 12.0, "{small:?}");
        let large = time(&all_reduce(8, 256.0 * 1024.0 * 1024.0), gpu, "sglang").expect("has a link");
        assert!(large.measured && (large.seconds.micros() - 1080.0).abs() < 5.0, "{large:?}");
    }

    #[test]
    fn alone_costs_nothing() {
        assert_eq!(micros(&all_reduce(1, 1e9), "h100-sxm", "vllm"), 0.0);
    }

    #[test]
    fn a_mesh_has_a_link_for_each_pair() {
        // 16 MiB: vLLM's kernel takes 356 µs over one link of 64 GB/s, 230 over the three among four GPUs.
        let bytes = 16.0 * 1024.0 * 1024.0;
        assert!((micros(&all_reduce(2, bytes), "mi300x", "vllm") / 355.9 - 1.0).abs() < 0.03);
        assert!((micros(&all_reduce(4, bytes), "mi300x", "vllm") / 230.5 - 1.0).abs() < 0.03);
        // The library takes over: 8 MiB in 91 µs, as rccl-tests has it.
        assert!((micros(&all_reduce(8, bytes / 2.0), "mi300x", "vllm") / 91.1 - 1.0).abs() < 0.03);
        let gpu = catalog().gpu("mi300x").expect("in the catalog");
        assert_eq!(gpu.link_among(8), gpu.link_bandwidth());
        assert_eq!(gpu.link_among(2).map(|rate| rate.0), Ok(64e9));
    }

    #[test]
    fn more_ranks_than_measured_take_longer() {
        let eight = micros(&all_reduce(8, 1e5), "gb200", "vllm");
        let many = micros(&all_reduce(32, 1e5), "gb200", "vllm");
        assert!(many > eight, "{many} {eight}");
    }
}
