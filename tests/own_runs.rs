//! Predictions calibrated on the visitor's own runs.
#![cfg(feature = "tools")]

use std::cell::Cell;
use std::sync::LazyLock;

use rooflight::api::{Failure, FailureKind, Options, ParsedScenario, Prediction};
use rooflight::efficiency::onnx::Models;
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::evidence::models::shipped_models;
use rooflight::serving::run::OwnRuns;
use serde_json::{Value, json};

const CONFIGURATION: &str = "v=1&m=qwen3-32b&tp=2&osl=128&c=32";

static MODELS: LazyLock<Models> = LazyLock::new(|| shipped_models().expect("the shipped models"));

fn predict(measured: &[Value]) -> Prediction {
    predict_link(CONFIGURATION, measured)
}

fn predict_link(link: &str, measured: &[Value]) -> Prediction {
    let options = Options { measured: Some(measured.to_vec().into()), ..Options::default() };
    let ask = |rows: &Rows| -> Result<Efficiencies, Failure> {
        let failed = |error: rooflight::efficiency::onnx::ModelError| {
            Failure::new(FailureKind::Models, error.to_string())
        };
        MODELS.answer(rows).map(Efficiencies::Learned).map_err(failed)
    };
    ParsedScenario::with(link, &options).predict(&options, ask)
}

/// Mean TPOT in ms, and the width of its band as a ratio.
fn tpot(prediction: &Prediction) -> (f64, f64) {
    let report = prediction.report.as_ref().expect("an answer");
    let run = report.run.as_ref().expect("a run");
    let bands = &report.calibrated.as_ref().expect("calibrated").bands;
    let band = bands.tpot.as_ref().expect("a band of TPOT").mean;
    (run.metrics.tpot.expect("several tokens").mean * 1e3, band.high / band.low)
}

/// A run at 8 clients that took so many times as long as predicted.
fn slower(times: f64) -> Value {
    let at_8 = ParsedScenario::read("v=1&m=qwen3-32b&tp=2&osl=128&c=8");
    let alone = at_8.predict(&Options::default(), |rows| {
        MODELS
            .answer(rows)
            .map(Efficiencies::Learned)
            .map_err(|error| Failure::new(FailureKind::Models, error.to_string()))
    });
    let metrics = alone.report.and_then(|report| report.run).expect("a run").metrics;
    let (ttft, tpot) = (metrics.ttft.mean, metrics.tpot.expect("several tokens").mean);
    json!({"concurrency": 8, "measured": {"mean_ttft_ms": ttft * 1e3 * times, "mean_tpot_ms": tpot * 1e3 * times}})
}

#[test]
fn a_run_moves_its_neighbours_and_narrows_their_bands() {
    let (without, wide) = tpot(&predict(&[]));
    let prediction = predict(&[slower(1.2)]);
    let (with, narrow) = tpot(&prediction);
    assert!(with > 1.05 * without && with < 1.3 * without, "{without} ms without the run, {with} ms with it");
    assert!(narrow < wide, "{wide} without the run, {narrow} with it");
    let calibrated = prediction.report.and_then(|report| report.calibrated).expect("calibrated");
    assert_eq!(calibrated.support.own, 1);
    let before = calibrated.without_own.expect("the run without").metrics.tpot.expect("several tokens");
    assert!((before.mean * 1e3 / without - 1.0).abs() < 1e-9);
    assert!(prediction.link.contains("&run="), "{}", prediction.link);
}

/// A prediction that follows a measurement would be close to it, whatever the measurement is.
#[test]
fn a_measurement_is_compared_with_the_prediction_without_own_runs() {
    let link = format!("{CONFIGURATION}&me=tpot-60");
    let difference = |prediction: &Prediction| {
        let tpot = prediction.measured.iter().find(|one| one.name == "tpot").expect("measured");
        (tpot.predicted, tpot.difference)
    };
    let alone = difference(&predict_link(&link, &[]));
    assert!(alone.1 < -0.2, "{alone:?}");
    assert_eq!(difference(&predict_link(&link, &[slower(1.5)])), alone);
}

/// TTFT does not respond linearly to long steps: a run is evaluated at the factors it leads to, not at the physics.
#[test]
fn a_run_far_off_is_met_at_its_own_load() {
    let run = json!({"measured": {"mean_ttft_ms": 250.1, "mean_tpot_ms": 11.2}});
    let report = predict_link("v=1", &[run]).report.expect("an answer");
    let metrics = report.run.expect("a run").metrics;
    let (ttft, tpot) = (metrics.ttft.mean * 1e3, metrics.tpot.expect("several tokens").mean * 1e3);
    assert!((ttft / 250.1 - 1.0).abs() < 0.06 && (tpot / 11.2 - 1.0).abs() < 0.02, "{ttft} {tpot}");
}

#[test]
fn a_run_as_predicted_moves_nothing_far() {
    let ((without, _), (with, _)) = (tpot(&predict(&[])), tpot(&predict(&[slower(1.0)])));
    assert!((with / without - 1.0).abs() < 0.05, "{without} ms without the run, {with} ms with it");
}

#[test]
fn unusable_runs_are_named_and_the_rest_used() {
    let impossible = json!({"concurrency": 8, "measured": {"mean_tpot_ms": 2.0}});
    let silent = json!({"concurrency": 8});
    let unknown = json!("v=1&m=another&me=tpot-20");
    let prediction = predict(&[impossible, silent, unknown, slower(1.1)]);
    assert_eq!(prediction.report.and_then(|report| report.calibrated).expect("calibrated").support.own, 1);
    let texts: Vec<&str> = prediction.issues.iter().map(|issue| issue.text.as_str()).collect();
    for (found, of) in [("peak rates", "your run 1"), ("has no measurements", "run 2"), ("another", "run 2")]
    {
        assert!(texts.iter().any(|text| text.contains(found) && text.contains(of)), "{found}: {texts:?}");
    }
}

#[test]
fn a_run_that_contradicts_the_others_is_called_out() {
    let off = json!({"concurrency": 16, "measured": {"mean_tpot_ms": 40.0}});
    let prediction = predict(&[slower(1.0), slower(1.02), off]);
    let called = |prediction: &Prediction, text: &str| {
        let called = prediction.issues.iter().filter(|issue| issue.text.contains(text)).count();
        assert!(called > 0, "{text}: {:?}", prediction.issues);
    };
    called(&prediction, "contradicts the others");
    let [little, much] = [(8, 500, 25), (32, 2200, 35)].map(|(clients, ttft, tpot)| {
        json!({"concurrency": clients, "measured": {"mean_ttft_ms": ttft, "mean_tpot_ms": tpot}})
    });
    let two = predict_link("v=1&m=qwen3-32b&tp=2", &[little, much]);
    called(&two, "contradicts the other: ");
    called(&two, "measure both again");
}

#[test]
fn a_run_is_observed_once() {
    let run = |isl: u32| {
        let text = format!("v=1&m=qwen3-32b&tp=2&isl={isl}&osl=128&c=8&me=ttft-80,tpot-15");
        ParsedScenario::read(&text).link.expect("a link").scenario
    };
    let mut own_runs = OwnRuns::default();
    let asked = Cell::new(0);
    let ask = |rows: &Rows| {
        asked.set(asked.get() + 1);
        MODELS.answer(rows).map(Efficiencies::Learned)
    };
    let (one, _) = own_runs.of(&[run(512)], &ask).expect("the models answer");
    assert_eq!(asked.get(), 1);
    let (two, _) = own_runs.of(&[run(512), run(600)], &ask).expect("the models answer");
    assert_eq!((one.len(), two.len(), asked.get()), (1, 2, 2), "only the new one is simulated");
    let (none, _) = own_runs.of(&[], &ask).expect("nothing is asked");
    assert!(none.is_empty());
}

/// Close to capacity times rise steeply with the load: bands widen upwards, but no measurement is expected below what fewer
/// requests take.
#[test]
fn bands_near_capacity_stay_above_those_of_a_light_load() {
    let of = |rate: f64| {
        let link = format!("v=1&m=llama-3.3-70b-instruct&tp=4&w=fp8&st=1000&sp=30&r={rate}");
        let calibrated = predict_link(&link, &[]).report.and_then(|report| report.calibrated);
        let bands = calibrated.expect("calibrated").bands;
        [bands.ttft.mean, bands.tpot.expect("several tokens").mean]
    };
    let light = of(0.5);
    for rate in [7.8, 8.8] {
        for (near, idle) in of(rate).iter().zip(&light) {
            assert!(near.low > idle.low, "{rate}/s: {near:?} against {idle:?}");
        }
    }
}

#[test]
fn a_run_of_another_engine_changes_nothing_and_does_not_count() {
    let mut run = slower(1.2);
    run["engine"] = "sglang".into();
    let prediction = predict(&[run]);
    assert_eq!(tpot(&prediction), tpot(&predict(&[])));
    let calibrated = prediction.report.and_then(|report| report.calibrated).expect("calibrated");
    assert_eq!(calibrated.support.own, 0);
}
