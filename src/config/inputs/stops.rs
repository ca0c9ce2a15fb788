//! The stops of a slider.

/// The stops of a slider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stops {
    /// Powers of two.
    Doubling { low: u32, high: u32 },
    /// Four stops per octave: 1024, 1280, 1536, 1792, 2048.
    Quarters { low: u32, high: u32 },
    /// 1, 1.5, 2, 3, 5 and 7 times each power of ten from `low`, up to ten to the `high`.
    Decades { low: i32, high: i32 },
    /// Equal steps.
    Even { low: f64, high: f64, step: f64 },
}

impl Stops {
    /// All stops, ascending.
    pub fn values(self) -> Vec<f64> {
        match self {
            Self::Doubling { low, high } => {
                let doubled = std::iter::successors(Some(low), |value| value.checked_mul(2));
                doubled.take_while(|value| *value <= high).map(f64::from).collect()
            }
            Self::Quarters { low, high } => {
                let octaves = std::iter::successors(Some(low), |value| value.checked_mul(2));
                let octaves = octaves.take_while(|value| *value <= high);
                let mut stops: Vec<u32> =
                    octaves.flat_map(|value| (0..4).map(move |part| value + value * part / 4)).collect();
                stops.retain(|value| *value <= high);
                stops.dedup();
                stops.into_iter().map(f64::from).collect()
            }
            Self::Decades { low, high } => {
                let parts = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0];
                let decades = (low..high).map(|exponent| 10f64.powi(exponent));
                let mut stops: Vec<f64> =
                    decades.flat_map(|decade| parts.map(|part| round(part * decade))).collect();
                stops.push(10f64.powi(high));
                stops
            }
            Self::Even { low, high, step } => {
                let count = ((high - low) / step).round() as u32;
                (0..=count).map(|index| round(low + f64::from(index) * step)).collect()
            }
        }
    }

    /// The nearest stop to `value`: by ratio if stops grow geometrically, by distance if they are even.
    pub fn nearest(self, value: f64) -> usize {
        let even = matches!(self, Self::Even { .. });
        let key = |value: f64| if even { value } else { value.max(f64::MIN_POSITIVE).ln() };
        let distances = self.values().into_iter().map(|stop| (key(stop) - key(value)).abs()).enumerate();
        distances.min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(index, _)| index)
    }
}

/// Rounds away noise like 0.30000000000000004 before a visitor sees it.
pub fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
