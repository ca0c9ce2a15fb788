//! How many tokens each expert gets, in the layer and on the busiest expert-parallel rank.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::units::random::SplitMix64;

/// Row tile heights of grouped GEMMs, in tokens.
pub const TILE_ROWS: [u64; 5] = [8, 16, 32, 64, 128];

/// Number of random routings a load is averaged over.
const DRAWS: u64 = 8;
const SEED: u64 = 0x5EED;

/// Maximum number of cached loads: enough for a few of the largest plans' tables.
const MOST_KEPT: usize = 4096;

/// A pool, whether its tokens choose by themselves, and the bits of the law's number.
type RoutingKey = (Pool, bool, u64);

thread_local! {
    /// Random loads. Many steps of a plan have the same number of tokens, and so does the next plan: drawing their
    /// loads again took half of a plan's time.
    static DRAWN: RefCell<FxHashMap<RoutingKey, ExpertLoad>> = RefCell::default();
}

/// A routing problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pool {
    /// Tokens of the whole expert-parallel group.
    pub tokens: u64,
    pub experts: u64,
    /// Experts that each token visits.
    pub topk: u64,
    /// Ranks the experts are distributed over, in contiguous runs.
    pub ep: u64,
}

/// How tokens choose their experts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Routing {
    /// Round-robin: as even as possible.
    Even,
    /// As in aiconfigurator's tables: popularity from a power law with this exponent (not 1) over a range that depends
    /// on the number of tokens, rounded to tokens deterministically. The number of experts visited jumps where there
    /// are more pairs than experts.
    PowerLaw(f64),
    /// Each token chooses its own experts; the logarithm of an expert's popularity is uniform, and the most popular one
    /// is this many times as popular as the least.
    Independent(f64),
}

/// The load of one rank; a mean over draws for random routing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpertLoad {
    /// Pairs of a token and one of this rank's experts.
    pub pairs: f64,
    /// Experts with at least one token.
    pub touched: f64,
    /// Tokens of the most loaded expert.
    pub largest: f64,
    /// Pairs after padding each expert's to a multiple of each of `TILE_ROWS`.
    pub padded: [f64; TILE_ROWS.len()],
}

impl ExpertLoad {
    /// Mean over `draws` of one rank's tokens per expert.
    pub fn mean<'a>(draws: impl IntoIterator<Item = &'a [u64]>) -> Self {
        let mut sum = Self { pairs: 0.0, touched: 0.0, largest: 0.0, padded: [0.0; TILE_ROWS.len()] };
        let mut draws_seen: f64 = 0.0;
        for tokens in draws {
            draws_seen += 1.0;
            sum.pairs += tokens.iter().sum::<u64>() as f64;
            sum.touched += tokens.iter().filter(|&&tokens| tokens > 0).count() as f64;
            sum.largest += tokens.iter().copied().max().unwrap_or(0) as f64;
            for (padded, rows) in sum.padded.iter_mut().zip(TILE_ROWS) {
                *padded += tokens.iter().map(|tokens| tokens.next_multiple_of(rows)).sum::<u64>() as f64;
            }
        }
        let scale = 1.0 / draws_seen.max(1.0);
        Self {
            pairs: sum.pairs * scale,
            touched: sum.touched * scale,
            largest: sum.largest * scale,
            padded: sum.padded.map(|rows| rows * scale),
        }
    }
}

impl Routing {
    /// The load of the busiest rank.
    pub fn load(self, pool: &Pool) -> ExpertLoad {
        let key = match self {
            Self::Even => return self.mean(pool),
            Self::PowerLaw(exponent) => (*pool, false, exponent.to_bits()),
            Self::Independent(range) => (*pool, true, range.to_bits()),
        };
        DRAWN.with_borrow_mut(|drawn| {
            if drawn.len() >= MOST_KEPT {
                drawn.clear();
            }
            *drawn.entry(key).or_insert_with(|| self.mean(pool))
        })
    }

    fn mean(self, pool: &Pool) -> ExpertLoad {
        let draws = self.draws(pool);
        let local = pool.local_experts();
        ExpertLoad::mean(draws.iter().map(|tokens| &tokens[..local.min(tokens.len())]))
    }

    /// Tokens per expert, the busiest rank's experts first: one draw, or several for random routing.
    pub fn draws(self, pool: &Pool) -> Vec<Vec<u64>> {
        if pool.experts == 0 || pool.topk == 0 {
            return vec![Vec::new()];
        }
        match self {
            Self::Even => vec![pool.even()],
            Self::PowerLaw(exponent) => {
                let mut random = SplitMix64::new(SEED);
                (0..DRAWS).map(|_| pool.drawn(exponent, &mut random)).collect()
            }
            Self::Independent(range) => {
                // The same popularities and choices whatever the number of tokens: one more only adds to them.
                (0..DRAWS).map(|draw| pool.chosen(range, &mut SplitMix64::new(SEED ^ draw))).collect()
            }
        }
    }
}

impl Pool {
    pub fn local_experts(&self) -> usize {
        self.experts.div_ceil(self.ep.max(1)) as usize
    }

    /// The expert in `slot` of token `token` under even routing: `topk` evenly spaced runs of experts, along which
    /// the tokens spread.
    pub fn even_expert(&self, token: u64, slot: u64) -> u64 {
        let stride = self.experts.div_ceil(self.topk);
        let along = if self.tokens >= stride { token } else { token * stride / self.tokens };
        (along + slot * stride) % self.experts
    }

    fn even(&self) -> Vec<u64> {
        let mut counts = vec![0; self.experts as usize];
        // The pattern repeats after as many tokens as there are experts.
        let (rounds, rest) = (self.tokens / self.experts, self.tokens % self.experts);
        for token in 0..self.tokens.min(self.experts) {
            for slot in 0..self.topk {
                let expert = self.even_expert(token, slot) as usize;
                counts[expert] +=
                    if self.tokens < self.experts { 1 } else { rounds + u64::from(token < rest) };
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOL: Pool = Pool { tokens: 4, experts: 8, topk: 2, ep: 2 };

    #[test]
    fn even_by_hand() {
        // Stride 4: token t visits experts t and t + 4, each expert once; four on each rank.
        let load = Routing::Even.load(&POOL);
        assert_eq!((load.pairs, load.touched, load.largest), (4.0, 4.0, 1.0));
        assert_eq!(load.padded, [32.0, 64.0, 128.0, 256.0, 512.0]);
        // Two tokens spread along the stride: experts 0, 2 and 4, 6.
        let few = Pool { tokens: 2, ..POOL };
        assert_eq!(Routing::Even.draws(&few), [[1, 0, 1, 0, 1, 0, 1, 0]]);
        // 19 tokens: two rounds of eight, then three more.
        let many = Pool { tokens: 19, ..POOL };
        assert_eq!(Routing::Even.draws(&many), [[5, 5, 5, 4, 5, 5, 5, 4]]);
    }

    #[test]
    fn draws_keep_every_pair_and_the_busiest_rank_leads() {
        for (tokens, experts, topk, ep) in
            [(1, 256, 8, 32), (16, 256, 8, 8), (4096, 8, 2, 4), (1000, 32, 4, 1), (7, 384, 6, 384)]
        {
            let pool = Pool { tokens, experts, topk, ep };
            for draw in
                [Routing::PowerLaw(1.2), Routing::Independent(30.0)].map(|of| of.draws(&pool)).concat()
            {
                assert_eq!(draw.iter().sum::<u64>(), tokens * topk);
                assert!(draw.iter().all(|&count| count <= tokens));
                let mut ranks = draw.chunks(pool.local_experts()).map(|rank| rank.iter().sum::<u64>());
                let first = ranks.next().expect("a rank");
                assert!(ranks.all(|other| other <= first), "{pool:?}");
            }
        }
    }

    /// One token more visits few experts more, and never more than tokens that choose evenly would.
    #[test]
    fn independent_tokens_visit_experts_gradually() {
        for (experts, topk) in [(8, 2), (128, 8), (512, 10)] {
            let touched =
                |tokens| Routing::Independent(30.0).load(&Pool { tokens, experts, topk, ep: 1 }).touched;
            for tokens in 1..100 {
                let (least, next) = (touched(tokens), touched(tokens + 1));
                let even = experts as f64 * (1.0 - (1.0 - topk as f64 / experts as f64).powi(tokens as i32));
                assert!(
                    least < even * 1.06,
                    "{tokens} tokens visit {least} of {experts} experts, evenly {even}"
                );
                assert!(next >= least && next <= least + topk as f64, "{least} then {next} of {experts}");
            }
            assert_eq!(touched(1), topk as f64);
        }
    }

    #[test]
    fn a_steeper_law_loads_the_busiest_rank_more() {
        let pool = Pool { tokens: 8192, experts: 256, topk: 8, ep: 8 };
        let pairs = |routing: Routing| routing.load(&pool).pairs;
        // An eighth of all pairs is 8192; with aiconfigurator's own draws 12,500 and 14,600.
        assert_eq!(pairs(Routing::Even), 8192.0);
        let (mild, steep) = (pairs(Routing::PowerLaw(1.01)), pairs(Routing::PowerLaw(1.2)));
        assert!((11_500.0..13_500.0).contains(&mild), "{mild}");
        assert!((13_000.0..16_500.0).contains(&steep), "{steep}");
    }

    #[test]
    fn nothing_to_route_loads_nothing() {
        for pool in [Pool { tokens: 0, ..POOL }, Pool { experts: 0, ..POOL }, Pool { topk: 0, ..POOL }] {
            for routing in [Routing::Even, Routing::PowerLaw(1.01)] {
                assert_eq!(routing.load(&pool).pairs, 0.0, "{pool:?}");
            }
        }
    }
}
