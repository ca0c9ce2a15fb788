//! Named features: a name and how it is computed stand in one line, so they cannot drift apart.

/// One feature of `T`.
pub type Term<T> = (&'static str, fn(&T) -> f64);

/// Ratios are floored here before their logarithm is taken: what is a thousand times shorter than the
/// reference does not matter, however short it is.
const NEGLIGIBLE: f64 = 1e-3;

pub fn names<T>(terms: &[Term<T>]) -> impl Iterator<Item = &'static str> + '_ {
    terms.iter().map(|(name, _)| *name)
}

pub fn values<'a, T>(terms: &'a [Term<T>], of: &'a T) -> impl Iterator<Item = f32> + 'a {
    terms.iter().map(move |(_, value)| value(of) as f32)
}

/// Natural logarithm of `part` over `whole`, flattened below a thousandth.
pub fn ln_share(part: f64, whole: f64) -> f64 {
    (part / whole + NEGLIGIBLE).ln()
}

/// How much longer `tasks` equal tasks take on `slots` slots than if they divided evenly, as a logarithm.
pub fn ln_rounding(tasks: f64, slots: f64) -> f64 {
    ((tasks / slots).ceil() * slots / tasks).ln()
}

/// 1 where the condition holds.
pub fn flag(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_up_to_full_waves() {
        assert_eq!(ln_rounding(132.0, 132.0), 0.0);
        assert!((ln_rounding(133.0, 132.0) - (264.0f64 / 133.0).ln()).abs() < 1e-12);
    }

    #[test]
    fn negligible_shares_are_alike() {
        assert!((ln_share(1e-9, 1.0) - ln_share(1e-7, 1.0)).abs() < 1e-3);
        assert!((ln_share(1.0, 1.0)).abs() < 1e-2);
    }
}
