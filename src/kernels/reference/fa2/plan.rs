//! How FlashInfer cuts a batch into thread blocks, before anything is placed.

use super::super::{KvLayout, Record};
use super::SLOTS_PER_SM;
use crate::graph::{Attention, Sequences};

const BF16_BYTES: u64 = 2;
/// Rows or columns of one tensor-core instruction.
const MMA: u64 = 16;
/// 32-bit registers that accumulators and fragments of one thread must stay below.
const REGISTERS: u64 = 256;

/// Fixed by the totals of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Query heads per KV head, packed together as rows.
    pub group: u64,
    pub kv_heads: u64,
    /// Query rows of a thread block.
    pub rows: u64,
    /// KV tokens of one step.
    pub tokens: u64,
    /// KV tokens that one thread block covers at most.
    pub chunk: u64,
}

/// Thread blocks of one request in order: q tiles, in each the chunks of KV, and for each pair as many
/// equal blocks as there are KV heads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Thread blocks, those without work included.
    pub blocks: u64,
    /// Runs that have work.
    pub runs: Vec<Run>,
}

/// Equal thread blocks in a row, one per KV head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Thread blocks of the request before these.
    pub offset: u64,
    /// Steps over KV tiles.
    pub iterations: u64,
}

impl Plan {
    /// None where there are no requests, heads or elements.
    pub fn of(attention: &Attention, layout: KvLayout, record: &Record) -> Option<Self> {
        let Attention { kv_heads, head_dim, .. } = *attention;
        let group = attention.heads.checked_div(kv_heads)?;
        let requests = total(attention, |group| group.count);
        if group == 0 || requests == 0 || head_dim == 0 {
            return None;
        }
        let queries = total(attention, |group| group.count.saturating_mul(group.new));
        let rows = query_rows(queries.saturating_mul(group) / requests, head_dim);
        let tokens = kv_tokens(rows, head_dim, record.smem_bytes());
        let unsplit = Self { group, kv_heads, rows, tokens, chunk: u64::MAX };
        Some(Self { chunk: unsplit.smallest_chunk(attention, layout, record), ..unsplit })
    }

    /// Q tiles and KV chunks of one request.
    fn tiles_and_chunks(&self, sequences: &Sequences) -> (u64, u64) {
        let tiles = sequences.new.saturating_mul(self.group).div_ceil(self.rows);
        (tiles, kv_len(sequences).max(1).div_ceil(self.chunk))
    }

    pub fn cut(&self, sequences: &Sequences) -> Cut {
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
        Cut { blocks, runs: runs.collect() }
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
            total(attention, pairs) <= room
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

fn kv_len(sequences: &Sequences) -> u64 {
    sequences.past.saturating_add(sequences.new)
}

fn total(attention: &Attention, of: impl Fn(&Sequences) -> u64) -> u64 {
    attention.sequences.iter().map(of).fold(0, u64::saturating_add)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reference::fixtures::{A40, A100, H800, attention};

    #[test]
    fn tiles_of_head_size_128() {
        // Prefill and decode on parts of 164, 228 and 100 KiB shared memory.
        let of = |rows, record: &Record| kv_tokens(rows, 128, record.smem_bytes());
        assert_eq!([of(128, &A100), of(128, &H800), of(128, &A40)], [64, 64, 32]);
        assert_eq!([of(16, &A100), of(16, &H800), of(16, &A40)], [128, 192, 64]);
    }

    #[test]
    fn one_decoding_request_is_split_over_the_gpu() {
        // 216 slots for 8 KV heads: 27 chunks of 304 tokens cover 8192.
        let plan = Plan::of(&attention(&[(1, 8191)], 40, 8, 128), KvLayout::Paged, &A100);
        assert_eq!(plan, Some(Plan { group: 5, kv_heads: 8, rows: 16, tokens: 128, chunk: 304 }));
    }

    #[test]
    fn a_tile_sees_its_own_rows_and_the_past() {
        // 100 queries after 300 tokens, one head: two tiles of 64 rows see 364 and 400 tokens.
        let plan = Plan { group: 1, kv_heads: 2, rows: 64, tokens: 64, chunk: 256 };
        let cut = plan.cut(&Sequences { count: 1, new: 100, past: 300 });
        assert_eq!(cut.blocks, 8);
        let runs: Vec<_> = cut.runs.iter().map(|run| (run.offset, run.iterations)).collect();
        assert_eq!(runs, [(0, 4), (2, 2), (4, 4), (6, 3)]);
    }
}
