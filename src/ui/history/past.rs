//! The configurations of a visit in their order.

/// Changes closer to each other are one: a slider being moved, a number being typed.
const ONE_CHANGE_MS: f64 = 700.0;
/// Older ones are forgotten.
const MOST: usize = 200;

#[derive(Debug, Default)]
pub struct Past {
    links: Vec<String>,
    at: usize,
    changed: f64,
}

impl Past {
    /// `link` stands now.
    pub fn note(&mut self, link: &str, now_ms: f64) {
        let held = |at: Option<usize>| at.and_then(|at| self.links.get(at)).is_some_and(|held| held == link);
        if held(Some(self.at)) {
            return;
        }
        // The browser's own way back and forth.
        if held(self.at.checked_sub(1)) {
            self.at -= 1;
            return;
        }
        if held(self.at.checked_add(1)) {
            self.at += 1;
            return;
        }
        let goes_on = now_ms - self.changed < ONE_CHANGE_MS && self.at > 0 && self.at + 1 == self.links.len();
        self.changed = now_ms;
        if goes_on {
            link.clone_into(&mut self.links[self.at]);
            return;
        }
        self.links.truncate(self.at + 1);
        self.links.push(link.to_owned());
        if self.links.len() > MOST {
            self.links.remove(0);
        }
        self.at = self.links.len() - 1;
    }

    pub fn back(&mut self) -> Option<String> {
        self.go(self.at.checked_sub(1)?)
    }

    pub fn forth(&mut self) -> Option<String> {
        self.go(self.at + 1)
    }

    fn go(&mut self, to: usize) -> Option<String> {
        let link = self.links.get(to)?.clone();
        self.at = to;
        // What comes next is a change of its own.
        self.changed = 0.0;
        Some(link)
    }

    pub fn has_before(&self) -> bool {
        self.at > 0
    }

    pub fn has_after(&self) -> bool {
        self.at + 1 < self.links.len()
    }
}
