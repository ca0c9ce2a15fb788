//! The lengths of a run's requests, drawn as the setup says.

use super::super::sim::{Distribution, Lengths, SimError, lengths};
use crate::config::{Load, Setup};

/// `count` requests; the same for the same seed.
///
/// # Errors
/// Where there is no length to draw.
pub fn of(setup: &Setup, load: Load, count: usize, seed: u64) -> Result<Vec<Lengths>, SimError> {
    let Setup { prompts, osl, histogram, .. } = setup;
    if matches!(load, Load::Batch(_)) || !setup.varies() {
        let prompts = prompts.iter().cycle().take(count);
        return Ok(prompts.map(|&prompt| Lengths { prompt, output: *osl }).collect());
    }
    if !histogram.is_empty() {
        // Prompts and outputs go together, so it is the bins that are drawn, numbered from 1.
        let numbered = (1..).zip(histogram).map(|(number, bin)| (number, f64::from(bin.weight)));
        let drawn = Distribution::Histogram(numbered.collect()).draw(count, seed)?;
        let bins = drawn.iter().filter_map(|&number| histogram.get(number as usize - 1));
        return Ok(bins.map(|bin| Lengths { prompt: bin.prompt, output: bin.output }).collect());
    }
    let prompt = prompts.first().copied().unwrap_or(1);
    let most = setup.longest();
    let about = |length, most| match setup.log_spread > 0.0 {
        true => log_normal(length, setup.log_spread, most),
        false => uniform(length, setup.spread, most),
    };
    lengths::draw(&about(prompt, most.0), &about(*osl, most.1), count, seed)
}

fn uniform(length: u32, spread: f64, most: u32) -> Distribution {
    let low = (f64::from(length) * (1.0 - spread)).ceil().max(1.0) as u32;
    Distribution::Uniform { low, high: most }
}

/// Log-normal lengths that are `length` on average once they are cut to 1 ..= `most`.
fn log_normal(length: u32, sigma: f64, most: u32) -> Distribution {
    let (wanted, top) = (f64::from(length), f64::from(most));
    let (mut low, mut high) = (0.0, top * (FURTHEST * sigma + sigma * sigma / 2.0).exp());
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if mean_of_cut(middle, sigma, top) > wanted { high = middle } else { low = middle }
    }
    let variation = (sigma * sigma).exp_m1().sqrt();
    Distribution::LogNormal { mean: 0.5 * (low + high), variation, most }
}

/// Standard deviations of the sum below, and its points.
const FURTHEST: f64 = 6.0;
const POINTS: u32 = 240;

/// Mean of log-normal lengths of this `mean` after they are cut.
fn mean_of_cut(mean: f64, sigma: f64, most: f64) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for point in 0..=POINTS {
        let at = FURTHEST * (2.0 * f64::from(point) / f64::from(POINTS) - 1.0);
        let weight = (-at * at / 2.0).exp();
        let length = mean * (sigma * at - sigma * sigma / 2.0).exp();
        sum += weight * length.round().clamp(1.0, most);
        weights += weight;
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_lengths_keep_their_mean() {
        for (length, sigma, most) in [(1024, 0.5, 4050), (200, 1.5, 5000), (1024, 1.0, 2048), (4, 1.0, 40)] {
            let lengths = log_normal(length, sigma, most).draw(50_000, 7).expect("sound");
            let mean = lengths.iter().map(|&tokens| f64::from(tokens)).sum::<f64>() / lengths.len() as f64;
            assert!((mean / f64::from(length) - 1.0).abs() < 0.03, "{length} {sigma} {most}: {mean}");
            assert!(lengths.iter().all(|&tokens| tokens <= most));
        }
    }

    #[test]
    fn where_there_is_no_room_above_the_mean_all_are_alike() {
        let lengths = log_normal(100, 0.5, 100).draw(100, 7).expect("sound");
        assert!(lengths.iter().all(|&tokens| tokens == 100), "{lengths:?}");
    }
}
