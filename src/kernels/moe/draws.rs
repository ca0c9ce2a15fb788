//! Random routings: the tokens of each expert in one draw, the busiest rank's experts first.

use super::routing::Pool;
use crate::units::random::SplitMix64;

/// Pairs per expert up to which each token's choice is drawn; beyond, the number of each expert's tokens.
const DRAWN_PER_EXPERT: u64 = 16;

impl Pool {
    /// One draw of popularities and of every token's choice.
    pub(super) fn chosen(&self, range: f64, random: &mut SplitMix64) -> Vec<u64> {
        let mut chances: Vec<f64> = (0..self.experts).map(|_| range.powf(random.uniform())).collect();
        to_chances(&mut chances, self.topk as f64);
        let mut counts = if self.tokens * self.topk <= DRAWN_PER_EXPERT * self.experts {
            self.by_token(&chances, random)
        } else {
            self.by_expert(&chances, random)
        };
        self.busiest_first(&mut counts);
        counts
    }

    /// Systematic sampling: `topk` experts for each token, each with its chance.
    fn by_token(&self, chances: &[f64], random: &mut SplitMix64) -> Vec<u64> {
        let mut end = 0.0;
        let ends: Vec<f64> = chances
            .iter()
            .map(|chance| {
                end += chance;
                end
            })
            .collect();
        let mut counts = vec![0; chances.len()];
        for _ in 0..self.tokens {
            let start = random.uniform();
            for slot in 0..self.topk {
                let at = start + slot as f64;
                counts[ends.partition_point(|end| *end <= at).min(chances.len() - 1)] += 1;
            }
        }
        counts
    }

    /// For many tokens, a draw of each expert's number of tokens from a normal distribution.
    fn by_expert(&self, chances: &[f64], random: &mut SplitMix64) -> Vec<u64> {
        let tokens = self.tokens as f64;
        let mut counts: Vec<u64> = chances
            .iter()
            .map(|chance| {
                let spread = (tokens * chance * (1.0 - chance)).sqrt();
                (tokens * chance + spread * random.normal()).round().clamp(0.0, tokens) as u64
            })
            .collect();
        let (pairs, total) = (self.tokens * self.topk, counts.iter().sum::<u64>());
        pour(&mut counts, pairs.saturating_sub(total), self.tokens);
        drain(&mut counts, total.saturating_sub(pairs));
        counts
    }

    fn busiest_first(&self, counts: &mut [u64]) {
        let local = self.local_experts();
        let busiest = counts.chunks(local).enumerate().max_by_key(|(_, experts)| experts.iter().sum::<u64>());
        let start = busiest.map_or(0, |(rank, _)| rank * local);
        for expert in 0..local.min(counts.len() - start) {
            counts.swap(expert, start + expert);
        }
    }

    /// Popularity between 1 and 0.8 of the tokens (a hundredth and 2 if there are fewer pairs than experts), scaled
    /// to all pairs, rounded, at most one visit per token and expert; the remainder is spread over the ranks. Same
    /// as in aiconfigurator.
    pub(super) fn drawn(&self, exponent: f64, random: &mut SplitMix64) -> Vec<u64> {
        let pairs = self.tokens * self.topk;
        let (least, most) = if pairs > self.experts { (1.0, self.tokens as f64 * 0.8) } else { (0.01, 2.0) };
        let power = 1.0 - exponent;
        let (low, high) = (f64::powf(least, power), f64::powf(most, power));
        let popularity: Vec<f64> =
            (0..self.experts).map(|_| (low + (high - low) * random.uniform()).powf(1.0 / power)).collect();
        let scale = pairs as f64 / popularity.iter().sum::<f64>();
        let mut counts: Vec<u64> =
            popularity.iter().map(|one| ((one * scale).round_ties_even() as u64).min(self.tokens)).collect();
        let total: u64 = counts.iter().sum();
        let local = self.local_experts();
        for (rank, experts) in counts.chunks_mut(local).enumerate() {
            let share = |amount: u64| amount / self.ep + u64::from((rank as u64) < amount % self.ep);
            pour(experts, share(pairs.saturating_sub(total)), self.tokens);
            drain(experts, share(total.saturating_sub(pairs)));
        }
        self.busiest_first(&mut counts);
        counts
    }
}

/// Scales popularities to the chance that a token chooses each expert: at most 1, and `topk` in all.
fn to_chances(popularity: &mut [f64], topk: f64) {
    loop {
        let certain = popularity.iter().filter(|one| **one == f64::INFINITY).count() as f64;
        let rest: f64 = popularity.iter().filter(|one| one.is_finite()).sum();
        let scale = (topk - certain) / rest;
        let mut is_settled = true;
        for one in popularity.iter_mut().filter(|one| one.is_finite() && **one * scale >= 1.0) {
            (*one, is_settled) = (f64::INFINITY, false);
        }
        if is_settled {
            popularity.iter_mut().for_each(|one| *one = (*one * scale).min(1.0));
            return;
        }
    }
}

/// Adds `amount` tokens to the least loaded experts, up to `most` each.
fn pour(experts: &mut [u64], mut amount: u64, most: u64) {
    while amount > 0 {
        let Some(&level) = experts.iter().min().filter(|&&level| level < most) else { return };
        let next = experts.iter().copied().filter(|&tokens| tokens > level).min().unwrap_or(most).min(most);
        let lowest = experts.iter().filter(|&&tokens| tokens == level).count() as u64;
        let step = (amount / lowest).min(next - level);
        let mut left_over = if step == 0 { amount } else { 0 };
        for tokens in experts.iter_mut().filter(|tokens| **tokens == level) {
            let one = u64::from(left_over > 0);
            left_over -= one;
            *tokens += step + one;
            amount -= step + one;
        }
    }
}

/// Removes `amount` tokens from the most loaded experts, as if one at a time from the last of them.
fn drain(experts: &mut [u64], mut amount: u64) {
    while amount > 0 {
        let Some(&level) = experts.iter().max().filter(|&&level| level > 0) else { return };
        let next = experts.iter().copied().filter(|&tokens| tokens < level).max().unwrap_or(0);
        let highest = experts.iter().filter(|&&tokens| tokens == level).count() as u64;
        let step = (amount / highest).min(level - next);
        let mut left_over = if step == 0 { amount } else { 0 };
        for tokens in experts.iter_mut().rev().filter(|tokens| **tokens == level) {
            let one = u64::from(left_over > 0);
            left_over -= one;
            *tokens -= step + one;
            amount -= step + one;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pouring_levels_the_lowest_up_to_the_limit() {
        let mut experts = [5, 1, 2, 0];
        pour(&mut experts, 6, 5);
        assert_eq!(experts, [5, 3, 3, 3]);
        pour(&mut experts, 100, 5);
        assert_eq!(experts, [5; 4]);
        drain(&mut experts, 3);
        assert_eq!(experts.iter().sum::<u64>(), 17);
    }
}
