//! FlashAttention-2 as FlashInfer plans it: all prefill off Hopper, and decode everywhere.

use super::attention::{Linear, Load, counts};
use super::{AttentionCounts, Layout, Record};
use crate::graph::{Attention, Sequences};

const BF16_BYTES: u64 = 2;
/// Rows or columns of one tensor-core instruction.
const MMA: u64 = 16;
/// Thread blocks that one SM holds at once.
const SLOTS_PER_SM: u64 = 2;
/// Tensor work done per useful FLOP: one instruction in 32 sums the rows for the softmax.
const FLOPS_FACTOR: f64 = 33.0 / 32.0;

/// How the planner cuts the batch: fixed by its totals, before anything is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plan {
    /// Query rows of a thread block, the heads of one KV head packed together.
    rows: u64,
    /// KV tokens of one step.
    tokens: u64,
    /// KV tokens that one thread block covers at most.
    chunk: u64,
}

/// Counts of causal bf16 attention over `attention.sequences`. Time: the thread blocks of one KV
/// head, whatever their number; identical sequences cost no more than one round over the slots.
pub fn fa2(attention: &Attention, layout: Layout, record: &Record) -> AttentionCounts {
    let Some(plan) = plan(attention, layout, record) else { return AttentionCounts::default() };
    let mut slots = Slots::new(record.sm_count());
    for group in &attention.sequences {
        slots.place(group, &plan, attention);
    }
    let loads = slots.loads();
    if loads.iter().all(|load| load.tasks == 0.0) {
        return AttentionCounts::default();
    }
    // Quirk: exponentials and rescaling of 128 query rows, whatever the tile.
    let xu = Linear { task: 128.0 * 128.0 + plan.rows as f64, iteration: 36.0 * 128.0 };
    counts(&loads, [plan.rows, plan.tokens], attention.head_dim, FLOPS_FACTOR, xu)
}

/// Query heads per KV head.
fn group_size(attention: &Attention) -> u64 {
    attention.heads.checked_div(attention.kv_heads).unwrap_or(0)
}

fn kv_len(sequences: &Sequences) -> u64 {
    sequences.past.saturating_add(sequences.new)
}

/// None where there are no requests, heads or elements.
fn plan(attention: &Attention, layout: Layout, record: &Record) -> Option<Plan> {
    let group = group_size(attention);
    let total = |of: fn(&Sequences) -> u64| attention.sequences.iter().map(of).fold(0, u64::saturating_add);
    let requests = total(|group| group.count);
    if group == 0 || requests == 0 || attention.head_dim == 0 {
        return None;
    }
    let queries = total(|group| group.count.saturating_mul(group.new));
    let rows = query_rows(queries.saturating_mul(group) / requests, attention.head_dim);
    let tokens = kv_tokens(rows, attention.head_dim, record.smem_bytes());
    let chunk = chunk(attention, rows, layout, record);
    Some(Plan { rows, tokens, chunk })
}

/// Query rows of a thread block, from the mean number of packed rows a request has.
fn query_rows(mean: u64, head_dim: u64) -> u64 {
    match mean {
        65.. if head_dim < 256 => 128,
        17.. => 64,
        _ => 16,
    }
}

/// KV tokens of one step: as many as shared memory and registers allow, with two thread blocks per
/// SM where they fit.
fn kv_tokens(rows: u64, head_dim: u64, smem: u64) -> u64 {
    let warps_q = if rows > MMA { 4 } else { 1 };
    let warps_kv = 4 / warps_q;
    let mma_q = if rows > 64 { 2 } else { 1 };
    let mma_d = head_dim / MMA;

    let query_bytes = rows.saturating_mul(head_dim).saturating_mul(BF16_BYTES);
    // K and V of one instruction's width for every warp along KV.
    let unit = 2u64.saturating_mul(head_dim).saturating_mul(MMA * warps_kv * BF16_BYTES);
    let blocks = if smem >= 2u64.saturating_mul(query_bytes.saturating_add(unit)) { 2 } else { 1 };
    let fitting = (smem / blocks).saturating_sub(query_bytes) / unit;

    let valid = |mma_kv: u64| {
        let registers = 8u64.saturating_mul(mma_q).saturating_mul(mma_d.saturating_add(mma_kv));
        mma_d >= 4 && !(mma_d == 4 && mma_kv % 2 == 1) && registers < 256
    };
    let mma_kv = (1..=fitting.min(8 / mma_q)).rev().find(|&mma_kv| valid(mma_kv)).unwrap_or(1);
    MMA * mma_kv * warps_kv
}

/// The smallest KV chunk for which all (q tile, chunk) pairs fit on the GPU at once, and no smaller
/// than a bound. Quirk: for pages the bound of 128 tokens is divided by the page size, as if KV were
/// counted in pages, but it is counted in tokens.
fn chunk(attention: &Attention, rows: u64, layout: Layout, record: &Record) -> u64 {
    const MIN_CHUNK: u64 = 128;
    const PAGE: u64 = 16;
    let group = group_size(attention);
    let most = SLOTS_PER_SM * record.sm_count() / attention.kv_heads.max(1);
    let blocks = |chunk: u64| {
        let of = |sequences: &Sequences| {
            let tiles = sequences.new.saturating_mul(group).div_ceil(rows);
            let chunks = kv_len(sequences).max(1).div_ceil(chunk);
            sequences.count.saturating_mul(tiles).saturating_mul(chunks)
        };
        attention.sequences.iter().map(of).fold(0, u64::saturating_add)
    };
    let mut low = match layout {
        Layout::Ragged => MIN_CHUNK,
        Layout::Paged => MIN_CHUNK / PAGE,
    };
    let mut high = attention.sequences.iter().map(kv_len).max().unwrap_or(0);
    while low < high {
        let middle = low + (high - low) / 2;
        if blocks(middle) > most { low = middle + 1 } else { high = middle }
    }
    low
}

/// Where thread blocks land. What the reference records is, for the first two per SM, block i on SM
/// i mod S; every later block j (counted after those) in slot j mod 2S, which is SM slot div 2.
/// Blocks come in runs, so each slot keeps the difference to the slot before it.
struct Slots {
    sms: usize,
    /// Slots of the first round; the last entry takes the ends of runs.
    first: Vec<Load>,
    later: Vec<Load>,
    /// Thread blocks placed so far.
    next: u64,
}

/// Equal thread blocks in a row.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// Offset of its first thread block from the first of its request.
    offset: u64,
    iterations: u64,
}

impl Slots {
    fn new(sms: u64) -> Self {
        let sms = sms as usize;
        let slots = SLOTS_PER_SM as usize * sms;
        Self {
            sms,
            first: vec![Load::default(); slots + 1],
            later: vec![Load::default(); slots + 1],
            next: 0,
        }
    }

    fn slots(&self) -> u64 {
        SLOTS_PER_SM * self.sms as u64
    }

    /// Requests that are alike start at multiples of their length, which repeat modulo the slots: so
    /// as many are placed as there are slots, each standing for all that start in the same slot.
    fn place(&mut self, group: &Sequences, plan: &Plan, attention: &Attention) {
        let runs = runs(group, plan, group_size(attention), attention.kv_heads);
        let chunks = kv_len(group).max(1).div_ceil(plan.chunk);
        let tiles = group.new.saturating_mul(group_size(attention)).div_ceil(plan.rows);
        let length = tiles.saturating_mul(chunks).saturating_mul(attention.kv_heads);
        for request in 0..group.count.min(self.slots()) {
            let alike = (group.count - request - 1) / self.slots();
            let start = self.next.saturating_add(request.saturating_mul(length));
            for run in &runs {
                let at = start.saturating_add(run.offset);
                self.put(at, attention.kv_heads, 1.0, run.iterations);
                if alike > 0 {
                    self.put(
                        at.saturating_add(self.slots()),
                        attention.kv_heads,
                        alike as f64,
                        run.iterations,
                    );
                }
            }
        }
        self.next = self.next.saturating_add(group.count.saturating_mul(length));
    }

    /// `times` runs of `length` thread blocks, the first of each the `at`-th of the launch (or one
    /// that shares its slot).
    fn put(&mut self, at: u64, length: u64, times: f64, iterations: u64) {
        let slots = self.slots();
        let load = Load { tasks: times, iterations: times * iterations as f64 };
        let early = slots.saturating_sub(at).min(length);
        add(&mut self.first, at, early, load);

        let rest = length - early;
        let rounds = (rest / slots) as f64;
        let every = Load { tasks: load.tasks * rounds, iterations: load.iterations * rounds };
        add(&mut self.later, 0, slots, every);
        let start = at.max(slots) % slots;
        let before_wrap = (rest % slots).min(slots - start);
        add(&mut self.later, start, before_wrap, load);
        add(&mut self.later, 0, rest % slots - before_wrap, load);
    }

    fn loads(&self) -> Vec<Load> {
        let mut loads = vec![Load::default(); self.sms];
        let (mut first, mut later) = (Load::default(), Load::default());
        for slot in 0..self.slots() as usize {
            first += self.first[slot];
            later += self.later[slot];
            loads[slot % self.sms] += first;
            loads[slot / SLOTS_PER_SM as usize] += later;
        }
        loads
    }
}

/// Adds `load` to `length` slots from `start` on, as differences.
fn add(slots: &mut [Load], start: u64, length: u64, load: Load) {
    if length > 0 {
        slots[start as usize] += load;
        slots[(start + length) as usize] += Load::default() - load;
    }
}

/// The thread blocks of one request that have work: q tiles, and in each the chunks of KV, and for
/// each pair as many equal blocks as there are KV heads.
fn runs(group: &Sequences, plan: &Plan, group_size: u64, kv_heads: u64) -> Vec<Run> {
    let kv = kv_len(group);
    let tiles = group.new.saturating_mul(group_size).div_ceil(plan.rows);
    let chunks = kv.max(1).div_ceil(plan.chunk);
    let run = |tile: u64, chunk: u64| {
        let visible = group.past.saturating_add(((tile + 1).saturating_mul(plan.rows)).div_ceil(group_size));
        let start = chunk * plan.chunk;
        let length = (kv - start).min(plan.chunk).min(visible.saturating_sub(start));
        let offset = (tile * chunks + chunk).saturating_mul(kv_heads);
        Run { offset, iterations: length.div_ceil(plan.tokens) }
    };
    (0..tiles)
        .flat_map(|tile| (0..chunks).map(move |chunk| (tile, chunk)))
        .map(|(tile, chunk)| run(tile, chunk))
        .filter(|run| run.iterations > 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reference::fixtures::{A40, A100, H800, L20, assert_close, attention};

    // Vectors computed with the published PipeWeave reference.

    #[test]
    fn ragged_prefill() {
        let prompts = [(1000, 0), (3000, 0), (517, 0)];
        let counts = fa2(&attention(&prompts, 40, 8, 128), Layout::Ragged, &A100);
        let expected = [
            114189926400.0,
            516266.65625,
            1198129152.0,
            585024.0,
            145296384.0,
            84083.5546875,
            1507584.0,
            94224.0,
            468224.0,
            308778.5625,
            194624.984375,
            4880.0,
            347565.78125,
            39040.0,
            219072.8125,
        ];
        assert_close(&counts.features(&A100), &expected);
        assert_close(&[counts.sum_cycle(&A100)], &[516266.6666666667]);
    }

    #[test]
    fn paged_decode_splits_kv() {
        let cached = [4097, 2000, 1500, 8000, 3333, 1234, 100, 6000].map(|kv| (1, kv - 1));
        let counts = fa2(&attention(&cached, 40, 8, 128), Layout::Paged, &A100);
        let expected = [
            1816657920.0,
            8213.3330078125,
            19464192.0,
            9504.0,
            11283840.0,
            6530.0,
            115744.0,
            7234.0,
            54624.0,
            36022.7578125,
            22705.361328125,
            584.0,
            41593.94140625,
            4672.0,
            26216.91015625,
        ];
        assert_close(&counts.features(&A100), &expected);
        assert_close(&[counts.sum_cycle(&A100)], &[8213.333333333334]);
    }

    #[test]
    fn small_heads_on_ada() {
        let counts = fa2(&attention(&[(2048, 0)], 28, 4, 64), Layout::Ragged, &L20);
        assert_close(&counts.features(&L20)[..3], &[16055795712.0, 338216.125, 248709120.0]);
        assert_close(&[counts.sum_cycle(&L20)], &[338216.12133468146]);
    }

    #[test]
    fn tiles_of_head_size_128() {
        // Prefill and decode on parts of 164, 228 and 100 KiB shared memory.
        let of = |rows, record: &Record| kv_tokens(rows, 128, record.smem_bytes());
        assert_eq!([of(128, &A100), of(128, &H800), of(128, &A40)], [64, 64, 32]);
        assert_eq!([of(16, &A100), of(16, &H800), of(16, &A40)], [128, 192, 64]);
    }

    /// Every thread block put where the rule says, one at a time.
    fn one_by_one(attention: &Attention, plan: &Plan, sms: usize) -> Vec<Load> {
        let mut loads = vec![Load::default(); sms];
        let mut next = 0;
        for group in &attention.sequences {
            let chunks = kv_len(group).max(1).div_ceil(plan.chunk);
            let tiles = (group.new * group_size(attention)).div_ceil(plan.rows);
            for _ in 0..group.count {
                for run in runs(group, plan, group_size(attention), attention.kv_heads) {
                    for head in 0..attention.kv_heads {
                        let block = (next + run.offset + head) as usize;
                        let sm = if block < 2 * sms { block % sms } else { block % (2 * sms) / 2 };
                        loads[sm] += Load { tasks: 1.0, iterations: run.iterations as f64 };
                    }
                }
                next += tiles * chunks * attention.kv_heads;
            }
        }
        loads
    }

    #[test]
    fn placing_runs_equals_placing_blocks() {
        for (count, new, past) in [(1, 3000, 0), (3, 517, 1000), (700, 1, 900), (1000, 130, 5), (433, 40, 0)]
        {
            for kv_heads in [1, 8, 300] {
                let mut attention = attention(&[(64, 2000)], 2 * kv_heads, kv_heads, 128);
                attention.sequences.push(Sequences { count, new, past });
                attention.sequences.push(Sequences { count: 2, new: 9, past: 70 });
                for layout in [Layout::Ragged, Layout::Paged] {
                    let plan = plan(&attention, layout, &A100).expect("there is work");
                    let mut slots = Slots::new(108);
                    for group in &attention.sequences {
                        slots.place(group, &plan, &attention);
                    }
                    assert_eq!(slots.loads(), one_by_one(&attention, &plan, 108));
                }
            }
        }
    }

    #[test]
    fn no_tokens_no_work() {
        let nothing = AttentionCounts::default();
        for (sequences, heads, kv_heads, head_dim) in [
            (&[][..], 8, 1, 128),
            (&[(0, 0), (0, 70)][..], 8, 1, 128),
            (&[(9, 0)][..], 0, 0, 128),
            (&[(9, 0)][..], 1, 2, 128),
            (&[(9, 0)][..], 8, 1, 0),
        ] {
            let attention = attention(sequences, heads, kv_heads, head_dim);
            assert_eq!(fa2(&attention, Layout::Paged, &A100), nothing);
            assert_eq!(fa2(&attention, Layout::Ragged, &A100), nothing);
        }
    }
}
