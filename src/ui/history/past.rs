//! The configurations of a visit, in order.

use crate::ui::state::Visited;

/// Changes within this time are one: a slider being moved.
const ONE_CHANGE_MS: f64 = 700.0;
/// Changes within this time are one while a number is being typed.
const ONE_TEXT_MS: f64 = 3_000.0;
/// Most entries kept; older ones are forgotten.
const MOST: usize = 200;

#[derive(Debug, Default)]
pub struct Past {
    visited: Vec<Visited>,
    at: usize,
    changed: f64,
    /// The field being typed into at that time; empty if none.
    field: String,
}

impl Past {
    /// Records that `now` is current and `field` is being typed into; empty if none.
    pub fn note(&mut self, now: Visited, field: &str, now_ms: f64) {
        let held = |at: Option<usize>| at.and_then(|at| self.visited.get(at)) == Some(&now);
        if held(Some(self.at)) {
            return;
        }
        // The browser's own back and forward.
        if held(self.at.checked_sub(1)) {
            self.at -= 1;
            return;
        }
        if held(self.at.checked_add(1)) {
            self.at += 1;
            return;
        }
        let is_typed = !field.is_empty() && field == self.field;
        let pause = if is_typed { ONE_TEXT_MS } else { ONE_CHANGE_MS };
        let goes_on = now_ms - self.changed < pause && self.at > 0 && self.at + 1 == self.visited.len();
        self.changed = now_ms;
        field.clone_into(&mut self.field);
        if goes_on {
            self.visited[self.at] = now;
            return;
        }
        self.visited.truncate(self.at + 1);
        self.visited.push(now);
        if self.visited.len() > MOST {
            self.visited.remove(0);
        }
        self.at = self.visited.len() - 1;
    }

    pub fn back(&mut self) -> Option<Visited> {
        self.go(self.at.checked_sub(1)?)
    }

    pub fn forth(&mut self) -> Option<Visited> {
        self.go(self.at + 1)
    }

    fn go(&mut self, to: usize) -> Option<Visited> {
        let visited = self.visited.get(to)?.clone();
        self.at = to;
        // The next one is a separate change.
        self.changed = 0.0;
        Some(visited)
    }

    pub fn has_before(&self) -> bool {
        self.at > 0
    }

    pub fn has_after(&self) -> bool {
        self.at + 1 < self.visited.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(link: &str) -> Visited {
        (link.into(), String::new())
    }

    #[test]
    fn a_number_being_typed_is_one_change_however_slowly() {
        let mut past = Past::default();
        past.note(of("v=1"), "", 0.0);
        for (link, at) in [("isl=4", 5_000.0), ("isl=40", 6_500.0), ("isl=409", 8_000.0)] {
            past.note(of(link), "isl", at);
        }
        assert_eq!(past.back(), Some(of("v=1")));
    }

    #[test]
    fn choices_a_second_apart_are_changes_of_their_own() {
        let mut past = Past::default();
        for (link, at) in [("v=1", 0.0), ("tp=2", 5_000.0), ("tp=4", 6_000.0)] {
            past.note(of(link), "", at);
        }
        assert_eq!(past.back(), Some(of("tp=2")));
    }

    #[test]
    fn a_dropped_trace_comes_back_and_a_change_beside_it_keeps_it() {
        let traced = |link: &str| (link.to_owned(), "Trace of 90 requests".to_owned());
        let mut past = Past::default();
        for (visited, at) in [
            (of("v=1"), 0.0),
            (traced("r=2"), 5_000.0),
            (traced("r=2&tp=2"), 10_000.0),
            (of("r=2&tp=2"), 15_000.0),
        ] {
            past.note(visited, "", at);
        }
        assert_eq!(past.back(), Some(traced("r=2&tp=2")));
        assert_eq!(past.back(), Some(traced("r=2")));
        assert_eq!(past.back(), Some(of("v=1")));
    }
}
