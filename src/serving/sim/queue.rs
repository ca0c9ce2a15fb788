//! Queues in ascending order.

use std::collections::VecDeque;

/// Inserts `item` after all that are `before` it, which mostly are all.
pub fn insert<T>(queue: &mut VecDeque<T>, item: T, before: impl Fn(&T) -> bool) {
    let is_last = queue.back().is_none_or(&before);
    let place = if is_last { queue.len() } else { queue.partition_point(before) };
    queue.insert(place, item);
}
