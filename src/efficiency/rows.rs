//! The calls of a plan and their feature rows.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{Answer, CallAnswer, Learned};
use crate::config::{Engine, Gpu, MissingFigure};
use crate::kernels::{Added, Family, Op, ServedVector};
use crate::units::{Bytes, Seconds, map_of};

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

/// The calls of a plan with their feature rows by family, deduplicated: passes share most kernels.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    families: BTreeMap<Family, FamilyRows>,
    seen: FxHashMap<(Family, Vec<u32>), usize>,
    /// `None` for calls that no model covers.
    calls: Vec<Option<CallRow>>,
    gpu: String,
    /// Nothing is asked, because the plan is finished with ideals.
    silent: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct CallRow {
    row: (Family, usize),
    in_service: Seconds,
    waits_for_host: bool,
    stretch: f64,
    added: Option<Added>,
}

impl Rows {
    /// For a plan that is only finished with ideals: no rows are added.
    pub fn none() -> Self {
        Self { silent: true, ..Self::default() }
    }

    /// Adds the call and returns its index. `stored` are the operand bytes not just written by earlier kernels.
    pub fn ask(
        &mut self,
        op: &Op,
        stored: Bytes,
        gpu: &Gpu,
        engine: &Engine,
    ) -> Result<usize, MissingFigure> {
        if self.silent {
            return Ok(0);
        }
        self.gpu.clone_from(&gpu.id);
        let call = match op.family().zip(op.served_vector(gpu, engine)?) {
            Some((family, ServedVector { vector: row, waits_for_host, added })) => Some(CallRow {
                row: (family, self.add(family, row)),
                // What is added is of cold keys.
                in_service: op.in_service(if added.is_some() { Bytes::ZERO } else { stored }, gpu, engine)?,
                waits_for_host,
                stretch: op.stretch(gpu, engine),
                added,
            }),
            None => None,
        };
        self.calls.push(call);
        Ok(self.calls.len() - 1)
    }

    /// The index of `row` in its family, added if new.
    fn add(&mut self, family: Family, row: Vec<f32>) -> usize {
        let rows = self.families.entry(family).or_default();
        rows.width = row.len();
        let bits: Vec<u32> = row.into_iter().map(f32::to_bits).collect();
        *self.seen.entry((family, bits)).or_insert_with_key(|(_, bits)| {
            rows.values.extend(bits.iter().map(|&value| f32::from_bits(value)));
            rows.count() - 1
        })
    }

    /// The distinct rows.
    pub fn families(&self) -> &BTreeMap<Family, FamilyRows> {
        &self.families
    }

    /// The answer for every call, from the `answers` for each family's distinct rows. `None` if one is missing.
    pub fn answered(
        &self,
        release: &str,
        answers: &BTreeMap<Family, Vec<Answer>>,
        trained_on: &BTreeMap<Family, Vec<String>>,
    ) -> Option<Learned> {
        let is_here = |gpus: &Vec<String>| gpus.contains(&self.gpu);
        let seen = map_of(trained_on.iter().map(|(family, gpus)| (*family, is_here(gpus))));
        let mut calls = Vec::with_capacity(self.calls.len());
        for call in &self.calls {
            calls.push(match *call {
                None => CallAnswer::NONE,
                Some(CallRow { row: (family, row), in_service, waits_for_host, stretch, added }) => {
                    CallAnswer {
                        answer: Some(answers.get(&family)?.get(row)?.with(added).stretched(stretch)),
                        in_service,
                        waits_for_host,
                        seen: seen.get(&family).is_some_and(|&seen| seen),
                    }
                }
            });
        }
        Some(Learned { release: release.to_owned(), calls })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Dtype, Scenario, catalog, check};
    use crate::kernels::Gemm;

    #[test]
    fn equal_rows_are_asked_once() {
        let mut rows = Rows::default();
        assert_eq!(rows.add(Family::Gemm, vec![1.0, 2.0]), 0);
        assert_eq!(rows.add(Family::Gemm, vec![3.0, 2.0]), 1);
        assert_eq!(rows.add(Family::Gemm, vec![1.0, 2.0]), 0);
        assert_eq!(rows.add(Family::AttentionDecode, vec![1.0]), 0);
        assert_eq!(rows.families()[&Family::Gemm].count(), 2);
    }

    #[test]
    fn every_call_has_a_row_and_an_answer() {
        let setup = check(&Scenario::default(), catalog()).0.expect("sound");
        let product = |m| Op::Gemm(Gemm { m, n: 4096, k: 4096, weights: Dtype::Bf16 });
        let calls = [product(16), product(32), product(16)];
        let mut rows = Rows::default();
        for (place, call) in calls.iter().enumerate() {
            assert_eq!(rows.ask(call, Bytes(1e6), &setup.gpu, &setup.engine), Ok(place));
        }
        let answer = |ln_efficiency| Answer { ln_efficiency, ln_bound: None, outside: false };
        let answers = BTreeMap::from([(Family::Gemm, vec![answer(-0.1), answer(-0.2)])]);
        let trained_on = BTreeMap::from([(Family::Gemm, vec![setup.gpu.id.clone()])]);
        let learned = rows.answered("test", &answers, &trained_on).expect("complete");
        let said: Vec<_> =
            learned.calls.iter().map(|call| call.answer.map(|said| said.ln_efficiency)).collect();
        assert_eq!(said, [Some(-0.1), Some(-0.2), Some(-0.1)]);
        assert!(learned.calls.iter().all(|call| call.seen));
        let short = BTreeMap::from([(Family::Gemm, vec![answer(-0.1)])]);
        assert_eq!(rows.answered("test", &short, &trained_on), None);
    }
}
