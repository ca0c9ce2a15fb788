//! Runs that the table lists more than once.

use super::cases::ClosedLoopCase;
use super::launch::launch;

/// Times closer than this are one time, printed with two decimals of a millisecond in one of the rows.
const ROUNDING_MS: f64 = 0.0051;

/// Each row that repeats an earlier one, and that one: the positions of both in `cases`.
///
/// The same run stands under two names of its model, under two labels of one layout, or rounded. A report
/// that counts rows gives such runs more weight than others.
pub fn copies(cases: &[&ClosedLoopCase]) -> Vec<(usize, usize)> {
    let gpus: Vec<_> = cases.iter().map(|case| launch(case).ok().map(|launch| launch.layout.gpus)).collect();
    let same = |a: usize, b: usize| {
        let (one, other) = (cases[a], cases[b]);
        let close = |x: f64, y: f64| (x - y).abs() < ROUNDING_MS;
        let key = |case: &ClosedLoopCase| (case.isl, case.osl, case.concurrency);
        key(one) == key(other)
            && close(one.measured.ttft_ms, other.measured.ttft_ms)
            && close(one.measured.tpot_ms, other.measured.tpot_ms)
            && (&one.gpu, &one.engine, &one.precision) == (&other.gpu, &other.engine, &other.precision)
            && gpus[a] == gpus[b]
    };
    let first = |row: usize| (0..row).find(|&earlier| same(row, earlier)).map(|earlier| (row, earlier));
    (0..cases.len()).filter_map(first).collect()
}
