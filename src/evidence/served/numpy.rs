//! The lengths that `benchmark_serving.py` draws: NumPy's `RandomState(0).randint`, prompts first, then
//! outputs, so every run of as many requests has the same ones. SGLang's benchmark does the same with seed 1.

use rand_mt::Mt;

use crate::serving::sim::Request;

/// Evenly from `low ..= high`, as NumPy draws: masked to the next power of two, and drawn again beyond the range.
fn within(twister: &mut Mt, low: u32, high: u32) -> u32 {
    let range = high.saturating_sub(low);
    if range == 0 {
        return low;
    }
    let mask = u32::MAX >> range.leading_zeros();
    loop {
        let drawn = twister.next_u32() & mask;
        if drawn <= range {
            return low + drawn;
        }
    }
}

/// `count` requests whose prompts and outputs lie within these shares of `isl` and `osl`.
pub fn requests(count: u32, (isl, osl): (u32, u32), [low, high]: [f64; 2], seed: u32) -> Vec<Request> {
    let mut twister = Mt::new(seed);
    let mut draw = |nominal: u32| -> Vec<u32> {
        let share = |share: f64| ((f64::from(nominal) * share) as u32).max(1);
        (0..count).map(|_| within(&mut twister, share(low), share(high))).collect()
    };
    let (prompts, outputs) = (draw(isl), draw(osl));
    prompts.into_iter().zip(outputs).map(|(prompt, output)| Request::new(prompt, output)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_numpy() {
        // RandomState(0): randint(819, 1025, 40), twice.
        let drawn = requests(40, (1024, 1024), [0.8, 1.0], 0);
        let first: Vec<(u32, u32)> = drawn[..3].iter().map(|one| (one.prompt, one.output)).collect();
        assert_eq!(first, [(991, 851), (866, 1012), (936, 828)]);
        let sum = |of: fn(&Request) -> u32| drawn.iter().map(of).sum::<u32>();
        assert_eq!((sum(|one| one.prompt), sum(|one| one.output)), (37_068, 36_709));
        // randint(6553, 8193, 2560), randint(819, 1025, 2560).
        let long = requests(2560, (8192, 1024), [0.8, 1.0], 0);
        let sum = |of: fn(&Request) -> u32| long.iter().map(of).sum::<u32>();
        assert_eq!((sum(|one| one.prompt), sum(|one| one.output)), (18_877_524, 2_360_454));
        // What SGLang printed of ten requests of up to 1000 tokens: 6101 and 4220 in all.
        let of_sglang = requests(10, (1000, 1000), [0.0, 1.0], 1);
        let sum = |of: fn(&Request) -> u32| of_sglang.iter().map(of).sum::<u32>();
        assert_eq!((sum(|one| one.prompt), sum(|one| one.output)), (6101, 4220));
    }
}
