//! KV cache left on a rank by earlier turns of sessions.

use std::collections::{BTreeMap, VecDeque};

/// Whole blocks of finished turns. They stay until running sequences need the memory; the least recently used
/// session is evicted first, from its end.
#[derive(Debug, Default)]
pub(super) struct Prefixes {
    /// Blocks of each session, and the end of its last turn.
    kept: BTreeMap<u32, (u64, u64)>,
    /// Sessions by that time; entries of sessions used since are stale.
    order: VecDeque<(u64, u32)>,
    blocks: u64,
    ended: u64,
}

impl Prefixes {
    pub fn blocks_of(&self, session: Option<u32>) -> u64 {
        session.and_then(|session| self.kept.get(&session)).map_or(0, |kept| kept.0)
    }

    /// A turn of `session` has finished and leaves this many blocks.
    pub fn keep(&mut self, session: u32, blocks: u64) {
        self.take(session);
        self.ended += 1;
        self.blocks += blocks;
        self.kept.insert(session, (blocks, self.ended));
        self.order.push_back((self.ended, session));
    }

    /// The session continues: its blocks now belong to a running sequence.
    pub fn take(&mut self, session: u32) {
        self.blocks -= self.kept.remove(&session).map_or(0, |kept| kept.0);
    }

    /// Evicts down to `free` blocks.
    pub fn give_way(&mut self, free: u64) {
        while self.blocks > free
            && let Some(&(ended, session)) = self.order.front()
        {
            let Some(kept) = self.kept.get_mut(&session).filter(|kept| kept.1 == ended) else {
                self.order.pop_front();
                continue;
            };
            let given = kept.0.min(self.blocks - free);
            kept.0 -= given;
            self.blocks -= given;
            if kept.0 == 0 {
                self.kept.remove(&session);
                self.order.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_session_is_evicted_from_its_end() {
        let mut prefixes = Prefixes::default();
        [0, 1, 2].into_iter().for_each(|session| prefixes.keep(session, 10));
        prefixes.keep(0, 12);
        let kept = |prefixes: &Prefixes| [0, 1, 2].map(|session| prefixes.blocks_of(Some(session)));
        prefixes.give_way(40);
        assert_eq!(kept(&prefixes), [12, 10, 10]);
        prefixes.give_way(25);
        assert_eq!(kept(&prefixes), [12, 3, 10]);
        prefixes.take(2);
        prefixes.give_way(5);
        assert_eq!(kept(&prefixes), [5, 0, 0]);
        assert_eq!(prefixes.blocks_of(None), 0);
    }
}
