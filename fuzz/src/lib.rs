//! What strangers can hand to Rooflight: each function reads such a text and asserts what holds of any.
//! `tests/fuzzed.rs` runs them for a few seconds, cargo-fuzz without end: `cargo +nightly fuzz run link`, or
//! `config_json`, `trace` or `measured`.

use rooflight::config::catalog::catalog;
use rooflight::config::link::{self, Link};
use rooflight::config::measured::paste;
use rooflight::config::model::import::import;
use rooflight::config::{Issue, ModelChoice, Scenario, check};
use rooflight::serving::plan;
use rooflight::serving::run::{Trace, histogram, longest, means};

/// A link or a scenario in the JSON form.
pub fn link(text: &str) {
    let (link, _) = link::decode(text);
    // What this release writes it reads without a word, and the same.
    let written = link.encode();
    let (again, _) = link::decode(&written);
    assert_eq!((&again.scenario, &again.extra), (&link.scenario, &link.extra), "{written}");
    assert_eq!((&again.compared, &again.data_release), (&link.compared, &link.data_release), "{written}");
    answers(&link.scenario, text);
    let (link, issues) = Link::from_json(text);
    assert_eq!(link.is_none(), issues.iter().any(Issue::is_error), "{text}");
    if let Some(link) = link {
        answers(&link.scenario, text);
    }
}

/// A model's `config.json`.
pub fn config_json(text: &str) {
    let (model, issues) = import(text, None);
    assert_eq!(model.is_none(), issues.iter().any(Issue::is_error), "{text}");
    let Some(model) = model else { return };
    let scenario = Scenario { model: ModelChoice::Custom(Box::new(model)), ..Scenario::default() };
    let (link, issues) = link::decode(&link::encode(&scenario));
    assert_eq!((issues.as_slice(), &link.scenario), (&[][..], &scenario), "{text}");
    answers(&scenario, text);
}

/// A trace of requests, or a histogram of their lengths.
pub fn trace(text: &str) {
    let (trace, issues) = Trace::parse(text);
    assert_eq!(trace.is_none(), issues.iter().any(Issue::is_error), "{text}");
    if let Some(trace) = trace {
        let ((prompt, output), most) = (means(&trace.requests), longest(&trace.requests));
        assert!(prompt <= most.0 && output <= most.1, "{text}");
        assert!(trace.rate().is_none_or(f64::is_finite), "{text}");
    }
    if let Some(Ok(bins)) = histogram::parse(text) {
        let written = link::show_histogram(&bins);
        assert_eq!(link::histogram(&written), Ok(bins), "{text}");
    }
}

/// The report of a benchmark.
pub fn measured(text: &str) {
    let (measured, issues) = paste::read(text, &Scenario::default());
    assert_eq!(measured.is_none(), issues.iter().any(Issue::is_error), "{text}");
    let Some(measured) = measured else { return };
    let scenario = Scenario { measured, ..Scenario::default() };
    assert_eq!(link::decode(&link::encode(&scenario)), (Link::new(scenario), Vec::new()), "{text}");
}

/// Texts for each that is planned: planning takes a hundred times as long as reading.
const PLANNED: usize = 16;

/// Whatever was read of `text` is checked and planned, or refused with a reason.
fn answers(scenario: &Scenario, text: &str) {
    let (setup, issues) = check(scenario, catalog());
    assert_eq!(setup.is_none(), issues.iter().any(Issue::is_error));
    let planned = setup.filter(|_| text.len().is_multiple_of(PLANNED));
    if let Some(Err(issues)) = planned.map(|setup| plan(&setup)) {
        assert!(!issues.is_empty());
    }
}
