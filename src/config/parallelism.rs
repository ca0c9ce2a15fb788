//! How a replica is laid out over GPUs.

/// Degrees of TP within a node of eight.
pub const TP_IN_NODE: [u32; 4] = [1, 2, 4, 8];
/// Degrees to try: up to two nodes of eight.
pub const DEGREES: [u32; 5] = [1, 2, 4, 8, 16];

/// Degrees of parallelism of one replica. Links can hold any degree, so products saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parallelism {
    /// GPUs that share attention heads, MLP columns and vocabulary.
    pub tp: u32,
    /// Stages, each with its share of the layers.
    pub pp: u32,
    /// Attention data parallelism: groups of `tp` GPUs with separate requests that share the experts.
    pub dp: u32,
    /// GPUs of a stage that whole experts are distributed over; the rest of the stage shards each expert.
    pub ep: u32,
}

impl Parallelism {
    /// One GPU.
    pub const NONE: Self = Self { tp: 1, pp: 1, dp: 1, ep: 1 };

    /// The layout with this TP. Experts that are spread over the whole stage stay so, as some engines require; others stay
    /// on as many GPUs as the stage has at most.
    #[must_use]
    pub fn with_tp(self, tp: u32) -> Self {
        let wider = Self { tp, ..self };
        let stage = wider.gpus_per_stage();
        let is_spread = self.ep > 1 && self.ep == self.gpus_per_stage();
        Self { ep: if is_spread { stage } else { self.ep.min(stage) }, ..wider }
    }

    /// GPUs of one replica.
    pub fn gpus(self) -> u32 {
        self.gpus_per_stage().saturating_mul(self.pp)
    }

    /// GPUs of one stage: those that share its experts.
    pub fn gpus_per_stage(self) -> u32 {
        self.tp.saturating_mul(self.dp)
    }

    /// Batches in flight in one replica: of each stage of each rank of attention DP.
    pub fn batches(self) -> u32 {
        self.dp.saturating_mul(self.pp)
    }

    /// GPUs that shard each expert's width.
    pub fn expert_tp(self) -> u32 {
        (self.gpus_per_stage() / self.ep.max(1)).max(1)
    }
}
