//! What one step of the engine processes.

/// `count` sequences, each with `new` tokens in this step after `past` tokens in the KV cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sequences {
    pub count: u64,
    pub new: u64,
    pub past: u64,
}

impl Sequences {
    /// One new token after a cached past: a decode step. Everything else is prefill.
    pub fn decodes(&self) -> bool {
        self.new == 1 && self.past > 0
    }
}

/// The sequences of one step; prefill chunks have `new > 1`, decoding ones `new == 1`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Batch {
    pub sequences: Vec<Sequences>,
}

impl Batch {
    /// One pass over whole prompts.
    pub fn prefill(prompts: &[u32]) -> Self {
        let mut sequences: Vec<Sequences> = Vec::new();
        for &length in prompts {
            let new = u64::from(length);
            match sequences.last_mut() {
                Some(last) if last.new == new => last.count += 1,
                _ => sequences.push(Sequences { count: 1, new, past: 0 }),
            }
        }
        Self { sequences }
    }

    /// One decode step of `count` sequences with `past` tokens each.
    pub fn decode(count: u64, past: u64) -> Self {
        Self { sequences: vec![Sequences { count, new: 1, past }] }
    }

    /// Both in one step.
    pub fn with(mut self, other: Self) -> Self {
        self.sequences.extend(other.sequences);
        self
    }

    /// Rows of the step's matrix products.
    pub fn tokens(&self) -> u64 {
        self.sequences.iter().map(|group| group.count * group.new).sum()
    }

    pub fn count(&self) -> u64 {
        self.sequences.iter().map(|group| group.count).sum()
    }
}
