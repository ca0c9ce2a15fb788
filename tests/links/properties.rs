//! What holds of every link: scenarios survive it, and no text makes the reader fall over.

use proptest::prelude::*;
use rooflight::config::catalog::catalog;
use rooflight::config::link::{Link, VERSION, decode, encode};
use rooflight::config::model::Attention;
use rooflight::config::{
    Bin, Drafts, Dtype, Lengths, Load, Measured, Metric, ModelChoice, Overrides, Prefill, Scenario, Shape,
    Slos, SpecSheet, Start, Turns, Workload,
};

fn lengths() -> impl Strategy<Value = Lengths> {
    prop_oneof![
        any::<u32>().prop_map(Lengths::Fixed),
        prop::collection::vec(prop_oneof![Just(512u32), any::<u32>()], 0..40).prop_map(Lengths::Each),
    ]
}

/// A share or a price as one is typed: a decimal of at most 15 digits.
fn decimal() -> impl Strategy<Value = f64> {
    let decimal = (0u64..1_000_000_000_000_000, 0i32..=22);
    decimal.prop_map(|(digits, places)| digits as f64 / 10f64.powi(places))
}

fn number() -> impl Strategy<Value = Option<f64>> {
    prop::option::of(decimal())
}

fn load() -> impl Strategy<Value = Load> {
    (prop::sample::select(&Load::SIZES[..]), any::<u32>(), decimal()).prop_map(|(size, count, decimal)| {
        let load = Load::of(size, f64::from(count));
        if load.is_rate() { Load::of(size, decimal) } else { load }
    })
}

fn start() -> impl Strategy<Value = Start> {
    prop_oneof![Just(Start::AtOnce), decimal().prop_map(Start::Ramp), decimal().prop_map(Start::Stagger)]
}

prop_compose! {
    fn turns()(
        (count, message) in any::<(u32, u32)>(),
        (think_s, history_cached, host_gib) in (decimal(), decimal(), decimal()),
    ) -> Turns {
        Turns { count, message, think_s, history_cached, host_gib }
    }
}

fn histogram() -> impl Strategy<Value = Vec<Bin>> {
    let weight = prop_oneof![Just(1u32), any::<u32>()];
    let bin = (any::<u32>(), any::<u32>(), weight);
    prop::collection::vec(bin.prop_map(|(prompt, output, weight)| Bin { prompt, output, weight }), 0..=20)
}

/// Numbers of up to 15 digits; those that are none of their metric are left out.
fn measured() -> impl Strategy<Value = Measured> {
    let number = (0..Metric::ALL.len(), any::<bool>(), decimal());
    prop::collection::vec(number, 0..8).prop_map(|numbers| {
        let mut measured = Measured::default();
        for (metric, median, value) in numbers {
            let _ = measured.set(Metric::ALL[metric], median, value);
        }
        measured
    })
}

fn model_choice() -> impl Strategy<Value = ModelChoice> {
    let custom =
        (any::<u32>(), any::<u32>(), ".{0,20}", any::<bool>()).prop_map(|(hidden, heads, name, tied)| {
            let mut model = catalog().models.models[0].clone();
            (model.hidden, model.name, model.tied_embeddings) = (hidden, name, tied);
            if let Some(Attention::Gqa(gqa)) = &mut model.blocks[0].attention {
                gqa.heads = heads;
            }
            ModelChoice::Custom(Box::new(model))
        });
    prop_oneof![".{1,40}".prop_map(ModelChoice::Catalog), custom]
}

prop_compose! {
    fn prefill()(
        workers in any::<u32>(),
        gpu in prop::option::of(".{1,30}"),
        (tp, pp, dp, ep) in (1u32..=128, 1u32..=128, 1u32..=128, 1u32..=128),
        token_budget in any::<Option<u32>>(),
        (send_gb_per_s, send_us) in (number(), number()),
    ) -> Prefill {
        Prefill { workers, gpu, tp, pp, dp, ep, token_budget, send_gb_per_s, send_us }
    }
}

prop_compose! {
    fn spec()(
        sms in any::<Option<u32>>(),
        (clock_mhz, bf16_tflops, fp8_tflops, fp4_tflops, int8_tflops) in
            (number(), number(), number(), number(), number()),
        (memory_gib, bandwidth, l2_mib, l2_bandwidth) in (number(), number(), number(), number()),
        (link, network, power_w) in (number(), number(), number()),
    ) -> SpecSheet {
        SpecSheet {
            sms, clock_mhz, bf16_tflops, fp8_tflops, fp4_tflops, int8_tflops, memory_gib, bandwidth, l2_mib,
            l2_bandwidth, link, network, power_w,
        }
    }
}

prop_compose! {
    fn scenario()(
        model in model_choice(),
        gpu in ".{1,30}",
        engine in "[a-z]{1,10}",
        (tp, pp, replicas, dp, ep) in (1u32..=128, 1u32..=128, 0u32..=1_000, 1u32..=128, 1u32..=128),
        weights in prop::option::of(prop::sample::select(Dtype::ALL)),
        kv in prop::sample::select(Dtype::ALL),
        isl in lengths(),
        osl in any::<u32>(),
        (load, spread, start, turns) in (load(), decimal(), start(), turns()),
        (shape, requests, max_in_flight) in
            (prop::option::of(prop::sample::select(Shape::ALL)), any::<Option<u32>>(), any::<Option<u32>>()),
        (log_spread, histogram, burstiness) in (decimal(), histogram(), decimal()),
        (cached_share, drafted, accepted, images, image_tokens) in
            (decimal(), any::<u32>(), decimal(), any::<u32>(), any::<Option<u32>>()),
        (ttft_ms, tpot_ms, e2e_ms, percentile, share) in (number(), number(), number(), number(), number()),
        (token_budget, max_seqs) in (any::<Option<u32>>(), any::<Option<u32>>()),
        ((memory_share, sustained, power_cap, power_overhead, price), measured, prefill, spec) in
            ((number(), number(), number(), number(), number()), measured(), prefill(), spec()),
    ) -> Scenario {
        Scenario {
            model, gpu, spec, engine, tp, pp, dp, ep, replicas, prefill, weights, kv,
            workload: Workload {
                isl, osl, spread, log_spread, shape, histogram, load, burstiness, start, requests, max_in_flight, turns,
                cached_share,
                drafts: Drafts { drafted, accepted },
                images, image_tokens,
                slos: Slos { ttft_ms, tpot_ms, e2e_ms, percentile, share },
            },
            overrides: Overrides {
                token_budget, max_seqs, memory_share, sustained, power_cap, power_overhead, price,
            },
            measured,
        }
    }
}

proptest! {
    #[test]
    fn every_scenario_survives_its_link(scenario in scenario()) {
        let (link, issues) = decode(&format!("https://example.org/#{}", encode(&scenario)));
        prop_assert_eq!(issues, []);
        prop_assert_eq!(link, Link::new(scenario));
    }

    #[test]
    fn every_comparison_survives_its_link(scenario in scenario(), compared in prop::collection::vec(scenario(), 0..=3)) {
        let link = Link { compared, ..Link::new(scenario) };
        let (read, issues) = decode(&format!("https://example.org/#{}", link.encode()));
        prop_assert_eq!(issues, []);
        prop_assert_eq!(read, link);
    }

    #[test]
    fn every_scenario_survives_its_json(scenario in scenario()) {
        let (read, issues) = Scenario::from_json(&scenario.to_json().to_string());
        prop_assert_eq!(issues, []);
        prop_assert_eq!(read, Some(scenario));
    }

    #[test]
    fn whatever_is_read_is_written_the_same(text in "#?([a-z]{1,3}=[0-9a-zA-Z%.,&#=-]{0,12}&?){0,8}") {
        let (link, _) = decode(&text);
        let (again, _) = decode(&link.encode());
        prop_assert_eq!(again.scenario, link.scenario);
        prop_assert_eq!(again.extra, link.extra);
        prop_assert_eq!(again.version, VERSION);
    }

    #[test]
    fn no_text_panics(text in any::<String>(), json in any::<String>()) {
        decode(&text);
        Scenario::from_json(&text);
        Scenario::from_json(&format!("{{\"isl\": {json}}}"));
    }

    #[test]
    fn no_damaged_link_panics(scenario in scenario(), at in any::<prop::sample::Index>(), byte in any::<char>()) {
        let text = encode(&scenario);
        let mut characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len());
        characters[at] = byte;
        decode(&characters.iter().collect::<String>());
        characters.truncate(at);
        decode(&characters.iter().collect::<String>());
    }
}
