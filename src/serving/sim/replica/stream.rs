//! Tokens on their way to the clients. A request's times include their queue; intervals between its tokens do not.

use crate::units::larger;

/// The server's processes behind the scheduler, which send one token after another: those of a step wait for those of the
/// steps before.
#[derive(Debug, Clone, Copy)]
pub(in crate::serving::sim) struct Stream {
    /// Seconds a token takes.
    seconds: f64,
    /// When everything so far has been sent.
    free: f64,
}

impl Stream {
    pub fn new(seconds: f64) -> Self {
        Self { seconds, free: 0.0 }
    }

    /// When the tokens of a step that ends at `end` begin to be sent.
    pub fn begin(&self, end: f64) -> f64 {
        larger(self.free, end)
    }

    /// Sends the tokens of `steps`, the first of which ends at `end` and each of the others `apart` later; each has `tokens`.
    pub fn send(&mut self, end: f64, apart: f64, steps: u64, tokens: u32) {
        let step = self.seconds * f64::from(tokens);
        let others = steps.saturating_sub(1) as f64;
        // Either the queue never runs empty, or only the last step's tokens are left.
        let queued = self.begin(end) + step * (others + 1.0);
        self.free = larger(queued, end + apart * others + step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_together_take_as_long_as_one_by_one() {
        for (queued, apart, tokens) in
            [(0.0, 1.0, 1), (0.0, 1.0, 4), (5.0, 1.0, 2), (3.0, 1.0, 3), (40.0, 1.0, 2)]
        {
            let empty = Stream { seconds: 0.4, free: queued };
            let (mut together, mut each) = (empty, empty);
            together.send(2.0, apart, 9, tokens);
            (0..9).for_each(|step| each.send(2.0 + apart * f64::from(step), 0.0, 1, tokens));
            assert!((together.free - each.free).abs() < 1e-9, "{together:?} {each:?}");
        }
    }
}
