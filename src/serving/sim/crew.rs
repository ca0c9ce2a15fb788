//! The sequences of one rank and batch that decode: all gain the same tokens in each step, so what belongs
//! to one is kept relative to a common position, and a step costs the same for any number of them.

use std::collections::VecDeque;

use super::Gaps;
use super::job::Job;

/// One sequence.
#[derive(Debug, Clone, Copy)]
struct Member {
    /// Position at which it has all its tokens.
    end: u64,
    id: u32,
    /// KV length less position.
    offset: i64,
}

impl Member {
    fn of(id: u32, job: &Job) -> Self {
        let end = job.joined_at + u64::from(job.left());
        Self { end, id, offset: i64::from(job.fill) - job.joined_at as i64 }
    }

    fn key(&self) -> (u64, u32) {
        (self.end, self.id)
    }
}

/// What is still to come of a sequence, and what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Life {
    pub id: u32,
    /// Tokens to produce.
    pub left: u64,
    /// Tokens in the KV cache.
    pub held: u64,
}

#[derive(Debug)]
pub(super) struct Crew {
    /// Tokens that a sequence gained which was here from the beginning.
    pub position: u64,
    pub count: u32,
    /// Those that end first come first.
    members: VecDeque<Member>,
    steps: u64,
    per_step: f64,
    /// Sums of the members' offsets and ends.
    offsets: i64,
    ends: u64,
    /// Sequences by that difference, modulo the block.
    phases: Vec<u32>,
    /// Sequences by the time of their last token.
    cohorts: Vec<(f64, u32)>,
    last: f64,
}

impl Crew {
    pub fn new(block: u32, per_step: f64) -> Self {
        Self {
            position: 0,
            count: 0,
            members: VecDeque::new(),
            steps: 0,
            per_step,
            offsets: 0,
            ends: 0,
            phases: vec![0; block.max(1) as usize],
            cohorts: Vec::new(),
            last: 0.0,
        }
    }

    /// Tokens each sequence gains in the next step: drafts are accepted so that the mean is right.
    pub fn next_gain(&self) -> u64 {
        ((self.steps + 1) as f64 * self.per_step) as u64 - self.position
    }

    /// KV tokens of all sequences.
    pub fn kv(&self) -> u64 {
        (self.offsets + (u64::from(self.count) * self.position) as i64).max(0) as u64
    }

    /// KV tokens of a sequence that decodes here.
    pub fn kv_of(&self, job: &Job) -> u64 {
        u64::from(job.fill) + (self.position - job.joined_at)
    }

    /// Tokens such a sequence has produced.
    pub fn generated(&self, job: &Job) -> u32 {
        let gained = (self.position - job.joined_at).min(u64::from(job.left()));
        job.generated + gained as u32
    }

    /// KV blocks the next `gain` tokens of every sequence take.
    pub fn blocks_for(&self, gain: u64) -> u64 {
        let block = self.phases.len() as u64;
        let crossing = |token: u64| {
            let phase = (block - (self.position + token) % block) % block;
            u64::from(self.phases[phase as usize])
        };
        (0..gain).map(crossing).sum()
    }

    pub fn join(&mut self, id: u32, job: &mut Job) {
        job.decoding = true;
        job.joined_at = self.position;
        let member = Member::of(id, job);
        let index = self.members.partition_point(|other| other.key() < member.key());
        self.members.insert(index, member);
        self.place(member, 1);
        match self.cohorts.iter_mut().find(|cohort| cohort.0.total_cmp(&job.last).is_eq()) {
            Some(cohort) => cohort.1 += 1,
            None => self.cohorts.push((job.last, 1)),
        }
    }

    /// Takes a sequence out before its end; it remembers how far it came.
    pub fn leave(&mut self, id: u32, job: &mut Job) {
        let last = if job.joined_at == self.position { job.last } else { self.last };
        if let Some(cohort) = self.cohorts.iter_mut().find(|cohort| cohort.0.total_cmp(&last).is_eq()) {
            cohort.1 -= 1;
        }
        let member = Member::of(id, job);
        if let Ok(index) = self.members.binary_search_by_key(&member.key(), Member::key) {
            self.members.remove(index);
            self.place(member, -1);
        }
        job.generated = self.generated(job);
        job.last = last;
        job.decoding = false;
    }

    /// Ends a step in which all sequences decoded.
    pub fn advance(&mut self, end: f64, gaps: &mut Gaps) {
        for &(last, count) in &self.cohorts {
            gaps.add(end - last, count);
        }
        self.cohorts.clear();
        self.cohorts.push((end, self.count));
        self.position += self.next_gain();
        self.steps += 1;
        self.last = end;
    }

    /// The next sequence that has all its tokens, taken out of the crew.
    pub fn pop_ended(&mut self, jobs: &mut [Job]) -> Option<u32> {
        let member = self.members.pop_front_if(|member| member.end <= self.position)?;
        self.place(member, -1);
        if let Some(cohort) = self.cohorts.first_mut() {
            cohort.1 -= 1;
        }
        jobs[member.id as usize].decoding = false;
        Some(member.id)
    }

    /// Tokens still to come of all sequences.
    pub fn left(&self) -> u64 {
        self.ends - u64::from(self.count) * self.position
    }

    /// The sequences, those that end first before the others.
    pub fn lives(&self) -> impl Iterator<Item = Life> {
        self.members.iter().map(|member| Life {
            id: member.id,
            left: member.end - self.position,
            held: (member.offset + self.position as i64) as u64,
        })
    }

    fn place(&mut self, member: Member, by: i64) {
        self.offsets += by * member.offset;
        self.ends = self.ends.wrapping_add_signed(by * member.end as i64);
        let index = member.offset.rem_euclid(self.phases.len() as i64) as usize;
        let phase = &mut self.phases[index];
        *phase = phase.saturating_add_signed(by as i32);
        self.count = self.count.saturating_add_signed(by as i32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks and KV tokens, kept one by one.
    #[test]
    fn blocks_and_tokens_are_those_counted_one_by_one() {
        let mut crew = Crew::new(4, 1.0);
        let mut jobs: Vec<Job> = [5, 8, 11].map(|prompt| Job::new(prompt, 100)).into();
        let mut lengths: Vec<u64> = Vec::new();
        let mut gaps = Gaps::default();
        for step in 0..20u32 {
            if step % 3 == 0 && lengths.len() < jobs.len() {
                let id = lengths.len();
                jobs[id].generated = 1;
                crew.join(id as u32, &mut jobs[id]);
                lengths.push(u64::from(jobs[id].fill));
            }
            let blocks = |lengths: &[u64]| lengths.iter().map(|length| length.div_ceil(4)).sum::<u64>();
            let before = blocks(&lengths);
            assert_eq!(crew.kv(), lengths.iter().sum::<u64>());
            let predicted = crew.blocks_for(crew.next_gain());
            crew.advance(f64::from(step), &mut gaps);
            lengths.iter_mut().for_each(|length| *length += 1);
            assert_eq!(predicted, blocks(&lengths) - before, "step {step}");
        }
    }

    #[test]
    fn accepted_drafts_add_up() {
        let mut crew = Crew::new(1, 1.7);
        let mut gaps = Gaps::default();
        for step in 0..1000 {
            assert!((1..=2).contains(&crew.next_gain()));
            crew.advance(f64::from(step), &mut gaps);
        }
        assert_eq!(crew.position, 1700);
    }
}
