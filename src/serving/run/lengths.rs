//! The lengths of a run's requests, for all uses.

use crate::config::{Bin, Load, Setup, Workload};
use crate::serving::fit::prompts_of_one_replica;
use crate::serving::sim::Request;
use crate::units::random::SplitMix64;

/// `count` requests of one replica, or its share of a batch; deterministic for a seed. Requests of a session are
/// consecutive.
pub fn requests(setup: &Setup, load: Load, count: usize, seed: u64) -> Vec<Request> {
    let Workload { isl, osl, histogram, .. } = &setup.workload;
    if let Load::Batch(_) = load {
        let prompts = prompts_of_one_replica(&setup.under(|workload| workload.load = load));
        return prompts.into_iter().map(|prompt| Request::new(prompt, *osl)).collect();
    }
    if load.is_sessions() {
        return sessions(setup, count / setup.workload.turns.count.max(1) as usize, seed);
    }
    let prompt = isl.first();
    if !setup.workload.varies() {
        return vec![Request::new(prompt, *osl); count];
    }
    if !histogram.is_empty() {
        return picked(histogram, count, &mut SplitMix64::new(seed));
    }
    let mut seeds = SplitMix64::new(seed);
    let (longest_prompt, longest_output) = setup.longest();
    let prompts = about(setup, 0, (prompt, longest_prompt), count, &mut seeds);
    let outputs = about(setup, 1, (*osl, longest_output), count, &mut seeds);
    prompts.into_iter().zip(outputs).map(|(prompt, output)| Request::new(prompt, output)).collect()
}

/// The longest prompt and the longest output, in tokens.
pub fn longest(requests: &[Request]) -> (u32, u32) {
    let most = |of: fn(&Request) -> u32| requests.iter().map(of).max().unwrap_or(1);
    (most(|one| one.prompt), most(|one| one.output))
}

/// Mean tokens of a prompt and of an output.
pub fn means(requests: &[Request]) -> (u32, u32) {
    let mean = |of: fn(&Request) -> u32| {
        let sum: f64 = requests.iter().map(|one| f64::from(of(one))).sum();
        (sum / requests.len().max(1) as f64).round().max(1.0) as u32
    };
    (mean(|one| one.prompt), mean(|one| one.output))
}

/// How many times as long as the mean the answers in progress are: long ones are in progress for longer. 1 if all are equal.
pub(super) fn bias(requests: &[Request]) -> f64 {
    let outputs = || requests.iter().map(|one| f64::from(one.output));
    let sum: f64 = outputs().sum();
    outputs().map(|output| output * output).sum::<f64>() * requests.len() as f64 / (sum * sum)
}

/// Mean and maximum of the prompt (0) or output (1) lengths.
fn about(
    setup: &Setup,
    of: usize,
    (mean, most): (u32, u32),
    count: usize,
    seeds: &mut SplitMix64,
) -> Vec<u32> {
    let workload = &setup.workload;
    let mut random = SplitMix64::new(seeds.next_u64());
    let log = workload.log_spread[of];
    match workload.shape {
        Some(shape) => from_table(shape.tables()[of], mean, most, count, &mut random),
        None if log > 0.0 => log_normal(mean, log, most, count, &mut random),
        None if workload.spread > 0.0 => uniform(mean, workload.spread, most, count, &mut random),
        None => vec![mean; count],
    }
}

/// Sessions: a first prompt, then in each turn the conversation so far and a message. With a histogram, a session
/// uses one bin.
fn sessions(setup: &Setup, count: usize, seed: u64) -> Vec<Request> {
    let Workload { turns, osl, histogram, .. } = &setup.workload;
    let each = turns.count.max(1) as usize;
    let mut seeds = SplitMix64::new(seed);
    let [most_prompt, most_message, most_output] = setup.most();
    let (prompts, outputs): (Vec<u32>, Vec<u32>) = if histogram.is_empty() {
        let prompt = setup.workload.isl.first();
        let prompts = about(setup, 0, (prompt, most_prompt), count, &mut seeds);
        (prompts, about(setup, 1, (*osl, most_output), count * each, &mut seeds))
    } else {
        let picked = picked(histogram, count, &mut seeds);
        let outputs = picked.iter().flat_map(|request| std::iter::repeat_n(request.output, each));
        (picked.iter().map(|request| request.prompt).collect(), outputs.collect())
    };
    let messages = match histogram.is_empty() {
        true => about(setup, 0, (turns.message, most_message), count * each, &mut seeds),
        false => vec![turns.message; count * each],
    };
    let mut requests = Vec::with_capacity(count * each);
    for (session, first) in prompts.into_iter().enumerate() {
        let mut prompt = first;
        for turn in session * each..(session + 1) * each {
            requests.push(Request::new(prompt, outputs[turn]));
            prompt = prompt.saturating_add(outputs[turn]).saturating_add(messages[turn]);
        }
    }
    requests
}

/// The middles of `count` equal parts of a distribution. Lengths are taken at these shares and shuffled, not drawn: even few
/// have the distribution's mean; of the bins of a histogram, nearly.
fn shares(count: usize) -> impl Iterator<Item = f64> {
    (0..count).map(move |part| (part as f64 + 0.5) / count as f64)
}

/// Requests of the bins, by weight.
fn picked(bins: &[Bin], count: usize, random: &mut SplitMix64) -> Vec<Request> {
    let mut rest = bins.iter().filter(|bin| bin.weight > 0).peekable();
    let total: f64 = rest.clone().map(|bin| f64::from(bin.weight)).sum();
    let mut before = 0.0;
    let pick = |share: f64| {
        while let Some(bin) = rest.peek()
            && before + f64::from(bin.weight) <= share * total
        {
            before += f64::from(bin.weight);
            rest.next();
        }
        rest.peek().map_or(Request::new(1, 1), |bin| Request::new(bin.prompt, bin.output))
    };
    let mut requests: Vec<Request> = shares(count).map(pick).collect();
    random.shuffle(&mut requests);
    requests
}

fn uniform(length: u32, spread: f64, most: u32, count: usize, random: &mut SplitMix64) -> Vec<u32> {
    let least = (f64::from(length) * (1.0 - spread)).ceil().max(1.0) as u32;
    let span = f64::from(most.saturating_sub(least)) + 1.0;
    let mut lengths: Vec<u32> = shares(count).map(|share| least + (share * span) as u32).collect();
    random.shuffle(&mut lengths);
    lengths
}

/// Lengths distributed like those of `table`, which are at evenly spaced shares of the requests, with mean `length`
/// after truncation to 1 ..= `most`.
pub fn from_table(table: &[u32], length: u32, most: u32, count: usize, random: &mut SplitMix64) -> Vec<u32> {
    let relative = shares(count).map(|share| {
        let at = share * (table.len() - 1) as f64;
        let [low, high] = [table[at as usize], table[at as usize + 1]].map(f64::from);
        low + (high - low) * at.fract()
    });
    scaled(relative.collect(), length, most, random)
}

/// Log-normal lengths with mean `length` after truncation to 1 ..= `most`.
pub fn log_normal(length: u32, sigma: f64, most: u32, count: usize, random: &mut SplitMix64) -> Vec<u32> {
    scaled(normals(count).into_iter().map(|normal| (sigma * normal).exp()).collect(), length, most, random)
}

/// Steps of the bisection below, which leave a relative error under a millionth.
const HALVINGS: u32 = 48;

/// Lengths in proportion to `relative`, in ascending order, cut to 1 ..= `most` with this mean; shuffled.
fn scaled(relative: Vec<f64>, length: u32, most: u32, random: &mut SplitMix64) -> Vec<u32> {
    let Some((least, longest)) = relative.first().zip(relative.last()) else { return Vec::new() };
    let cut = |scale: f64| {
        relative
            .iter()
            .map(move |one| (one * scale).round().clamp(1.0, f64::from(most)))
            .map(|one| one as u32)
    };
    let wanted = u64::from(length) * relative.len() as u64;
    // From all at 1 to all at the maximum.
    let (mut low, mut high) = ((0.5 / longest).ln(), (f64::from(most) / least).ln());
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if cut(middle.exp()).map(u64::from).sum::<u64>() > wanted { high = middle } else { low = middle }
    }
    let mut lengths: Vec<u32> = cut(low.exp()).collect();
    random.shuffle(&mut lengths);
    lengths
}

/// Standard deviations and points of the integral below.
const FURTHEST: f64 = 6.0;
const POINTS: u32 = 240;

/// Standard normal quantiles at [`shares`], in ascending order: the density is integrated once, between points by a straight
/// line.
fn normals(count: usize) -> Vec<f64> {
    let at = |point: u32| FURTHEST * (2.0 * f64::from(point) / f64::from(POINTS) - 1.0);
    let density = |point: u32| (-at(point) * at(point) / 2.0).exp();
    let part = |point: u32| 0.5 * (density(point) + density(point + 1));
    let total: f64 = (0..POINTS).map(part).sum();
    let (mut point, mut below) = (0, 0.0);
    let quantile = |share: f64| {
        while point + 1 < POINTS && below + part(point) < share * total {
            below += part(point);
            point += 1;
        }
        at(point) + (at(point + 1) - at(point)) * (share * total - below) / part(point)
    };
    shares(count).map(quantile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog::catalog;
    use crate::config::{Lengths, Scenario, Shape, check, mean_of};

    const LOAD: Load = Load::Rate(1.0);

    fn setup() -> Setup {
        check(&Scenario::default(), catalog()).0.expect("the default scenario is valid")
    }

    fn means(requests: &[Request]) -> (f64, f64) {
        let mean = |of: fn(&Request) -> u32| {
            requests.iter().map(|request| f64::from(of(request))).sum::<f64>() / requests.len() as f64
        };
        (mean(|request| request.prompt), mean(|request| request.output))
    }

    #[test]
    fn lengths_keep_their_means() {
        let plain = setup().under(|workload| (workload.isl, workload.osl) = (Lengths::Fixed(1024), 200));
        let bin = |prompt, output, weight| Bin { prompt, output, weight };
        let histogram = vec![bin(10, 1, 3), bin(50, 9, 1), bin(90, 90, 0)];
        for (varied, (prompt, output)) in [
            (plain.under(|workload| (workload.isl, workload.osl) = (Lengths::Fixed(7), 5)), (7.0, 5.0)),
            (plain.under(|workload| workload.spread = 0.2), (1024.0, 200.0)),
            (plain.under(|workload| workload.log_spread = [1.0; 2]), (1024.0, 200.0)),
            (plain.under(|workload| workload.log_spread = [0.56, 0.16]), (1024.0, 200.0)),
            (plain.under(|workload| workload.histogram = histogram), (20.0, 3.0)),
        ] {
            let found = means(&requests(&varied, LOAD, 20_000, 3));
            assert!(
                (found.0 / prompt - 1.0).abs() < 0.03 && (found.1 / output - 1.0).abs() < 0.03,
                "{found:?}"
            );
        }
    }

    #[test]
    fn cut_lengths_keep_their_mean() {
        for (length, sigma, most) in [(1024, 0.5, 4050), (200, 1.5, 5000), (1024, 1.0, 2048), (4, 1.0, 40)] {
            let lengths = log_normal(length, sigma, most, 50_000, &mut SplitMix64::new(7));
            let mean = lengths.iter().map(|&tokens| f64::from(tokens)).sum::<f64>() / lengths.len() as f64;
            assert!((mean / f64::from(length) - 1.0).abs() < 0.03, "{length} {sigma} {most}: {mean}");
            assert!(lengths.iter().all(|&tokens| tokens <= most));
        }
    }

    /// Scaled to any mean; no answer is longer than four times the mean.
    #[test]
    fn share_gpt_is_as_its_requests() {
        let [prompts, outputs] = Shape::Sharegpt.tables();
        for (table, mean, most) in [(prompts, 215.0, 4.7), (outputs, 197.0, 4.1)] {
            assert!((mean_of(table) / mean - 1.0).abs() < 0.03, "{}", mean_of(table));
            let mut drawn = from_table(table, 400, 1_000_000, 20_000, &mut SplitMix64::new(1));
            drawn.sort_unstable();
            let sum: f64 = drawn.iter().copied().map(f64::from).sum();
            assert!((sum / 20_000.0 / 400.0 - 1.0).abs() < 0.02, "{}", sum / 20_000.0);
            assert!(f64::from(drawn[19_999]) < most * 400.0, "{}", drawn[19_999]);
            let median = f64::from(drawn[10_000]) / 400.0;
            assert!((median - f64::from(table[10]) / mean_of(table)).abs() < 0.03, "{median}");
        }
        assert_eq!(from_table(outputs, 1, 4, 3, &mut SplitMix64::new(1)), [1, 1, 1]);
        assert!(
            from_table(outputs, 400, 500, 100, &mut SplitMix64::new(1)).into_iter().all(|one| one <= 500)
        );
    }

    #[test]
    fn lengths_are_equal_if_the_mean_is_the_maximum() {
        let lengths = log_normal(100, 0.5, 100, 100, &mut SplitMix64::new(7));
        assert!(lengths.iter().all(|&tokens| tokens == 100), "{lengths:?}");
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let spread = setup().under(|workload| {
            (workload.isl, workload.osl, workload.spread) = (Lengths::Fixed(500), 500, 0.9)
        });
        let drawn = |seed| requests(&spread, LOAD, 50, seed);
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        assert!(drawn(1).iter().any(|request| request.prompt != request.output), "they are independent");
    }

    #[test]
    fn replicas_take_the_prompts_of_a_list_in_turn() {
        let load = Load::Batch(5);
        let prompts = |replicas| {
            let listed = setup().under(|workload| workload.isl = Lengths::Each(vec![1, 20, 3, 40, 5]));
            let listed = Setup { replicas, ..listed };
            let requests = requests(&listed, load, 5, 0);
            requests.iter().map(|request| request.prompt).collect::<Vec<_>>()
        };
        assert_eq!(prompts(1), [1, 20, 3, 40, 5]);
        assert_eq!(prompts(2), [20, 40], "the one with more tokens");
        assert_eq!(prompts(9), [40]);
    }
}
