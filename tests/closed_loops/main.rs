//! The measured closed loops: each is launched in a way a node could, and those that contradict others are
//! printed.
//!
//! The cases are read from the data folder (`ROOFLIGHT_DATA`, by default `../shared/data`); without it the
//! tests say so and pass.
#![cfg(feature = "tools")]

mod contradictions;
mod launches;

use std::collections::BTreeMap;
use std::path::PathBuf;

use rooflight::evidence::cases::{Cases, ServedCase};
use rooflight::evidence::contradictions::contradictions;
use rooflight::evidence::launch::{Origin, launch};

fn cases() -> Option<Vec<ServedCase>> {
    let folder = std::env::var_os("ROOFLIGHT_DATA").unwrap_or_else(|| "../shared/data".into());
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder).join("e2e/cases.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no {}", path.display());
        return None;
    };
    let mut cases = Cases::default();
    cases.read(&text, true).expect("the cases parse");
    Some(cases.served)
}

#[test]
fn every_case_has_a_launch_that_fits_a_node() {
    let Some(cases) = cases() else { return };
    let (mut origins, mut excluded): (BTreeMap<_, usize>, BTreeMap<_, usize>) = Default::default();
    for case in &cases {
        let launch = launch(case).expect("a launch");
        let origin = match &launch.origin {
            Origin::Recorded => "recorded".to_owned(),
            Origin::Published => "published".to_owned(),
            Origin::Assumed => "assumed".to_owned(),
            Origin::Defaults(why) => format!("defaults: {why}"),
        };
        *origins.entry(origin).or_default() += 1;
        if let Some(reason) = launch.excluded.clone() {
            *excluded.entry(reason).or_default() += 1;
        }
        let layout = launch.layout;
        assert!(layout.gpus <= 8 && layout.gpus.is_multiple_of(layout.ep), "{}: {layout:?}", case.id);
        assert_eq!(layout.tp * layout.attention_dp, layout.gpus, "{}", case.id);
        assert!(launch.token_budget >= 1024, "{}", case.id);
        assert!(launch.requests(case.concurrency) >= 10 * case.concurrency, "{}", case.id);
    }
    println!("{} cases\n{origins:#?}\nexcluded: {excluded:#?}", cases.len());
}

#[test]
fn few_cases_contradict_others() {
    let Some(cases) = cases() else { return };
    let cases: Vec<_> = cases.iter().collect();
    let found = contradictions(&cases, &|_| None);
    for case in &found {
        println!("{}: {}", case.id, case.reasons.join("; "));
    }
    assert!(found.len() * 50 < cases.len(), "{} of {}", found.len(), cases.len());
}
