use super::{Sizes, StartCase, compare, read};
use crate::config::catalog;
use crate::evidence::memory::ComparedStart;

/// Llama-3.1-8B in bf16 on one H100 under vLLM, as a log that says no more.
fn start() -> StartCase {
    let line = r#"{"id":"one","source":"log","engine":"vllm","engine_version":"0.11.0","model":"meta-llama/Meta-Llama-3.1-8B",
        "gpu":"h100-sxm","tp":1,"pp":1,"dp":1,"weights":"bf16","hybrid_kv":false,"failed_start":false}"#;
    read(&line.replace('\n', "")).expect("a case").remove(0)
}

fn compared(case: &StartCase) -> ComparedStart {
    compare(case, catalog()).expect("predicted")
}

#[test]
fn invalid_lines_are_named() {
    let error = read("\n{}\n").unwrap_err();
    assert!(error.starts_with("line 2: missing field `id`"), "{error}");
    assert_eq!(read(" \n").unwrap().len(), 0);
}

#[test]
fn assumptions_about_a_log_are_reported() {
    let one = compared(&start());
    assert_eq!(one.assumed, ["share 0.9: the default of version 0.11.0"]);
    assert!(one.predicted.starts && one.logged.starts && !one.near_edge && one.contradiction.is_none());
    // 8.03 billion parameters of two bytes.
    let weights = one.predicted.weights_gib.unwrap();
    assert!((weights - 14.96).abs() < 0.05, "{weights}");
    let unnamed = compared(&StartCase { engine_version: None, memory_share: Some(0.9), ..start() });
    assert!(unnamed.assumed.iter().any(|text| text.starts_with("version ")), "{:?}", unnamed.assumed);
}

#[test]
fn parts_that_fill_more_than_the_share_contradict_it() {
    let given = StartCase { memory_share: Some(0.5), ..start() };
    assert_eq!(compared(&given).contradiction, None);
    let logged = Sizes { weights_gib: Some(15.0), available_kv_gib: Some(60.0), ..given.logged };
    let over = StartCase { logged, ..given.clone() };
    assert!(compared(&over).contradiction.is_some());
    // Where every part is logged, they tell the share.
    let logged = Sizes { activation_gib: Some(1.0), reserve_gib: Some(0.2), ..over.logged };
    let whole = StartCase { logged, ..over };
    let one = compared(&whole);
    assert!(
        one.contradiction.is_none() && one.assumed.iter().any(|text| text.starts_with("share 0.9")),
        "{one:?}"
    );
}

#[test]
fn a_gpu_that_another_stands_for_has_its_own_memory() {
    let share = Some(0.9);
    let own = compared(&StartCase { memory_share: share, ..start() });
    let gh200 = compared(&StartCase { gpu: "gh200-96gb".into(), memory_share: share, ..start() });
    assert!(gh200.assumed.iter().any(|text| text.ends_with("stands for gh200-96gb")), "{:?}", gh200.assumed);
    assert!(gh200.predicted.available_kv_gib > own.predicted.available_kv_gib);
    let unknown = compare(&StartCase { gpu: "abacus".into(), ..start() }, catalog());
    assert_eq!(unknown.unwrap_err(), "no GPU abacus");
}

#[test]
fn a_model_that_is_too_large_does_not_start() {
    let large = StartCase { model: "meta-llama/Meta-Llama-3.1-70B".into(), ..start() };
    let one = compared(&large);
    assert!(!one.predicted.starts && one.predicted.available_kv_gib < Some(0.0), "{:?}", one.predicted);
}
