//! Probabilities as they are printed, and how far they are in doubt.

use super::format::fixed;

/// Probabilities beyond this print as "over".
const CERTAIN: f64 = 0.99;
/// From this probability on there is no doubt; at or below its complement it is called unlikely.
const LIKELY: f64 = 2.0 / 3.0;

/// A probability: `93 %`, `over 99 %`.
pub fn chance(probability: f64) -> String {
    let percent = |share: f64| fixed(100.0 * share, 0);
    match probability {
        confidence if confidence > CERTAIN => format!("over {} %", percent(CERTAIN)),
        confidence if confidence < 1.0 - CERTAIN => format!("under {} %", percent(1.0 - CERTAIN)),
        confidence => format!("{} %", percent(confidence)),
    }
}

/// Why a probability is not likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    Even,
    Unlikely,
}

/// What qualifies a probability; `None` if it is likely.
pub fn doubt(probability: f64) -> Option<Doubt> {
    match probability {
        likely if likely >= LIKELY => None,
        unlikely if unlikely <= 1.0 - LIKELY => Some(Doubt::Unlikely),
        _ => Some(Doubt::Even),
    }
}

/// A probability in tenths, for comparisons: a smaller difference should decide nothing.
pub fn tenths(probability: f64) -> u32 {
    (probability * 10.0).round() as u32
}

/// A probability before what it is of: `52 % likely`.
pub fn confidence(probability: f64) -> String {
    format!("{} likely", chance(probability))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_chances_that_are_not_likely_are_in_doubt() {
        assert_eq!([0.93, 0.52, 0.2].map(doubt), [None, Some(Doubt::Even), Some(Doubt::Unlikely)]);
    }

    #[test]
    fn nothing_is_certain() {
        assert_eq!([0.931, 0.999, 0.001].map(chance), ["93 %", "over 99 %", "under 1 %"]);
    }
}
