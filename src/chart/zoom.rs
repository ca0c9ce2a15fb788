//! The part of a chart that is shown.

/// The visible part of both axes, as fractions of their lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zoom {
    left: f64,
    bottom: f64,
    size: f64,
}

/// The smallest share of an axis.
const LEAST: f64 = 0.1;

impl Default for Zoom {
    fn default() -> Self {
        Self { left: 0.0, bottom: 0.0, size: 1.0 }
    }
}

impl Zoom {
    pub fn shows_all(self) -> bool {
        self.size >= 1.0
    }

    /// Magnified by this factor around a place, in fractions of the visible part from the lower left.
    #[must_use]
    pub fn by(self, factor: f64, (x, y): (f64, f64)) -> Self {
        let size = (self.size / factor).clamp(LEAST, 1.0);
        let cut = self.size - size;
        Self { left: self.left + cut * x, bottom: self.bottom + cut * y, size }.within()
    }

    /// Moved right and up, in fractions of the visible part.
    #[must_use]
    pub fn moved(self, (x, y): (f64, f64)) -> Self {
        Self { left: self.left + x * self.size, bottom: self.bottom + y * self.size, ..self }.within()
    }

    fn within(self) -> Self {
        let most = 1.0 - self.size;
        Self { left: self.left.clamp(0.0, most), bottom: self.bottom.clamp(0.0, most), ..self }
    }

    /// The ends of both axes, as fractions of their lengths.
    pub fn ends(self) -> [(f64, f64); 2] {
        [self.left, self.bottom].map(|low| (low, low + self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_zoomed_at_stays_and_nothing_leaves_the_chart() {
        let middle = (0.5, 0.5);
        let zoom = Zoom::default().by(2.0, middle);
        assert_eq!(zoom.ends(), [(0.25, 0.75), (0.25, 0.75)]);
        assert_eq!(zoom.moved((1.0, -0.25)).ends(), [(0.5, 1.0), (0.125, 0.625)]);
        assert_eq!(zoom.by(0.1, middle), Zoom::default());
        assert_eq!(Zoom::default().by(2.0, (0.0, 1.0)).ends(), [(0.0, 0.5), (0.5, 1.0)]);
        assert!(!zoom.by(1e3, middle).shows_all());
        assert!((zoom.by(1e3, middle).size - LEAST).abs() < 1e-12);
    }
}
