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

/// SMs in order of the cost given so far; ties go to the lower index.
pub(super) struct Greedy {
    queue: BinaryHeap<Reverse<(u64, usize)>>,
    loads: Vec<Load>,
}

impl Greedy {
    pub fn new(sms: u64) -> Self {
        let sms = sms as usize;
        Self { queue: (0..sms).map(|sm| Reverse((0, sm))).collect(), loads: vec![Load::default(); sms] }
    }

    /// Logarithmic in the number of SMs.
    pub fn give(&mut self, task: Task) {
        let Some(mut least) = self.queue.peek_mut() else { return };
        let Reverse((cost, sm)) = &mut *least;
        *cost = cost.saturating_add(task.cost);
        if task.iterations > 0 {
            self.loads[*sm] += Load { tasks: 1.0, iterations: task.iterations as f64 };
        }
    }

    pub fn loads(self) -> Vec<Load> {
        self.loads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_loaded_first_lower_index_on_ties() {
        let mut greedy = Greedy::new(2);
        for cost in [5, 3, 1, 1, 7] {
            greedy.give(Task { cost, iterations: cost });
        }
        // 5 | 3, then 1 and 1 to the second, and 7 to the first, as 5 ties with 5.
        let iterations: Vec<f64> = greedy.loads().iter().map(|load| load.iterations).collect();
        assert_eq!(iterations, [12.0, 5.0]);
    }
}
