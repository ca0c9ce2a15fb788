//! The shipped models, run by tract.
#![cfg(feature = "infer")]

use std::fs;
use std::path::PathBuf;

use rooflight::efficiency::onnx::{ModelError, Models};
use rooflight::kernels::Family;

/// Rows and the answers to them, written by training.
#[derive(serde::Deserialize)]
struct Check {
    features: Vec<Vec<f32>>,
    answers: Vec<[f32; 2]>,
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models").join(name)
}

fn manifest() -> String {
    fs::read_to_string(file("manifest.json")).expect("a manifest")
}

fn shipped() -> Models {
    let bytes = |name: &str| Ok(fs::read(file(name)).expect("a model"));
    Models::new(&manifest(), bytes).expect("the shipped models load")
}

fn check(family: Family) -> Check {
    let text = fs::read_to_string(file(&format!("{}.check.json", family.id()))).expect("a check");
    serde_json::from_str(&text).expect("rows and answers")
}

#[test]
fn tract_answers_as_training_did() {
    let models = shipped();
    for &family in Family::ALL {
        let check = check(family);
        let answers = models.run(family, &check.features.concat()).expect("runs");
        assert_eq!(answers.len(), check.answers.len());
        for (ours, [ln_efficiency, ln_spread]) in answers.iter().zip(&check.answers) {
            let off = (ours.ln_efficiency - ln_efficiency).abs();
            assert!(off < 1e-4, "{family:?}: {ours:?} against {ln_efficiency}");
            // Rows are training rows: within the hull, and bounded in proportion to their spread.
            assert!(!ours.outside, "{family:?}");
            let factor = ours.ln_bound.expect("calibrated") / ln_spread.exp();
            let known = models.manifest().families[&family].interval_80;
            let factors = [known.seen, known.unseen].map(|bounds| bounds.expect("calibrated").factor as f32);
            assert!(factors.iter().any(|known| (factor / known - 1.0).abs() < 1e-3), "{family:?}: {factor}");
        }
    }
}

#[test]
fn a_row_has_one_answer_in_any_batch() {
    let models = shipped();
    let rows = check(Family::Gemm).features;
    let alone: Vec<f32> = rows
        .iter()
        .flat_map(|row| models.run(Family::Gemm, row).expect("runs"))
        .map(|answer| answer.ln_efficiency)
        .collect();
    // More rows than the largest planned batch.
    let many: Vec<f32> = rows.iter().cycle().take(1025).flatten().copied().collect();
    let answers = models.run(Family::Gemm, &many).expect("runs");
    assert_eq!(answers.len(), 1025);
    for (index, answer) in answers.iter().enumerate() {
        assert!((answer.ln_efficiency - alone[index % rows.len()]).abs() < 1e-5);
    }
}

#[test]
fn rows_far_from_the_training_data_are_flagged() {
    let mut row = check(Family::Gemm).features[0].clone();
    row[6] += 40.0;
    assert!(shipped().run(Family::Gemm, &row).expect("runs")[0].outside);
}

#[test]
fn a_file_cut_off_is_refused_by_name() {
    let error = Models::new(&manifest(), |_| Ok(vec![0; 10])).expect_err("cut off");
    assert!(matches!(error, ModelError::Length { .. }), "{error}");
}

#[test]
fn no_rows_give_no_answers() {
    assert!(shipped().run(Family::Gemm, &[]).expect("runs").is_empty());
}
