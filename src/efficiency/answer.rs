//! What a plan asks of the models, and what they answer.

use std::collections::{BTreeMap, HashMap};

use crate::features::Family;

/// Feature rows of one family, row-major.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FamilyRows {
    /// Features per row.
    pub width: usize,
    pub values: Vec<f32>,
}

impl FamilyRows {
    pub fn count(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }
}

/// Feature rows by family, each distinct row once: the passes of a plan share most of their kernels.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    families: BTreeMap<Family, FamilyRows>,
    seen: HashMap<(Family, Vec<u32>), usize>,
}

impl Rows {
    /// The index of `row` among its family's rows, adding it where it is new.
    pub fn add(&mut self, family: Family, row: &[f32]) -> usize {
        let bits: Vec<u32> = row.iter().map(|value| value.to_bits()).collect();
        let rows = self.families.entry(family).or_default();
        rows.width = row.len();
        *self.seen.entry((family, bits)).or_insert_with(|| {
            rows.values.extend_from_slice(row);
            rows.count() - 1
        })
    }

    pub fn families(&self) -> &BTreeMap<Family, FamilyRows> {
        &self.families
    }
}

/// What a model says of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    pub ln_efficiency: f32,
    /// |ln(measured / predicted)| that 80 % of measurements of such calls stay within, on GPUs measured or
    /// not as this row's is. None where training did not calibrate it.
    pub ln_bound: Option<f32>,
    /// Whether a feature lies beyond all that the model was trained on.
    pub outside: bool,
}

impl Answer {
    /// Numbers that a message spends on an answer.
    pub const WIDTH: usize = 3;

    /// As numbers, for a message.
    pub fn to_numbers(self) -> [f32; Self::WIDTH] {
        let outside = if self.outside { 1.0 } else { 0.0 };
        [self.ln_efficiency, self.ln_bound.unwrap_or(f32::NAN), outside]
    }

    pub fn from_numbers([ln_efficiency, ln_bound, outside]: [f32; Self::WIDTH]) -> Self {
        Self {
            ln_efficiency,
            ln_bound: Some(ln_bound).filter(|bound| !bound.is_nan()),
            outside: outside > 0.0,
        }
    }
}

/// The models' answer to a plan's rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Learned {
    /// Release of the models.
    pub release: String,
    /// GPUs whose measurements trained each family.
    pub trained_on: BTreeMap<Family, Vec<String>>,
    /// One per row of the plan.
    pub answers: BTreeMap<Family, Vec<Answer>>,
}

/// What a plan is finished with.
#[derive(Debug, Clone, PartialEq)]
pub enum Efficiencies {
    /// Every kernel at its ideal.
    Roofline,
    Learned(Learned),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_survive_a_message() {
        for (ln_bound, outside) in [(Some(0.1), false), (None, true)] {
            let answer = Answer { ln_efficiency: -0.5, ln_bound, outside };
            assert_eq!(Answer::from_numbers(answer.to_numbers()), answer);
        }
    }

    #[test]
    fn equal_rows_are_asked_once() {
        let mut rows = Rows::default();
        assert_eq!(rows.add(Family::Gemm, &[1.0, 2.0]), 0);
        assert_eq!(rows.add(Family::Gemm, &[3.0, 2.0]), 1);
        assert_eq!(rows.add(Family::Gemm, &[1.0, 2.0]), 0);
        assert_eq!(rows.add(Family::AttentionDecode, &[1.0]), 0);
        assert_eq!(rows.families()[&Family::Gemm].count(), 2);
    }
}
