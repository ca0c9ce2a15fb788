//! Dealing tasks to the SM that has least to do, with the list fixed before the launch.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::attention::Load;

/// One q tile of one head.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    /// What the scheduler believes it takes, in its own units.
    pub cost: u64,
    /// Steps over KV tiles; a task without any counts as cost only.
    pub iterations: u64,
}

/// `count` requests, each with these tasks in this order.
pub(super) type Requests = (u64, Vec<Task>);

/// Deals the tasks of all requests, once per head, each to the SM with the least cost so far; ties go
/// to the lower index. Time: tasks dealt times the logarithm of the SMs.
pub(super) fn deal(heads: u64, requests: &[Requests], sms: u64) -> Vec<Load> {
    let mut loads = vec![Load::default(); sms as usize];
    let mut queue: BinaryHeap<Reverse<(u64, usize)>> = (0..loads.len()).map(|sm| Reverse((0, sm))).collect();
    for _ in 0..heads {
        for (count, tasks) in requests {
            for task in (0..*count).flat_map(|_| tasks) {
                let Some(mut least) = queue.peek_mut() else { return loads };
                let Reverse((cost, sm)) = &mut *least;
                *cost = cost.saturating_add(task.cost);
                if task.iterations > 0 {
                    loads[*sm] += Load { tasks: 1.0, iterations: task.iterations as f64 };
                }
            }
        }
    }
    loads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_loaded_first_lower_index_on_ties() {
        let tasks = [5, 3, 1, 1, 7].map(|cost| Task { cost, iterations: cost }).to_vec();
        // 5 | 3, then 1 and 1 to the second, and 7 to the first, as 5 ties with 5.
        let iterations: Vec<f64> = deal(1, &[(1, tasks)], 2).iter().map(|load| load.iterations).collect();
        assert_eq!(iterations, [12.0, 5.0]);
    }
}
