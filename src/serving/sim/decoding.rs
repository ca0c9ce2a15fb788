//! The decoding sequences of one micro-batch on one rank. All gain the same number of tokens per step, so
//! per-sequence state is kept relative to a common position, and a step costs the same for any number of them.

use std::collections::VecDeque;

use super::Gaps;
use super::queue::insert;
use super::request::RequestState;

/// One sequence.
#[derive(Debug, Clone, Copy)]
struct Sequence {
    /// Position at which it has finished.
    end: u64,
    id: u32,
    /// KV length minus position.
    offset: i64,
}

impl Sequence {
    fn of(id: u32, request: &RequestState) -> Self {
        let end = request.joined_at + u64::from(request.left());
        Self { end, id, offset: i64::from(request.fill) - request.joined_at as i64 }
    }

    fn key(&self) -> (u64, u32) {
        (self.end, self.id)
    }
}

/// The remaining work of a sequence, and its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Remaining {
    pub id: u32,
    /// Tokens to produce.
    pub left: u64,
    /// Tokens in the KV cache.
    pub held: u64,
}

#[derive(Debug)]
pub(super) struct DecodeBatch {
    /// Tokens gained by a sequence present from the start.
    pub position: u64,
    /// Modulo the block size.
    phase: usize,
    pub count: u32,
    /// Sorted by end, earliest first.
    sequences: VecDeque<Sequence>,
    steps: u64,
    per_step: f64,
    /// Sums of the sequences' offsets and ends.
    offsets: i64,
    ends: u64,
    /// Sequences by that difference modulo the block size.
    phases: Vec<u32>,
    /// Sequences grouped by the time of their last token.
    cohorts: Vec<(f64, u32)>,
    last: f64,
}

impl DecodeBatch {
    pub fn new(block: u32, per_step: f64) -> Self {
        Self {
            position: 0,
            phase: 0,
            count: 0,
            sequences: VecDeque::new(),
            steps: 0,
            per_step,
            offsets: 0,
            ends: 0,
            phases: vec![0; block.max(1) as usize],
            cohorts: Vec::new(),
            last: 0.0,
        }
    }

    /// Tokens each sequence gains in the next `steps`: accepted drafts follow the mean.
    pub fn gain(&self, steps: u64) -> u64 {
        if self.per_step == 1.0 {
            return steps;
        }
        ((self.steps + steps) as f64 * self.per_step) as u64 - self.position
    }

    /// Whether no sequence ends in the next `steps`.
    pub fn goes_on(&self, steps: u64) -> bool {
        let position = self.position + self.gain(steps);
        self.sequences.front().is_none_or(|sequence| sequence.end > position)
    }

    /// Steps in which a sequence gains about this many tokens.
    pub fn steps_for(&self, tokens: u64) -> u64 {
        if self.per_step == 1.0 { tokens } else { (tokens as f64 / self.per_step) as u64 }
    }

    /// Approximate number of steps before the one in which the first sequence ends.
    pub fn steps_left(&self) -> u64 {
        let left = |sequence: &Sequence| sequence.end.saturating_sub(self.position + 1);
        self.steps_for(self.sequences.front().map_or(u64::MAX, left))
    }

    /// Mean tokens in the KV cache per sequence.
    pub fn mean_length(&self) -> u64 {
        self.kv() / u64::from(self.count.max(1))
    }

    /// KV tokens of all sequences.
    pub fn kv(&self) -> u64 {
        (self.offsets + (u64::from(self.count) * self.position) as i64).max(0) as u64
    }

    /// KV tokens of a sequence decoding here.
    pub fn kv_of(&self, request: &RequestState) -> u64 {
        u64::from(request.fill) + (self.position - request.joined_at)
    }

    /// Tokens that such a sequence has produced.
    pub fn generated(&self, request: &RequestState) -> u32 {
        let gained = (self.position - request.joined_at).min(u64::from(request.left()));
        request.generated + gained as u32
    }

    /// KV blocks needed for the next `gain` tokens of every sequence.
    pub fn blocks_for(&self, gain: u64) -> u64 {
        let block = self.phases.len();
        let gain = gain as usize;
        let (rounds, rest) = (gain / block, gain % block);
        // Sequences of this phase need a block for the next token, those of the one below for the token after it, and so on
        // around the end.
        let next = if self.phase > 0 { block - self.phase } else { 0 };
        let below = &self.phases[(next + 1).saturating_sub(rest)..=next];
        let around = &self.phases[block - rest.saturating_sub(next + 1)..];
        let begun = below.iter().sum::<u32>() + around.iter().sum::<u32>();
        rounds as u64 * u64::from(self.count) + u64::from(begun)
    }

    pub fn join(&mut self, id: u32, request: &mut RequestState) {
        request.decoding = true;
        request.joined_at = self.position;
        let sequence = Sequence::of(id, request);
        insert(&mut self.sequences, sequence, |other| other.key() < sequence.key());
        self.place(sequence, 1);
        match self.cohorts.iter_mut().find(|cohort| cohort.0.total_cmp(&request.last).is_eq()) {
            Some(cohort) => cohort.1 += 1,
            None => self.cohorts.push((request.last, 1)),
        }
    }

    /// Removes a sequence before its end, recording its progress.
    pub fn leave(&mut self, id: u32, request: &mut RequestState) {
        let last = if request.joined_at == self.position { request.last } else { self.last };
        if let Some(cohort) = self.cohorts.iter_mut().find(|cohort| cohort.0.total_cmp(&last).is_eq()) {
            cohort.1 -= 1;
        }
        let sequence = Sequence::of(id, request);
        if let Ok(index) = self.sequences.binary_search_by_key(&sequence.key(), Sequence::key) {
            self.sequences.remove(index);
            self.place(sequence, -1);
        }
        request.generated = self.generated(request);
        request.last = last;
        request.decoding = false;
    }

    /// Ends `steps` in which all sequences decoded, the first of them at `first` and the others `seconds` apart.
    pub fn advance(&mut self, steps: u64, first: f64, seconds: f64, gaps: &mut Gaps) {
        for &(last, count) in &self.cohorts {
            gaps.add(first - last, count.into());
        }
        let others = steps - 1;
        gaps.add(seconds, u64::from(self.count) * others);
        self.last = first + seconds * others as f64;
        self.cohorts.clear();
        self.cohorts.push((self.last, self.count));
        let gain = self.gain(steps);
        self.position += gain;
        self.phase = (self.phase + gain as usize) % self.phases.len();
        self.steps += steps;
    }

    /// Removes and returns the next finished sequence.
    pub fn pop_ended(&mut self, requests: &mut [RequestState]) -> Option<u32> {
        let sequence = self.sequences.pop_front_if(|sequence| sequence.end <= self.position)?;
        self.place(sequence, -1);
        if let Some(cohort) = self.cohorts.first_mut() {
            cohort.1 -= 1;
        }
        requests[sequence.id as usize].decoding = false;
        Some(sequence.id)
    }

    /// Remaining tokens of all sequences.
    pub fn left(&self) -> u64 {
        self.ends - u64::from(self.count) * self.position
    }

    /// Remaining tokens of the sequence that ends last.
    pub fn longest_left(&self) -> u64 {
        self.sequences.back().map_or(0, |sequence| sequence.end - self.position)
    }

    /// Remaining tokens of all sequences, counting at most `most` for each.
    pub fn left_within(&self, most: f64) -> f64 {
        match self.longest_left() as f64 <= most {
            true => self.left() as f64,
            false => self.remaining().map(|one| (one.left as f64).min(most)).sum(),
        }
    }

    /// The sequences, earliest end first.
    pub fn remaining(&self) -> impl Iterator<Item = Remaining> {
        self.sequences.iter().map(|sequence| Remaining {
            id: sequence.id,
            left: sequence.end - self.position,
            held: (sequence.offset + self.position as i64) as u64,
        })
    }

    fn place(&mut self, sequence: Sequence, by: i64) {
        self.offsets += by * sequence.offset;
        self.ends = self.ends.wrapping_add_signed(by * sequence.end as i64);
        let index = sequence.offset.rem_euclid(self.phases.len() as i64) as usize;
        let phase = &mut self.phases[index];
        *phase = phase.saturating_add_signed(by as i32);
        self.count = self.count.saturating_add_signed(by as i32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with blocks and tokens counted one by one.
    #[test]
    fn blocks_and_tokens_are_those_counted_one_by_one() {
        let mut batch = DecodeBatch::new(4, 1.0);
        let mut requests: Vec<RequestState> = [5, 8, 11].map(|prompt| RequestState::new(prompt, 100)).into();
        let mut lengths: Vec<u64> = Vec::new();
        let mut gaps = Gaps::default();
        for step in 0..20u32 {
            if step % 3 == 0 && lengths.len() < requests.len() {
                let id = lengths.len();
                requests[id].generated = 1;
                batch.join(id as u32, &mut requests[id]);
                lengths.push(u64::from(requests[id].fill));
            }
            let blocks = |lengths: &[u64]| lengths.iter().map(|length| length.div_ceil(4)).sum::<u64>();
            let before = blocks(&lengths);
            assert_eq!(batch.kv(), lengths.iter().sum::<u64>());
            for gain in 0..11 {
                let later: Vec<u64> = lengths.iter().map(|length| length + gain).collect();
                assert_eq!(batch.blocks_for(gain), blocks(&later) - before, "step {step}, {gain} tokens");
            }
            batch.advance(1, f64::from(step), 0.0, &mut gaps);
            lengths.iter_mut().for_each(|length| *length += 1);
        }
    }

    #[test]
    fn accepted_drafts_add_up() {
        let mut batch = DecodeBatch::new(1, 1.7);
        let mut gaps = Gaps::default();
        for step in 0..1000 {
            assert!((1..=2).contains(&batch.gain(1)));
            batch.advance(1, f64::from(step), 0.0, &mut gaps);
        }
        assert_eq!(batch.position, 1700);
    }
}
