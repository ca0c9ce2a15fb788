//! Properties of requests other than their mean lengths.

use rooflight::config::{Bin, Drafts, Field, Lengths, Load, Scenario, Severity, Shape, Slos, Start};
use rooflight::units::count;

use super::{checked, refusal};

#[test]
fn request_lengths_are_bounded() {
    refusal(Field::CachedShare, |scenario| scenario.workload.cached_share = 1.01);
    refusal(Field::LogSpread, |scenario| scenario.workload.log_spread = [f64::NAN; 2]);
    refusal(Field::Burstiness, |scenario| {
        (scenario.workload.load, scenario.workload.burstiness) = (Load::Rate(1.0), 0.0);
    });
    refusal(Field::Drafted, |scenario| scenario.workload.drafts.drafted = 65);
    let text = refusal(Field::Accepted, |scenario| {
        scenario.workload.drafts = Drafts { drafted: 2, accepted: 2.5 };
    });
    assert!(text.contains("2.5") && text.contains("(2)"), "{text}");
    refusal(Field::Drafted, |scenario| {
        scenario.overrides.token_budget = Some(8);
        scenario.workload.drafts.drafted = 8;
    });
    let text = refusal(Field::TokenBudget, |scenario| {
        scenario.engine = "trtllm".into();
        scenario.overrides.token_budget = Some(2048);
        scenario.workload.isl = Lengths::Fixed(30_000);
    });
    assert!(text.contains(&count(30_000.0)) && text.contains(&count(2048.0)), "{text}");
    refusal(Field::LogSpread, |scenario| {
        (scenario.workload.spread, scenario.workload.log_spread) = (0.2, [0.5; 2]);
    });
}

#[test]
fn a_histogram_stands_for_both_lengths() {
    let bin = |prompt, output, weight| Bin { prompt, output, weight };
    let (setup, issues) =
        checked(|scenario| scenario.workload.histogram = vec![bin(100, 10, 3), bin(1000, 90, 1)]);
    let setup = setup.expect("sound");
    assert_eq!((setup.workload.isl.each(), setup.workload.osl), (&[325][..], 30));
    assert_eq!(issues, []);
    assert_eq!((setup.longest(), setup.longest_sequence()), ((1000, 90), 1090.0));
    let (_, issues) = checked(|scenario| {
        (scenario.workload.isl, scenario.workload.osl) = (Lengths::Fixed(5000), 100);
        scenario.workload.histogram = vec![bin(100, 10, 1)];
    });
    let fields: Vec<Field> = issues.iter().map(|issue| issue.field).collect();
    assert_eq!(fields, [Field::Isl, Field::Osl]);
    for bins in [vec![bin(0, 10, 1)], vec![bin(10, 0, 1)], vec![bin(10, 10, 0)], vec![bin(1, 1, 1); 101]] {
        refusal(Field::Histogram, |scenario| scenario.workload.histogram = bins);
    }
    refusal(Field::Histogram, |scenario| {
        (scenario.workload.histogram, scenario.workload.spread) = (vec![bin(10, 10, 1)], 0.1);
    });
    refusal(Field::Histogram, |scenario| {
        (scenario.workload.histogram, scenario.workload.load) = (vec![bin(10, 10, 1)], Load::Batch(4));
    });
    refusal(Field::Isl, |scenario| scenario.workload.histogram = vec![bin(200_000, 10, 1), bin(10, 10, 99)]);
}

#[test]
fn log_normal_lengths_are_cut_to_the_context() {
    let longest = |isl, osl| {
        let (setup, issues) = checked(|scenario| {
            scenario.workload.isl = Lengths::Fixed(isl);
            (scenario.workload.osl, scenario.workload.log_spread) = (osl, [1.0; 2]);
        });
        let setup = setup.unwrap_or_else(|| panic!("{issues:?}"));
        (setup.longest(), setup.model.max_context)
    };
    assert_eq!(longest(1000, 100).0, (12_182, 1_218));
    let ((prompt, output), context) = longest(60_000, 20_000);
    assert!(prompt + output <= context && prompt + output > context - 2 && output > 20_000);
}

#[test]
fn loads_without_end_or_sense_are_refused() {
    let of = |load: Load| move |scenario: &mut Scenario| scenario.workload.load = load;
    for (field, load) in [
        (Field::ConstantRate, Load::ConstantRate(0.0)),
        (Field::SessionRate, Load::SessionRate(0.0)),
        (Field::SessionRate, Load::SessionRate(f64::INFINITY)),
        (Field::Burst, Load::Burst(0)),
        (Field::Burst, Load::Burst(100_001)),
        (Field::Offline, Load::Offline(0)),
        (Field::Sessions, Load::Sessions(0)),
    ] {
        refusal(field, of(load));
    }
    refusal(Field::Sessions, |scenario| {
        scenario.workload.load = Load::Sessions(100_000);
        (scenario.workload.turns.count, scenario.workload.turns.message, scenario.workload.osl) = (100, 1, 1);
    });
    refusal(Field::Requests, |scenario| scenario.workload.requests = Some(0));
    refusal(Field::Ramp, |scenario| scenario.workload.start = Start::Ramp(1e6));
    refusal(Field::Stagger, |scenario| scenario.workload.start = Start::Stagger(f64::NAN));
    refusal(Field::MaxInFlight, |scenario| {
        (scenario.workload.load, scenario.workload.max_in_flight) = (Load::Burst(9), Some(0));
    });
    refusal(Field::Turns, |scenario| {
        scenario.workload.load = Load::Sessions(4);
        scenario.workload.turns.count = 0;
    });
    refusal(Field::ThinkTime, |scenario| {
        scenario.workload.load = Load::Sessions(4);
        scenario.workload.turns.think_s = 1e9;
    });
    let text = refusal(Field::Turns, |scenario| {
        scenario.workload.load = Load::Sessions(4);
        scenario.workload.turns.count = 300;
    });
    assert!(text.contains("300 turns come to") && text.contains("fewer turns"), "{text}");
    refusal(Field::Shape, |scenario| {
        (scenario.workload.spread, scenario.workload.shape) = (0.2, Some(Shape::Sharegpt));
    });
    // A list of lengths is of a static batch.
    refusal(Field::Isl, |scenario| {
        (scenario.workload.load, scenario.workload.isl) = (Load::Burst(2), Lengths::Each(vec![1, 2]));
    });
}

#[test]
fn sessions_grow_and_are_cut_to_the_context() {
    let session = |change: fn(&mut Scenario)| {
        let (setup, issues) = checked(|scenario| {
            scenario.workload.load = Load::Sessions(4);
            change(scenario);
        });
        setup.unwrap_or_else(|| panic!("{issues:?}"))
    };
    let plain = session(|_| {});
    assert_eq!(plain.longest(), (1024 + 7 * (140 + 512), 512));
    assert_eq!(plain.mean_prompt(), 1024.0 + 3.5 * (140.0 + 512.0));
    let varied = session(|scenario| scenario.workload.log_spread = [1.5; 2]);
    assert!(varied.longest_sequence() <= f64::from(varied.model.max_context));
}

#[test]
fn uncounted_inputs_have_a_warning_on_their_field() {
    let warned = |change: fn(&mut Scenario)| {
        let (setup, issues) = checked(change);
        assert!(setup.is_some(), "{issues:?}");
        issues.into_iter().map(|issue| (issue.field, issue.severity)).collect::<Vec<_>>()
    };
    let warning = |field| vec![(field, Severity::Warning)];

    assert_eq!(
        warned(|scenario| scenario.workload.drafts = Drafts { drafted: 2, accepted: 1.0 }),
        warning(Field::Drafted)
    );
    assert_eq!(warned(|scenario| scenario.workload.burstiness = 0.5), warning(Field::Load));
    assert_eq!(warned(|scenario| scenario.workload.requests = Some(15)), warning(Field::Requests));
    assert_eq!(warned(|scenario| scenario.workload.max_in_flight = Some(15)), warning(Field::Load));
    let batch = warned(|scenario| {
        (scenario.workload.load, scenario.workload.log_spread) = (Load::Batch(4), [0.5; 2]);
    });
    assert_eq!(batch, warning(Field::LogSpread));
}

#[test]
fn whole_prompts_that_starve_decoding_are_said() {
    let warnings = |load, isl| {
        let (_, issues) = checked(|scenario| {
            scenario.engine = "trtllm".into();
            scenario.overrides.token_budget = Some(8192);
            (scenario.workload.load, scenario.workload.isl) = (load, Lengths::Fixed(isl));
        });
        let of_budget = issues.into_iter().filter(|issue| issue.field == Field::TokenBudget);
        of_budget.map(|issue| issue.text).collect::<Vec<_>>().concat()
    };
    for (load, isl, least) in [
        (Load::Concurrency(16), 8192, Some(8207.0)),
        (Load::Concurrency(16), 8180, Some(8195.0)),
        (Load::Concurrency(16), 8177, None),
        (Load::Concurrency(1), 8192, None),
        (Load::Rate(2.0), 8192, Some(8192.0 + 2048.0)),
        (Load::Rate(2.0), 8191, None),
    ] {
        let text = warnings(load, isl);
        match least {
            Some(least) => assert!(text.ends_with(&count(least)), "{load:?} {isl}: {text}"),
            None => assert_eq!(text, "", "{load:?} {isl}"),
        }
    }
}

#[test]
fn a_static_batch_has_none_of_a_schedulers_limits() {
    let of = |limit: Option<u32>| {
        checked(|scenario| {
            scenario.workload.load = Load::Batch(16);
            (scenario.overrides.token_budget, scenario.overrides.max_seqs) = (limit, limit);
        })
    };
    let ((given, issues), (usual, none)) = (of(Some(4)), of(None));
    assert_eq!(given, usual);
    let fields: Vec<Field> = issues.iter().map(|issue| issue.field).collect();
    assert!(fields == [Field::TokenBudget, Field::MaxSeqs] && none.is_empty(), "{issues:?} {none:?}");
}

#[test]
fn image_tokens_need_images() {
    for (images, reported) in [(0, true), (1, false)] {
        let (_, issues) = checked(|scenario| {
            scenario.model = super::model("qwen3-vl-32b-instruct");
            (scenario.workload.images, scenario.workload.image_tokens) = (images, Some(500));
        });
        assert_eq!(issues.iter().any(|issue| issue.field == Field::ImageTokens), reported, "{issues:?}");
    }
}

#[test]
fn what_counts_for_limits_needs_one() {
    let about = |share: Option<f64>, ttft_ms: Option<f64>| {
        let (_, issues) =
            checked(|scenario| scenario.workload.slos = Slos { share, ttft_ms, ..Slos::default() });
        issues.iter().filter(|issue| issue.field == Field::SloShare).count()
    };
    assert_eq!([about(Some(0.5), None), about(Some(0.5), Some(100.0)), about(None, None)], [1, 0, 0]);
}
