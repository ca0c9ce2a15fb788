//! Where thread blocks land, in closed form.
//!
//! The reference simulates two slots per SM; what it ends up recording is, for the first two blocks per
//! SM, block i on SM i mod S, and for every later block i slot i mod 2S, which is SM slot div 2.
//! Blocks come in runs, so each slot keeps only the difference to the slot before it.

use super::super::attention::Load;
use super::SLOTS_PER_SM;
use super::plan::Plan;
use crate::graph::Sequences;

pub struct Slots {
    sms: usize,
    /// The first block of every slot; the last entry takes the ends of runs.
    first: Vec<Load>,
    /// All later blocks, likewise.
    later: Vec<Load>,
    /// Thread blocks placed so far.
    next: u64,
}

impl Slots {
    pub fn new(sms: u64) -> Self {
        let differences = vec![Load::default(); (SLOTS_PER_SM * sms) as usize + 1];
        Self { sms: sms as usize, first: differences.clone(), later: differences, next: 0 }
    }

    fn slots(&self) -> u64 {
        SLOTS_PER_SM * self.sms as u64
    }

    /// Requests that are alike start at multiples of their length, which repeat modulo the slots: so
    /// at most as many are placed as there are slots, each standing for all that start in its slot.
    pub fn place(&mut self, group: &Sequences, plan: &Plan) {
        let cut = plan.cut(group);
        let slots = self.slots();
        for request in 0..group.count.min(slots) {
            let alike = (group.count - request - 1) / slots;
            let start = self.next.saturating_add(request.saturating_mul(cut.blocks));
            for run in &cut.runs {
                let at = start.saturating_add(run.offset);
                self.put(at, plan.kv_heads, 1, run.iterations);
                self.put(at.saturating_add(slots), plan.kv_heads, alike, run.iterations);
            }
        }
        self.next = self.next.saturating_add(group.count.saturating_mul(cut.blocks));
    }

    /// `times` runs of `length` thread blocks; the first of each is block `at` of the launch, or one
    /// that shares its slot.
    fn put(&mut self, at: u64, length: u64, times: u64, iterations: u64) {
        if times == 0 {
            return;
        }
        let slots = self.slots();
        let load = Load { tasks: times as f64, iterations: times as f64 * iterations as f64 };
        let early = slots.saturating_sub(at).min(length);
        add(&mut self.first, at, early, load);

        let (rounds, rest) = ((length - early) / slots, (length - early) % slots);
        add(&mut self.later, 0, slots, load * rounds as f64);
        let start = at.max(slots) % slots;
        let before_wrap = rest.min(slots - start);
        add(&mut self.later, start, before_wrap, load);
        add(&mut self.later, 0, rest - before_wrap, load);
    }

    /// What lies on each SM.
    pub fn loads(&self) -> Vec<Load> {
        let mut loads = vec![Load::default(); self.sms];
        let (mut first, mut later) = (Load::default(), Load::default());
        for slot in 0..self.slots() as usize {
            first += self.first[slot];
            later += self.later[slot];
            loads[slot % self.sms] += first;
            loads[slot / SLOTS_PER_SM as usize] += later;
        }
        loads
    }
}

/// Adds `load` to `length` slots from `start` on, as differences.
fn add(slots: &mut [Load], start: u64, length: u64, load: Load) {
    if length > 0 {
        slots[start as usize] += load;
        slots[(start + length) as usize] += load * -1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Attention;
    use crate::kernels::reference::KvLayout;
    use crate::kernels::reference::fixtures::{A100, attention};

    /// Every thread block put where the rule says, one at a time.
    fn one_by_one(attention: &Attention, plan: &Plan, sms: usize) -> Vec<Load> {
        let mut loads = vec![Load::default(); sms];
        let mut next = 0;
        for group in &attention.sequences {
            let cut = plan.cut(group);
            for _ in 0..group.count {
                for run in &cut.runs {
                    for head in 0..plan.kv_heads {
                        let block = (next + run.offset + head) as usize;
                        let sm = if block < 2 * sms { block % sms } else { block % (2 * sms) / 2 };
                        loads[sm] += Load { tasks: 1.0, iterations: run.iterations as f64 };
                    }
                }
                next += cut.blocks;
            }
        }
        loads
    }

    #[test]
    fn placing_runs_equals_placing_blocks() {
        for (count, new, past) in [(1, 3000, 0), (3, 517, 1000), (700, 1, 900), (1000, 130, 5), (433, 40, 0)]
        {
            for kv_heads in [1, 8, 300] {
                let mut attention = attention(&[(64, 2000)], 2 * kv_heads, kv_heads, 128);
                attention.sequences.push(Sequences { count, new, past });
                attention.sequences.push(Sequences { count: 2, new: 9, past: 70 });
                for layout in [KvLayout::Ragged, KvLayout::Paged] {
                    let plan = Plan::of(&attention, layout, &A100).expect("there is work");
                    let mut slots = Slots::new(u64::from(A100.sms));
                    for group in &attention.sequences {
                        slots.place(group, &plan);
                    }
                    assert_eq!(slots.loads(), one_by_one(&attention, &plan, A100.sms as usize));
                }
            }
        }
    }
}
