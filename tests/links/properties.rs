//! Properties of every link: scenarios survive it, and no text makes the reader panic.

use proptest::prelude::*;
use rooflight::config::catalog::catalog;
use rooflight::config::inputs::{Input, Number, in_links};
use rooflight::config::link::{Link, VERSION, decode, encode};
use rooflight::config::model::Attention;
use rooflight::config::names::gpu_id;
use rooflight::config::{
    Bin, Dtype, Field, Lengths, Load, Measured, Metric, ModelChoice, Prefill, Scenario, Shape, Workload,
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

fn load() -> impl Strategy<Value = Load> {
    (prop::sample::select(&Load::KINDS[..]), any::<u32>(), decimal()).prop_map(|(load, count, decimal)| {
        load.with_amount(if load.is_rate() { decimal } else { f64::from(count) })
    })
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

/// The numbers that links hold under a key of their own, in and out of their ranges; `None` is the catalog's figure.
fn numbers() -> Vec<impl Strategy<Value = (&'static Number, Option<f64>)>> {
    let number = |input: &'static Input| {
        let number = input
            .number
            .as_ref()
            .filter(|_| input.text.is_none() && !Load::sizes().contains(&input.field))?;
        let value = match input.field {
            // More would make a number of GPUs that no link holds.
            Field::Tp | Field::Pp | Field::Dp | Field::Ep => (1u32..=128).prop_map(f64::from).boxed(),
            _ if number.whole => any::<u32>().prop_map(f64::from).boxed(),
            _ => decimal().boxed(),
        };
        let value = if number.catalog.is_some() {
            prop::option::of(value).boxed()
        } else {
            value.prop_map(Some).boxed()
        };
        Some(value.prop_map(move |value| (number, value)))
    };
    in_links().filter_map(number).collect()
}

/// What names a GPU is written as its id.
fn gpu() -> impl Strategy<Value = String> {
    ".{1,30}".prop_map(|text| gpu_id(&text).to_owned())
}

prop_compose! {
    fn scenario()(
        model in model_choice(),
        (gpu, engine, prefill_gpu) in (gpu(), "[a-z]{1,10}", prop::option::of(gpu())),
        replicas in 0u32..=1_000,
        weights in prop::option::of(prop::sample::select(Dtype::ALL)),
        kv in prop::sample::select(Dtype::ALL),
        (isl, osl, load) in (lengths(), any::<u32>(), load()),
        shape in prop::option::of(prop::sample::select(Shape::ALL)),
        histogram in histogram(),
        measured in measured(),
        numbers in numbers(),
    ) -> Scenario {
        let workload = Workload { isl, osl, load, shape, histogram, ..Workload::default() };
        let prefill = Prefill { gpu: prefill_gpu, ..Prefill::default() };
        let mut scenario =
            Scenario { model, gpu, engine, replicas, weights, kv, workload, prefill, measured, ..Scenario::default() };
        for (number, value) in numbers {
            (number.write)(&mut scenario, value);
        }
        scenario
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
        // Longer ones are refused: `docs/links.md`.
        prop_assume!(link.encode().len() < 8 * 1024);
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
