//! Collectives across nodes.
//!
//! A collective takes three phases: within each node, between corresponding GPUs of the nodes over their NICs, and
//! again within each node (NCCL's hierarchical algorithms; DeepEP forwards tokens likewise). Large messages are
//! pipelined through the phases, so the slower of link and network decides; latencies add up:
//!
//! `t = max(inside, sent / (share * network bandwidth)) + steps * latency`
//!
//! `inside` is measured within one node. Nothing was measured between nodes: bandwidth is the NIC's specification,
//! share and latency come from the constants, which meet the latencies DeepEP publishes for experts over 16 to 256
//! H800 within 20 %, most within 11 %. The only published table that exceeds a node, Vidur's with 16 A100, does not
//! say how its nodes are connected; it reaches 70 % of a single 25 GB/s port, as if all GPUs of a node shared it.

use super::{Collective, CollectiveTime, NCCL, time, wire_bytes};
use crate::config::catalog::physics;
use crate::config::{Gpu, MissingFigure};
use crate::units::{Bytes, Seconds};

/// A collective across nodes, in phases.
#[derive(Debug, Clone, PartialEq)]
pub struct AcrossNodes {
    /// Collectives within each node, before and after.
    inside: Vec<Collective>,
    /// Bytes each GPU sends over its NIC.
    sent: Bytes,
    /// Sequential messages.
    steps: u32,
}

/// The phases of `collective`; `None` if it stays within a node.
pub fn of(collective: &Collective, gpu: &Gpu) -> Option<AcrossNodes> {
    let spread = |ranks: u32| {
        let own = gpu.in_one_node(ranks);
        let nodes = ranks.div_ceil(own.max(1));
        (nodes > 1).then_some((own, nodes))
    };
    // Of the data in a node, each GPU sends its part to every other node.
    let others = |bytes: Bytes, own: u32, nodes: u32| {
        bytes * (f64::from(nodes - 1) / f64::from(nodes) / f64::from(own))
    };
    Some(match *collective {
        Collective::AllReduce { ranks, bytes } => {
            let (own, nodes) = spread(ranks)?;
            let scatter = Collective::ReduceScatter { ranks: own, bytes };
            let gather = Collective::AllGather { ranks: own, bytes };
            // Up and down a tree of nodes.
            let steps = 2 * nodes.next_power_of_two().ilog2();
            AcrossNodes { inside: vec![scatter, gather], sent: others(bytes, own, nodes) * 2.0, steps }
        }
        Collective::AllGather { ranks, bytes } => {
            let (own, nodes) = spread(ranks)?;
            let gather = Collective::AllGather { ranks: own, bytes };
            AcrossNodes { inside: vec![gather], sent: others(bytes, own, nodes), steps: nodes - 1 }
        }
        Collective::ReduceScatter { ranks, bytes } => {
            let (own, nodes) = spread(ranks)?;
            let scatter = Collective::ReduceScatter { ranks: own, bytes };
            AcrossNodes { inside: vec![scatter], sent: others(bytes, own, nodes), steps: nodes - 1 }
        }
        Collective::AllToAll { ranks, bytes } => {
            let (own, nodes) = spread(ranks)?;
            // The fraction of each GPU's parts that stays in its node.
            let stays = 1.0 / f64::from(nodes);
            let inside = Collective::AllToAll { ranks: own, bytes: bytes * stays };
            AcrossNodes { inside: vec![inside], sent: bytes * (1.0 - stays), steps: 1 }
        }
        Collective::SendRecv { bytes, across: true } => {
            AcrossNodes { inside: Vec::new(), sent: bytes, steps: 1 }
        }
        Collective::SendRecv { across: false, .. } => return None,
    })
}

impl AcrossNodes {
    /// Lower bound from link and network.
    pub fn least(&self, gpu: &Gpu) -> Result<Seconds, MissingFigure> {
        let between = self.sent / gpu.network_bandwidth()?;
        let inside: Bytes = self.inside.iter().map(wire_bytes).sum();
        if inside == Bytes::ZERO {
            return Ok(between);
        }
        Ok((inside / gpu.link_among(gpu.link.domain)?).max(between))
    }

    pub fn time(&self, gpu: &Gpu) -> Result<CollectiveTime, MissingFigure> {
        let inside = self.inside.iter().filter(|phase| wire_bytes(phase) > Bytes::ZERO);
        let inside = inside.map(|phase| Ok(time(phase, gpu, NCCL)?.seconds));
        let inside = inside.sum::<Result<Seconds, MissingFigure>>()?;
        let between = self.sent / (gpu.network_bandwidth()? * physics().network_share);
        let seconds = inside.max(between) + physics().network_latency * f64::from(self.steps);
        Ok(CollectiveTime { seconds, measured: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;
    use crate::kernels::collective::least;

    fn gpu(id: &str) -> &'static Gpu {
        catalog().gpu(id).expect("in the catalog")
    }

    fn micros(collective: &Collective, id: &str) -> f64 {
        time(collective, gpu(id), "vllm").expect("has a network").seconds.micros()
    }

    fn all_reduce(ranks: u32, bytes: f64) -> Collective {
        Collective::AllReduce { ranks, bytes: Bytes(bytes) }
    }

    #[test]
    fn two_nodes_by_hand() {
        // 64 MiB over 16 GPUs: each sends 2 * 1/2 * 64 MiB / 8 over a port of 50 GB/s, and 2 * 7/8 * 64 MiB over
        // links of 450 GB/s.
        let bytes = 64.0 * 1024.0 * 1024.0;
        let group = of(&all_reduce(16, bytes), gpu("h100-sxm")).expect("two nodes");
        assert_eq!((group.sent, group.steps), (Bytes(bytes / 8.0), 2));
        let links = 1.75 * bytes / 450e9;
        assert!((group.least(gpu("h100-sxm")).expect("known").0 / links - 1.0).abs() < 1e-12);
        // Small: two exchanges inside of about 11 µs each, two messages of 10 µs.
        let small = micros(&all_reduce(16, 4096.0), "h100-sxm");
        assert!((40.0..70.0).contains(&small), "{small}");
    }

    #[test]
    fn a_second_node_never_saves_time() {
        for id in ["a100-sxm-80gb", "h100-sxm", "h200-sxm", "b200", "b300"] {
            for step in 0..20 {
                let bytes = 1024.0 * 2f64.powi(step);
                let (one, two, four) = (all_reduce(8, bytes), all_reduce(16, bytes), all_reduce(32, bytes));
                let [one, two, four] = [one, two, four].map(|group| micros(&group, id));
                assert!(one < two && two < four, "{id}, {bytes} B: {one} {two} {four}");
            }
        }
    }

    #[test]
    fn tokens_that_leave_the_node_cross_the_network() {
        let all = Collective::AllToAll { ranks: 32, bytes: Bytes(32e6) };
        let group = of(&all, gpu("h200-sxm")).expect("four nodes");
        assert!((group.sent.0 - 24e6).abs() < 1.0, "{group:?}");
        let Some(Collective::AllToAll { ranks: 8, bytes }) = group.inside.first() else {
            panic!("{group:?}")
        };
        assert!((bytes.0 - 8e6).abs() < 1.0);
    }

    /// DeepEP's low-latency kernels on H800: 128 tokens of 7168 elements to 8 experts each, there in FP8 and back
    /// in bf16 (docs/legacy.md of its repository).
    #[test]
    fn published_multi_node_expert_latencies_are_reproduced() {
        let published = [
            (16, [118.0, 195.0]),
            (32, [155.0, 273.0]),
            (64, [173.0, 314.0]),
            (128, [192.0, 369.0]),
            (256, [194.0, 360.0]),
        ];
        let mut errors = Vec::new();
        for (ranks, micros_of) in published {
            for (width, published) in [1.0, 2.0].into_iter().zip(micros_of) {
                let bytes = Bytes(128.0 * 8.0 * 7168.0 * width);
                let ours = micros(&Collective::AllToAll { ranks, bytes }, "h800");
                println!("{ranks} GPUs, {width} B an element: {ours:.0} µs, published {published}");
                errors.push((ours / published - 1.0).abs());
            }
        }
        errors.sort_by(f64::total_cmp);
        let (median, most) = (errors[errors.len() / 2], errors[errors.len() - 1]);
        assert!(median < 0.11 && most < 0.2, "median {median}, most {most}");
    }

    #[test]
    fn stages_in_two_nodes_send_over_one_port() {
        let bytes = Bytes(43e6);
        let across = Collective::SendRecv { bytes, across: true };
        // 43 MB at 0.86 of 50 GB/s, and one message.
        assert!((micros(&across, "h100-sxm") - 1010.0).abs() < 1e-6);
        let inside = Collective::SendRecv { bytes, across: false };
        assert!(micros(&inside, "h100-sxm") < 300.0);
        assert_eq!(least(&across, gpu("h100-sxm")).expect("known"), Seconds(43e6 / 50e9));
    }

    #[test]
    fn a_rack_of_one_domain_is_one_node() {
        assert_eq!(of(&all_reduce(64, 1e6), gpu("gb200")), None);
        // 128 GPUs take 64 of each rack.
        assert_eq!(gpu("gb200").in_one_node(128), 64);
        assert!(micros(&all_reduce(128, 1e6), "gb200") > micros(&all_reduce(64, 1e6), "gb200"));
    }

    #[test]
    fn without_a_figure_for_the_network_there_is_no_time() {
        let refused = time(&all_reduce(4, 1e6), gpu("h100-nvl"), "vllm").expect_err("joins two");
        assert!(refused.to_string().contains("no network between nodes"), "{refused}");
        assert!(time(&all_reduce(2, 1e6), gpu("h100-nvl"), "vllm").is_ok());
    }
}
