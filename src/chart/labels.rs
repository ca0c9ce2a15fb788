//! Collision-free labels: each tries positions around its point and is dropped if none is free. plotters has no
//! label placement.

/// An axis-parallel box in backing-store pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    pub fn around(x: f64, y: f64, radius: f64) -> Self {
        Self { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }
    }

    /// The place of the area nearest to another.
    pub fn nearest(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.left, self.right), y.clamp(self.top, self.bottom))
    }

    /// The area without this share of its width at each end.
    pub fn within(&self, share: f64) -> Self {
        let by = (self.right - self.left) * share;
        Self { left: self.left + by, right: self.right - by, ..*self }
    }

    pub fn distance(&self, (x, y): (f64, f64)) -> f64 {
        let (left, top) = self.nearest((x, y));
        (x - left).hypot(y - top)
    }

    /// Whether a line passes through it.
    pub fn is_crossed(&self, (x0, y0): (f64, f64), (x1, y1): (f64, f64)) -> bool {
        const POINTS: u32 = 32;
        let at = |share: f64| (x0 + share * (x1 - x0), y0 + share * (y1 - y0));
        (0..=POINTS).any(|point| self.distance(at(f64::from(point) / f64::from(POINTS))) == 0.0)
    }

    pub fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn holds(&self, other: &Self) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }
}

/// The space still free for labels.
#[derive(Debug)]
pub struct LabelSpace {
    frame: Area,
    taken: Vec<Area>,
    labels: Vec<Area>,
}

impl LabelSpace {
    pub fn new(frame: Area) -> Self {
        Self { frame, taken: Vec::new(), labels: Vec::new() }
    }

    /// The places claimed so far.
    pub fn labels(&self) -> &[Area] {
        &self.labels
    }

    /// Keeps labels off `area`.
    pub fn block(&mut self, area: Area) {
        self.taken.push(area);
    }

    /// Keeps labels off a line, as a row of boxes of `width`.
    pub fn block_line(&mut self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), width: f64) {
        let steps = ((x1 - x0).hypot(y1 - y0) / width).ceil().max(1.0);
        for step in 0..=steps as u32 {
            let share = f64::from(step) / steps;
            self.block(Area::around(x0 + share * (x1 - x0), y0 + share * (y1 - y0), width / 2.0));
        }
    }

    /// Claims the first free candidate.
    pub fn first_free(&mut self, candidates: impl IntoIterator<Item = Area>) -> Option<Area> {
        let free = candidates
            .into_iter()
            .find(|area| self.frame.holds(area) && !self.taken.iter().any(|taken| taken.overlaps(area)))?;
        self.taken.push(free);
        self.labels.push(free);
        Some(free)
    }

    /// Claims the first free position for a `width` x `height` label right of, left of, above or below the mark of
    /// `radius` at (`x`, `y`), and returns it, among those that `suits`.
    pub fn place(
        &mut self,
        (x, y): (f64, f64),
        radius: f64,
        (width, height): (f64, f64),
        suits: impl Fn(&Area) -> bool,
    ) -> Option<Area> {
        let gap = radius + height * 0.35;
        let at = |left: f64, top: f64| Area { left, top, right: left + width, bottom: top + height };
        let (beside, near) = (gap + width, gap * 0.7);
        let places = [
            at(x + gap, y - height / 2.0),
            at(x - beside, y - height / 2.0),
            at(x - width / 2.0, y + gap),
            at(x + near, y + near),
            at(x - near - width, y + near),
            at(x - width / 2.0, y - gap - height),
            at(x - near - width, y - near - height),
            at(x - width / 2.0, y + gap + height),
            at(x - near - width, y + near + height),
        ];
        self.first_free(places.into_iter().filter(suits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Area = Area { left: 0.0, top: 0.0, right: 200.0, bottom: 100.0 };

    #[test]
    fn labels_do_not_overlap_and_stay_inside() {
        let mut space = LabelSpace::new(FRAME);
        let first = space.place((100.0, 50.0), 5.0, (60.0, 12.0), |_| true).expect("an empty space has room");
        let second = space.place((102.0, 50.0), 5.0, (60.0, 12.0), |_| true).expect("the left side is free");
        assert!(!first.overlaps(&second));
        assert!(FRAME.holds(&first) && FRAME.holds(&second));
    }

    #[test]
    fn a_crowded_label_is_left_out() {
        let mut space = LabelSpace::new(FRAME);
        space.block(FRAME);
        assert_eq!(space.place((100.0, 50.0), 5.0, (60.0, 12.0), |_| true), None);
    }
}
