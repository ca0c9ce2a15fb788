//! Rules by which new prompts wait for further prompts.

use super::Replica;

impl Replica<'_> {
    /// Whether new prompts wait for more of them.
    pub(super) fn hold(&mut self, micro: usize) -> bool {
        if let Some(wait) = self.policy.balance_wait.filter(|_| self.policy.ranks > 1) {
            let all_prompts = self.scheduled(micro).all(|rank| !rank.candidates.is_empty());
            let all_decode = self.scheduled(micro).all(|rank| rank.decoding > 0);
            let free_slots = self.scheduled(micro).all(|rank| rank.decoding < self.policy.slots());
            if all_prompts && free_slots {
                self.unbalanced = 0;
                let hold = all_decode && self.gathered < wait.gather;
                self.gathered = if hold { self.gathered + 1 } else { 0 };
                return hold;
            }
            self.unbalanced += 1;
            let hold = all_decode && self.unbalanced < wait.iterations;
            self.unbalanced = if hold { self.unbalanced } else { 0 };
            return hold;
        }
        let (Some(wait), [rank]) = (self.policy.batch_wait, self.ranks.as_slice()) else { return false };
        let scheduled = &rank.micro_batches[micro].scheduled;
        if scheduled.candidates.is_empty() || scheduled.decoding == 0 {
            return false;
        }
        let prompts = scheduled.candidates.iter().map(|candidate| candidate.1);
        let prompts: u64 = prompts.chain(scheduled.chunks.iter().map(|chunk| chunk.new)).map(u64::from).sum();
        let decode = u64::from(scheduled.decoding) * u64::from(self.policy.drafts.drafted + 1);
        if self.held >= wait.iterations || prompts + decode >= u64::from(wait.tokens) {
            self.held = 0;
            return false;
        }
        self.held += 1;
        true
    }
}
