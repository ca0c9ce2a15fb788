//! Tokens on their way to the clients. A request's times include their queue; intervals between its tokens do not.

use crate::units::larger;

/// The API server's event loop, which sends one token after another, those of a step after those of the steps before it, and
/// takes new requests in between.
#[derive(Debug, Clone, Copy)]
pub(in crate::serving::sim) struct Stream {
    /// Seconds a token takes.
    seconds: f64,
    /// Whether tokens of a step wait for those of earlier ones.
    queues: bool,
    /// When everything so far has been sent.
    free: f64,
    /// When everything before the last step's tokens has been.
    before: f64,
    /// When the last step ends, or ended.
    last: f64,
}

impl Stream {
    pub fn new(seconds: f64, queues: bool) -> Self {
        Self { seconds, queues, free: 0.0, before: 0.0, last: 0.0 }
    }

    /// When the tokens of a step that ends at `end` begin to be sent.
    pub fn begin(&self, end: f64) -> f64 {
        if self.queues { larger(self.free, end) } else { end }
    }

    /// When a token of a step that ends at `end` with `tokens` has been sent: on average half of the others go before it.
    pub fn sent(&self, end: f64, tokens: u32) -> f64 {
        self.begin(end) + self.seconds * (f64::from(tokens) + 1.0) / 2.0
    }

    /// When the tokens that exist at `time` have been sent.
    pub fn free(&self, time: f64) -> f64 {
        if time < self.last { self.before } else { self.free }
    }

    /// Sends the tokens of `steps`, the first of which ends at `end` and each of the others `apart` later; each has `tokens`.
    pub fn send(&mut self, end: f64, apart: f64, steps: u64, tokens: u32) {
        let step = self.seconds * f64::from(tokens);
        let ends = |count: u64| end + apart * (count - 1) as f64;
        let begin = self.begin(end);
        // Either the queue never runs empty, or only the last step's tokens are left.
        let sent = |count: u64| {
            let alone = ends(count) + step;
            if self.queues { larger(begin + step * count as f64, alone) } else { alone }
        };
        self.before = if steps > 1 { sent(steps - 1) } else { self.free };
        self.free = sent(steps);
        self.last = ends(steps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_together_take_as_long_as_one_by_one() {
        let cases = [(0.0, 1.0, 1), (0.0, 1.0, 4), (5.0, 1.0, 2), (3.0, 1.0, 3), (40.0, 1.0, 2)];
        for ((queued, apart, tokens), queues) in
            cases.into_iter().flat_map(|case| [(case, true), (case, false)])
        {
            let empty = Stream { free: queued, ..Stream::new(0.4, queues) };
            let (mut together, mut each) = (empty, empty);
            together.send(2.0, apart, 9, tokens);
            (0..9).for_each(|step| each.send(2.0 + apart * f64::from(step), 0.0, 1, tokens));
            for (one, other) in [(together.free, each.free), (together.before, each.before)] {
                assert!((one - other).abs() < 1e-9, "{together:?} {each:?}");
            }
        }
    }
}
