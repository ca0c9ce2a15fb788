//! What DeepSeek-V3's gate does to the source's synthetic routing scores.
//!
//! The source gives the intended experts of a token one score and all others another. A gate that first keeps the best
//! four of eight groups of experts then sees mostly ties, and breaks them in favour of the lowest index: half of the
//! experts get no token, the first few get very many. That is how it was measured; trained scores do not tie, and none
//! of this applies in service.

use super::{ExpertLoad, Pool, Routing};

const GROUPS: usize = 8;
const KEPT_GROUPS: usize = 4;
/// A group's score is the sum of the scores of its best experts; this is their number.
const SCORED: usize = 2;

/// The tokens that rank 0 gets when tokens whose intended experts follow `routing` pass the gate.
pub(super) fn through_gate(routing: Routing, pool: &Pool) -> ExpertLoad {
    let draws: Vec<Vec<u64>> = match routing {
        Routing::Even => vec![gated(pool, &even(pool))],
        Routing::PowerLaw(_) | Routing::Independent(_) => {
            routing.draws(pool).iter().map(|counts| gated(pool, &columns(pool, counts))).collect()
        }
    };
    let local = pool.local_experts();
    ExpertLoad::mean(draws.iter().map(|tokens| &tokens[..local.min(tokens.len())]))
}

/// Number of tokens that intend these experts.
type ExpertChoice = (u64, Vec<usize>);

fn even(pool: &Pool) -> Vec<ExpertChoice> {
    let (rounds, rest) = (pool.tokens / pool.experts, pool.tokens % pool.experts);
    let wish = |token| (0..pool.topk).map(|slot| pool.even_expert(token, slot) as usize).collect();
    match rounds {
        0 => (0..pool.tokens).map(|token| (1, wish(token))).collect(),
        _ => (0..pool.experts).map(|token| (rounds + u64::from(token < rest), wish(token))).collect(),
    }
}

/// The tokens' experts if the tokens of each expert, most popular first, are written one below the other into `topk`
/// columns, each as long as there are tokens.
fn columns(pool: &Pool, counts: &[u64]) -> Vec<ExpertChoice> {
    let mut order: Vec<usize> = (0..counts.len()).filter(|&expert| counts[expert] > 0).collect();
    order.sort_by_key(|&expert| std::cmp::Reverse(counts[expert]));
    let mut end = 0;
    let runs: Vec<(u64, usize)> = order
        .into_iter()
        .map(|expert| {
            end += counts[expert];
            (end, expert)
        })
        .collect();
    // Rows between which no column changes its expert.
    let mut rows: Vec<u64> = runs.iter().map(|(end, _)| end % pool.tokens).chain([0, pool.tokens]).collect();
    rows.sort_unstable();
    rows.dedup();
    let expert_at = |place: u64| {
        let run = runs.partition_point(|(end, _)| *end <= place);
        runs.get(run).map(|(_, expert)| *expert)
    };
    rows.windows(2)
        .map(|rows| {
            let experts = (0..pool.topk).filter_map(|column| expert_at(rows[0] + column * pool.tokens));
            (rows[1] - rows[0], experts.collect())
        })
        .collect()
}

/// Tokens by expert after the gate.
fn gated(pool: &Pool, wishes: &[ExpertChoice]) -> Vec<u64> {
    let experts = pool.experts as usize;
    let size = experts / GROUPS;
    let mut counts = vec![0; experts];
    for (tokens, wished) in wishes {
        // Groups of one have no second expert to score by: all tie.
        let score = |group: usize| match size {
            0 | 1 => 0,
            _ => wished.iter().filter(|&&expert| expert / size == group).count().min(SCORED),
        };
        let mut groups: Vec<usize> = (0..GROUPS).collect();
        groups.sort_by_key(|&group| std::cmp::Reverse(score(group)));
        groups.truncate(KEPT_GROUPS);
        let open = |expert: &usize| groups.contains(&(expert / size.max(1)));
        let mut chosen: Vec<usize> =
            wished.iter().copied().filter(|expert| size > 1 && open(expert)).collect();
        for expert in (0..experts).filter(open) {
            if chosen.len() >= pool.topk as usize {
                break;
            }
            if !chosen.contains(&expert) {
                chosen.push(expert);
            }
        }
        for expert in chosen {
            counts[expert] += tokens;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEEPSEEK: Pool = Pool { tokens: 256, experts: 256, topk: 8, ep: 1 };

    #[test]
    fn a_deal_over_all_groups_reaches_only_half_of_them() {
        // Each token intends one expert in each of eight groups: the first four are kept, and four more experts are
        // taken from the front of the first.
        let load = through_gate(Routing::Even, &DEEPSEEK);
        assert_eq!((load.pairs, load.touched), (2048.0, 128.0));
        // Of 32 residues, one intends expert 0 anyway.
        assert_eq!(load.largest, 256.0);
        let rank = through_gate(Routing::Even, &Pool { ep: 32, ..DEEPSEEK });
        assert!(rank.pairs > 4.0 * 256.0, "{}", rank.pairs);
    }

    #[test]
    fn pairs_are_kept() {
        for tokens in [1, 7, 100, 3000] {
            let pool = Pool { tokens, ..DEEPSEEK };
            let counts = |load: ExpertLoad| load.pairs;
            assert_eq!(counts(through_gate(Routing::PowerLaw(1.2), &pool)), 8.0 * tokens as f64);
            assert_eq!(counts(through_gate(Routing::Even, &pool)), 8.0 * tokens as f64);
        }
    }

    #[test]
    fn columns_hold_every_pair_once() {
        let pool = Pool { tokens: 5, experts: 4, topk: 2, ep: 1 };
        let mut found = vec![0; 4];
        for (tokens, experts) in columns(&pool, &[4, 1, 3, 2]) {
            assert_eq!(experts.len(), 2);
            experts.iter().for_each(|&expert| found[expert] += tokens);
        }
        assert_eq!(found, [4, 1, 3, 2]);
    }
}
