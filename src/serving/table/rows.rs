//! Token counts at which steps are evaluated.

use super::grid::octaves;

/// Points per octave between tile edges, and where edges do not matter: below the first tile, and far above.
const BETWEEN: u32 = 8;
const BEYOND: u32 = 16;
/// Tile heights whose edges matter, up to this many tokens.
const TILES: [(u64, u64); 3] = [(1024, 64), (4096, 128), (16_384, 256)];

/// Token counts up to `most`. A GEMM's time jumps when one more row opens another tile, and hardly changes up to
/// the next: both sides of such an edge are points.
pub(super) fn numbers(most: u64) -> Vec<u64> {
    let [(_, first), .., (last, _)] = TILES;
    let mut numbers = octaves(1, most.min(first), BEYOND);
    numbers.extend(octaves(1, most.min(last), BETWEEN));
    let mut from = first;
    for (to, rows) in TILES {
        let edges = (from..to.min(most)).step_by(rows as usize);
        numbers.extend(edges.flat_map(|edge| [edge, edge + 1]));
        from = to;
    }
    if most > last {
        numbers.extend(octaves(last, most, BEYOND));
    }
    numbers.push(most);
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The next token count that is a point for any `most`.
pub(super) fn rounded(most: u64) -> u64 {
    match TILES.iter().find(|(to, _)| most <= *to) {
        Some((_, rows)) => most.next_multiple_of(*rows),
        None => most.next_power_of_two(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_tokens_have_the_same_points() {
        let all = numbers(1 << 17);
        for most in [1, 63, 65, 1025, 4097, 8320, 16_385, 60_000] {
            let most = rounded(most);
            assert!(numbers(most).iter().all(|number| all.contains(number)), "{most}");
        }
    }

    #[test]
    fn numbers_rise_from_one_to_the_most() {
        for most in [1, 2, 63, 64, 65, 1000, 1024, 1025, 8192, 16_384, 16_385, 131_072] {
            let numbers = numbers(most);
            assert_eq!((numbers.first(), numbers.last()), (Some(&1), Some(&most)));
            assert!(numbers.is_sorted_by(|before, after| before < after), "{most}: {numbers:?}");
        }
    }

    #[test]
    fn both_sides_of_a_tiles_edge_are_points() {
        let numbers = numbers(16_384);
        for edge in [64, 512, 1024, 2176, 4096, 8192] {
            assert!(numbers.contains(&edge) && numbers.contains(&(edge + 1)), "{edge}");
        }
    }
}
