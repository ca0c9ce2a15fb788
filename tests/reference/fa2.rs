//! FlashAttention-2 as FlashInfer plans it: all prefill off Hopper, and decode everywhere.

use rooflight::kernels::reference::Record;
use rooflight::kernels::{Attention, Sequences};

use super::attention::{KvLayout, Linear, SmLoad, counts, kv_len, total};
use super::counts::AttentionCounts;

/// Thread blocks that one SM holds at once.
const SLOTS_PER_SM: u64 = 2;
/// Tensor work done per useful FLOP: one instruction in 32 sums the rows for the softmax.
const FLOPS_FACTOR: f64 = 33.0 / 32.0;

/// Counts of causal bf16 attention over `attention.sequences`. Time: the thread blocks of one KV
/// head, of every sequence.
pub fn fa2(attention: &Attention, layout: KvLayout, record: &Record) -> AttentionCounts {
    let Some(plan) = Plan::of(attention, layout, record) else { return AttentionCounts::default() };
    // Quirk: exponentials and rescaling of 128 query rows, whatever the tile.
    let xu = Linear { task: 128.0 * 128.0 + plan.rows as f64, iteration: 36.0 * 128.0 };
    counts(
        &plan.place(attention, record.sm_count()),
        [plan.rows, plan.tokens],
        attention.head_dim,
        FLOPS_FACTOR,
        xu,
    )
}

const BF16_BYTES: u64 = 2;
/// Rows or columns of one tensor-core instruction.
const MMA: u64 = 16;
/// 32-bit registers that accumulators and fragments of one thread must stay below.
const REGISTERS: u64 = 256;

/// Fixed by the totals of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plan {
    /// Query heads per KV head, packed together as rows.
    group: u64,
    kv_heads: u64,
    /// Query rows of a thread block.
    rows: u64,
    /// KV tokens of one step.
    tokens: u64,
    /// KV tokens that one thread block covers at most.
    chunk: u64,
}

/// Thread blocks of one request in order: q tiles, in each the chunks of KV, and for each pair as many
/// equal blocks as there are KV heads.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Split {
    /// Thread blocks, those without work included.
    blocks: u64,
    /// Runs that have work.
    runs: Vec<Run>,
}

/// Equal thread blocks in a row, one per KV head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    /// Thread blocks of the request before these.
    offset: u64,
    /// Steps over KV tiles.
    iterations: u64,
}

impl Plan {
    /// None if there are no requests, heads or elements.
    fn of(attention: &Attention, layout: KvLayout, record: &Record) -> Option<Self> {
        let Attention { kv_heads, head_dim, .. } = *attention;
        let group = attention.heads.checked_div(kv_heads)?;
        let requests = total(&attention.sequences, |group| group.count);
        if group == 0 || requests == 0 || head_dim == 0 {
            return None;
        }
        let queries = total(&attention.sequences, |group| group.count.saturating_mul(group.new));
        let rows = query_rows(queries.saturating_mul(group) / requests, head_dim);
        let tokens = kv_tokens(rows, head_dim, (record.smem_kib * 1024.0) as u64);
        let unsplit = Self { group, kv_heads, rows, tokens, chunk: u64::MAX };
        Some(Self { chunk: unsplit.smallest_chunk(attention, layout, record), ..unsplit })
    }

    /// Q tiles and KV chunks of one request.
    fn tiles_and_chunks(&self, sequences: &Sequences) -> (u64, u64) {
        let tiles = sequences.new.saturating_mul(self.group).div_ceil(self.rows);
        (tiles, kv_len(sequences).max(1).div_ceil(self.chunk))
    }

    fn split(&self, sequences: &Sequences) -> Split {
        let (tiles, chunks) = self.tiles_and_chunks(sequences);
        let kv = kv_len(sequences);
        let run = |tile: u64, chunk: u64| {
            let rows = (tile + 1).saturating_mul(self.rows);
            let visible = sequences.past.saturating_add(rows.div_ceil(self.group));
            let start = chunk * self.chunk;
            let length = (kv - start).min(self.chunk).min(visible.saturating_sub(start));
            let offset = (tile * chunks + chunk).saturating_mul(self.kv_heads);
            Run { offset, iterations: length.div_ceil(self.tokens) }
        };
        let pairs = (0..tiles).flat_map(|tile| (0..chunks).map(move |chunk| (tile, chunk)));
        let runs = pairs.map(|(tile, chunk)| run(tile, chunk)).filter(|run| run.iterations > 0);
        let blocks = tiles.saturating_mul(chunks).saturating_mul(self.kv_heads);
        Split { blocks, runs: runs.collect() }
    }

    /// What lies on each SM. The reference simulates two slots per SM; what it ends up recording is, for the first two
    /// blocks per SM, block i on SM i mod S, and for every later block i slot i mod 2S, which is SM slot div 2.
    fn place(&self, attention: &Attention, sms: u64) -> Vec<SmLoad> {
        let slots = SLOTS_PER_SM * sms;
        let mut loads = vec![SmLoad::default(); sms as usize];
        let mut next = 0u64;
        for group in &attention.sequences {
            let split = self.split(group);
            for _ in 0..group.count {
                for run in &split.runs {
                    for block in (0..self.kv_heads).map(|head| next + run.offset + head) {
                        let sm = if block < slots { block % sms } else { block % slots / SLOTS_PER_SM };
                        loads[sm as usize] += SmLoad { tasks: 1.0, iterations: run.iterations as f64 };
                    }
                }
                next = next.saturating_add(split.blocks);
            }
        }
        loads
    }

    /// The smallest KV chunk for which all (q tile, chunk) pairs fit on the GPU at once, and no
    /// smaller than a bound. Quirk: for pages the bound of 128 tokens is divided by the page size, as
    /// if KV were counted in pages, but it is counted in tokens.
    fn smallest_chunk(&self, attention: &Attention, layout: KvLayout, record: &Record) -> u64 {
        const MIN_CHUNK: u64 = 128;
        const PAGE: u64 = 16;
        let room = SLOTS_PER_SM * record.sm_count() / self.kv_heads;
        let fits = |chunk: u64| {
            let pairs = |sequences: &Sequences| {
                let (tiles, chunks) = Self { chunk, ..*self }.tiles_and_chunks(sequences);
                sequences.count.saturating_mul(tiles).saturating_mul(chunks)
            };
            total(&attention.sequences, pairs) <= room
        };
        let mut low = match layout {
            KvLayout::Ragged => MIN_CHUNK,
            KvLayout::Paged => MIN_CHUNK / PAGE,
        };
        let mut high = attention.sequences.iter().map(kv_len).max().unwrap_or(0);
        while low < high {
            let middle = low + (high - low) / 2;
            if fits(middle) { high = middle } else { low = middle + 1 }
        }
        low
    }
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
    let two_fit = smem >= query_bytes.saturating_add(unit).saturating_mul(2);
    let fitting = (smem / if two_fit { 2 } else { 1 }).saturating_sub(query_bytes) / unit;

    let valid = |mma_kv: u64| {
        let registers = mma_d.saturating_add(mma_kv).saturating_mul(8 * mma_q);
        mma_d >= 4 && !(mma_d == 4 && mma_kv % 2 == 1) && registers < REGISTERS
    };
    let mma_kv = (1..=fitting.min(8 / mma_q)).rev().find(|&mma_kv| valid(mma_kv)).unwrap_or(1);
    MMA * mma_kv * warps_kv
}
