//! What to change if a configuration has no answer, is overloaded or misses its limits.

use super::{Block, Case, Span, Study, better};
use crate::config::link::{Link, SearchSpace};
use crate::units::confidence;

/// What a change is for, unless the configuration serves its load within its limits.
pub fn goal(own: &Case) -> Option<&'static str> {
    match (own.headline(), own.meets_limits()) {
        (None, _) => Some("gives a valid configuration"),
        (Some(_), Some(false)) => Some("meets the limits"),
        _ => own.is_overloaded().then_some("serves the load"),
    }
}

/// No single change reaches the goal, but several together may.
pub fn none(own: &Case, goal: &str) -> Block {
    let search = Link { find: Some(SearchSpace::default()), ..Link::new(own.scenario.clone()) };
    let text = format!("None of the single changes tried {goal}. ");
    let search = Span::link("Find plans for this load", format!("#{}", search.encode()));
    Block::spans(vec![Span::plain(text), search])
}

/// The best change, if the configuration needs one.
pub fn block(study: &Study, answered: &[&Case]) -> Option<Block> {
    let own = study.own();
    let goal = goal(own)?;
    // Changes of the server first, at the least cost; otherwise what clients would have to accept, or a GPU without a
    // price.
    let meets = |case: &&Case| {
        case.meets_limits() != Some(false) && (own.headline().is_none() || !case.is_overloaded())
    };
    let best = better::recommended(own, answered.iter().copied());
    let all = || answered.iter().copied();
    let (what, rest) = match best {
        Some(case) => (
            match better::is_cheaper_converted(own, case, all()) {
                true => "Cheapest single change with this checkpoint",
                false => "Cheapest single change",
            },
            match better::converts(own, case) {
                true => {
                    ". It needs a checkpoint in that format. A lighter load, more caching, draft tokens and \
                         disaggregation are left out."
                }
                false => ". A lighter load, more caching, draft tokens and disaggregation are left out.",
            },
        ),
        None => ("A change", "."),
    };
    let likely = |with: f64| format!(" ({} to hold when measured)", confidence(with));
    let advice = match best.or_else(|| answered.iter().copied().find(meets)) {
        Some(case) => {
            let mut spans = vec![format!("{what} that {goal}: ").into(), study.open(&case.name, case)];
            if let Some(with) = case.chance_within_limits() {
                spans.push(likely(with).into());
            }
            if let Some((surer, with)) = best.and_then(|case| better::surer(own, case, all())) {
                spans.extend(["; surest: ".into(), study.open(&surer.name, surer), likely(with).into()]);
            }
            spans.push(rest.into());
            Block::spans(spans)
        }
        // Others are still to come.
        None if study.done < study.cases.len() => return None,
        None => none(own, goal),
    };
    Some(advice.called("advice"))
}
