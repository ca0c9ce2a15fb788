//! FlashAttention-3 as FlashInfer plans it: prefill on Hopper.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rooflight::kernels::reference::Record;
use rooflight::kernels::{Attention, Sequences};

use super::attention::{KvLayout, SmLoad, counts, kv_len, pipelined_softmax, total};
use super::counts::AttentionCounts;

/// Above this many q tiles the planner schedules one head and reuses its plan. Quirk: the reference
/// then counts that one head only.
const MAX_TASKS_PER_HEAD: u64 = 8192;

/// Query rows and KV tokens of one step, causal. The reference defines head sizes 64, 128 and from
/// 256 on; sizes between take the next larger one's.
fn tile(head_dim: u64, layout: KvLayout) -> [u64; 2] {
    match (layout, head_dim) {
        (KvLayout::Ragged, ..=64) => [192, 128],
        (KvLayout::Ragged, ..=128) => [128, 128],
        (KvLayout::Ragged, _) => [128, 64],
        (KvLayout::Paged, ..=64) => [192, 96],
        (KvLayout::Paged, ..=128) => [128, 96],
        (KvLayout::Paged, _) => [128, 32],
    }
}

/// Counts of causal bf16 attention over `attention.sequences`: for every query head, requests by
/// falling KV length and q tiles from last to first go to the SM with the least cost so far. KV is
/// loaded anew for every query head. Time: q tiles times heads times log SMs.
pub fn fa3(attention: &Attention, layout: KvLayout, record: &Record) -> AttentionCounts {
    let Attention { heads, head_dim, .. } = *attention;
    let tile = tile(head_dim, layout);
    let mut groups = attention.sequences.clone();
    groups.sort_by_key(|group| Reverse(kv_len(group)));
    let tokens = total(&groups, |group| group.count.saturating_mul(group.new));
    let requests = total(&groups, |group| group.count);
    let tasks = tokens.div_ceil(tile[0]).saturating_add(requests).saturating_sub(1);
    let scheduled_heads = if tasks > MAX_TASKS_PER_HEAD { heads.min(1) } else { heads };

    let requests: Vec<Requests> = groups.iter().map(|group| (group.count, causal(group, tile))).collect();
    let loads = place(scheduled_heads, &requests, record.sm_count());
    counts(&loads, tile, head_dim, 1.0, pipelined_softmax(tile))
}

/// The q tiles of one request, last first.
fn causal(group: &Sequences, [rows, tokens]: [u64; 2]) -> Vec<Task> {
    let kv = kv_len(group);
    (1..=group.new.div_ceil(rows))
        .rev()
        .map(|end| {
            let visible = end.saturating_mul(rows).saturating_add(group.past);
            let iterations = visible.min(kv).div_ceil(tokens);
            Task { cost: rows.saturating_mul(visible.min(kv)), iterations }
        })
        .collect()
}

/// One q tile of one head.
#[derive(Debug, Clone, Copy)]
struct Task {
    /// What the scheduler believes it takes, in its own units.
    cost: u64,
    /// Steps over KV tiles; a task without any counts as cost only.
    iterations: u64,
}

/// `count` requests, each with these tasks in this order.
type Requests = (u64, Vec<Task>);

/// Places the tasks of all requests, once per head, each to the SM with the least cost so far; ties go
/// to the lower index. Time: tasks placed times the logarithm of the SMs.
fn place(heads: u64, requests: &[Requests], sms: u64) -> Vec<SmLoad> {
    let mut loads = vec![SmLoad::default(); sms as usize];
    let mut queue: BinaryHeap<Reverse<(u64, usize)>> = (0..loads.len()).map(|sm| Reverse((0, sm))).collect();
    for _ in 0..heads {
        for (count, tasks) in requests {
            for task in (0..*count).flat_map(|_| tasks) {
                let Some(mut least) = queue.peek_mut() else { return loads };
                let Reverse((cost, sm)) = &mut *least;
                *cost = cost.saturating_add(task.cost);
                if task.iterations > 0 {
                    loads[*sm] += SmLoad { tasks: 1.0, iterations: task.iterations as f64 };
                }
            }
        }
    }
    loads
}
