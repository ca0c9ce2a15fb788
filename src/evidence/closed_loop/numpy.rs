//! The lengths that `benchmark_serving.py` draws: NumPy's `RandomState(0).randint`, prompts first, then
//! outputs, so every run of as many requests has the same ones.

use crate::serving::sim::Request;

/// The Mersenne Twister MT19937 of Matsumoto and Nishimura (1998).
struct Twister {
    state: [u32; Self::SIZE],
    next: usize,
}

impl Twister {
    const SIZE: usize = 624;
    const SHIFT: usize = 397;

    fn new(seed: u32) -> Self {
        let mut state = [seed; Self::SIZE];
        let mut last = seed;
        for (index, word) in state.iter_mut().enumerate().skip(1) {
            last = 1_812_433_253u32.wrapping_mul(last ^ (last >> 30)).wrapping_add(index as u32);
            *word = last;
        }
        Self { state, next: Self::SIZE }
    }

    fn word(&mut self) -> u32 {
        if self.next == Self::SIZE {
            self.twist();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn twist(&mut self) {
        for index in 0..Self::SIZE {
            let joined =
                (self.state[index] & 0x8000_0000) | (self.state[(index + 1) % Self::SIZE] & 0x7fff_ffff);
            let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[index] = self.state[(index + Self::SHIFT) % Self::SIZE] ^ (joined >> 1) ^ odd;
        }
        self.next = 0;
    }

    /// Evenly from `low ..= high`: draws are masked to the next power of two and dropped beyond the range.
    fn within(&mut self, low: u32, high: u32) -> u32 {
        let range = high.saturating_sub(low);
        if range == 0 {
            return low;
        }
        let mask = u32::MAX >> range.leading_zeros();
        loop {
            let drawn = self.word() & mask;
            if drawn <= range {
                return low + drawn;
            }
        }
    }
}

/// `count` requests whose prompts and outputs lie within these shares of `isl` and `osl`.
pub fn requests(count: u32, isl: u32, osl: u32, [low, high]: [f64; 2]) -> Vec<Request> {
    let mut twister = Twister::new(0);
    let mut draw = |nominal: u32| -> Vec<u32> {
        let share = |share: f64| ((f64::from(nominal) * share) as u32).max(1);
        (0..count).map(|_| twister.within(share(low), share(high))).collect()
    };
    let (prompts, outputs) = (draw(isl), draw(osl));
    prompts.into_iter().zip(outputs).map(|(prompt, output)| Request { prompt, output }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twister_is_the_published_one() {
        // RandomState(0).randint(0, 2**32, dtype=uint32), three times.
        let mut twister = Twister::new(0);
        assert_eq!(
            [twister.word(), twister.word(), twister.word()],
            [2_357_136_044, 2_546_248_239, 3_071_714_933]
        );
    }

    #[test]
    fn lengths_are_those_of_numpy() {
        // RandomState(0): randint(819, 1025, 40), twice.
        let drawn = requests(40, 1024, 1024, [0.8, 1.0]);
        let first: Vec<(u32, u32)> = drawn[..3].iter().map(|one| (one.prompt, one.output)).collect();
        assert_eq!(first, [(991, 851), (866, 1012), (936, 828)]);
        let sum = |of: fn(&Request) -> u32| drawn.iter().map(of).sum::<u32>();
        assert_eq!((sum(|one| one.prompt), sum(|one| one.output)), (37_068, 36_709));
        // randint(6553, 8193, 2560), randint(819, 1025, 2560).
        let long = requests(2560, 8192, 1024, [0.8, 1.0]);
        let sum = |of: fn(&Request) -> u32| long.iter().map(of).sum::<u32>();
        assert_eq!((sum(|one| one.prompt), sum(|one| one.output)), (18_877_524, 2_360_454));
    }
}
