//! What plans are ranked by.

use rooflight::config::Field;
use rooflight::find::{RankedBy, Request};

use super::plan;

/// A limit on the time between tokens is none for answers of one, so the burst is a job without a deadline.
#[test]
fn a_limit_that_cannot_apply_does_not_decide_what_plans_are_ranked_by() {
    let text = r#"{"model": "qwen3-8b", "burst": 20, "isl": 600, "osl": 1, "slo_tpot": 10, "pp": 1, "tp": 1,
        "vary": {"gpu": ["b200", "a100-sxm-80gb"]}}"#;
    let (_, issues) = Request::from_json(text);
    assert!(issues.iter().any(|issue| issue.field == Field::SloTpot), "{issues:?}");
    let answer = plan(text);
    assert_eq!(answer.ranked_by, RankedBy::DollarsPerMillionOutput);
    let per_million: Vec<f64> =
        answer.plans.iter().filter_map(|plan| plan.dollars_per_million_output).collect();
    assert!(per_million.len() > 1 && per_million.is_sorted(), "{per_million:?}");
}
