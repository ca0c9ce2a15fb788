//! What choosing resets, and what the form shows.

use rooflight::config::inputs::reset;
use rooflight::config::link::{decode, encode};
use rooflight::config::{Field, Issue, Severity};

/// The link after `chosen` was set by the pairs of `change`, and the notes.
fn chosen(link: &str, chosen: Field, change: &str) -> (String, Vec<String>) {
    let (mut scenario, to) = (decode(link).0.scenario, decode(change).0.scenario);
    match chosen {
        Field::Model => scenario.model = to.model,
        Field::Gpu => scenario.gpu = to.gpu,
        _ => scenario.workload.load = to.workload.load,
    }
    let notes = reset(&mut scenario, chosen);
    assert!(notes.iter().all(|note| note.field == chosen && !note.is_error()));
    // What changes all numbers is a warning.
    let of_format = |note: &Issue| {
        note.text.starts_with("Weights were reset") || note.text.contains("KV cache was reset")
    };
    assert!(notes.iter().all(|note| (note.severity == Severity::Warning) == of_format(note)), "{notes:?}");
    (encode(&scenario), notes.into_iter().map(|note| note.text).collect())
}

#[test]
fn choosing_resets_what_it_rules_out() {
    for (link, field, change, left, said) in [
        (
            "m=qwen3-30b-a3b&tp=4&ep=4&dp=2",
            Field::Model,
            "m=qwen3-32b",
            "v=1&m=qwen3-32b&tp=4",
            "Expert parallel",
        ),
        ("m=gpt-oss-120b&w=mxfp4", Field::Model, "m=qwen3-32b", "v=1&m=qwen3-32b", "Weights"),
        ("e=trtllm&w=fp8&kv=fp8", Field::Gpu, "g=a100-sxm-80gb", "v=1&g=a100-sxm-80gb&e=trtllm", "Weights"),
        ("r=2&bu=0.5", Field::Load, "c=8", "v=1&c=8", "Burstiness"),
        ("c=4&ru=5&np=9", Field::Load, "bn=8", "v=1&bn=8", "Ramp was reset from 5 to none"),
        ("sn=4&tn=3", Field::Load, "c=8", "v=1&c=8", "Turns"),
        ("hl=10-20x3,50-60", Field::Load, "b=4", "v=1&isl=20&osl=30&b=4", "histogram"),
        ("b=2&isl=100,200", Field::Load, "c=8", "v=1&isl=150&c=8", "list"),
    ] {
        let (link, notes) = chosen(link, field, change);
        assert_eq!(link, left);
        assert!(notes.iter().any(|note| note.contains(said)), "{notes:?}");
    }
}

#[test]
fn choosing_keeps_what_it_allows() {
    for (link, field, change, left) in [
        ("m=qwen3-30b-a3b&tp=4&ep=4", Field::Model, "m=gpt-oss-120b", "v=1&m=gpt-oss-120b&tp=4&ep=4"),
        ("w=fp8&kv=fp8", Field::Gpu, "g=h200-sxm", "v=1&g=h200-sxm&w=fp8&kv=fp8"),
        ("r=2&rr=0.3&sd=2", Field::Load, "c=8", "v=1&rr=0.3&sd=2&c=8"),
    ] {
        assert_eq!(chosen(link, field, change), (left.into(), vec![]));
    }
}

#[test]
fn the_form_shows_what_applies_and_what_could_be_set_back() {
    let shows = |link: &str, field: Field| field.input().is_shown(&decode(link).0.scenario);
    for field in [Field::Model, Field::Isl, Field::Load, Field::Concurrency, Field::Price] {
        assert!(shows("", field), "{field:?}");
    }
    for field in [Field::Rate, Field::Burstiness, Field::Ep, Field::Histogram, Field::Version] {
        assert!(!shows("", field), "{field:?}");
    }
    assert!(shows("r=2", Field::Burstiness) && !shows("r=2", Field::Concurrency));
    assert!(shows("sn=4", Field::Turns) && shows("sr=4", Field::Burstiness) && !shows("bn=4", Field::Turns));
    assert!(
        shows("bn=4", Field::MaxInFlight) && !shows("bn=4", Field::Requests) && shows("sn=4", Field::Ramp)
    );
    assert!(shows("m=qwen3-30b-a3b", Field::Ep));
    // These have no effect there, but are in the link.
    assert!(shows("ep=4", Field::Ep) && shows("c=4&bu=2", Field::Burstiness));
}
