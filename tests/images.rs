//! Images in prompts: the work of the vision encoder, its effect on a prediction, and what the answer says about it.

use rooflight::config::catalog::catalog;
use rooflight::config::link::decode;
use rooflight::config::{Field, Issue, Model, Severity, check};
use rooflight::efficiency::Efficiencies;
use rooflight::graph::{Block, Phase};
use rooflight::serving::report::KernelLine;
use rooflight::serving::{Report, finish, plan};

fn issues_of(link: &str, field: Field) -> Vec<Issue> {
    let (_, found) = check(&decode(link).0.scenario, catalog());
    found.into_iter().filter(|issue| issue.field == field).collect()
}

fn issues(link: &str) -> Vec<Issue> {
    issues_of(link, Field::Images)
}

fn report(link: &str) -> Report {
    let (setup, issues) = check(&decode(link).0.scenario, catalog());
    let (plan, _) = plan(&setup.unwrap_or_else(|| panic!("{link}: {issues:?}"))).expect(link);
    finish(&plan, &Efficiencies::Roofline).expect(link)
}

fn ttft(link: &str) -> f64 {
    report(link).headline.expect(link).ttft.0
}

/// The encoder's kernels in the first step of a prompt.
fn encoder(report: &Report) -> Vec<&KernelLine> {
    let pass = report.pass(Phase::Prefill).expect("a prompt");
    pass.kernels.iter().filter(|line| line.block == Block::Encoder).collect()
}

fn flops(link: &str) -> f64 {
    let report = report(link);
    encoder(&report).iter().map(|line| line.flops.0 * line.count as f64).sum()
}

fn model(id: &str) -> &'static Model {
    catalog().model(id).unwrap_or_else(|| panic!("{id} is missing"))
}

#[test]
fn the_flop_of_an_image_are_those_counted_by_hand() {
    // 1,024 tokens are 4,096 patches: all parameters but the projector's (5120 x 5120 and 5120 x 3584), which acts
    // on tokens; full attention in 4 layers, windows of 64 in 28.
    let projector = 5120.0 * (5120.0 + 3584.0);
    let products = 2.0 * ((676_034_560.0 - projector) * 4096.0 + projector * 1024.0);
    let attention = 4.0 * 1280.0 * 4096.0 * (4.0 * 4096.0 + 28.0 * 64.0);
    let found = flops("v=1&m=qwen2.5-vl-7b-instruct&isl=2048&im=1&it=1024");
    assert!((found / (products + attention) - 1.0).abs() < 1e-3, "{found:e} of {:e}", products + attention);
    // 256 tokens of 16 patches each, and a projector of one matrix.
    let projector = 1152.0 * 5376.0;
    let blocks = 422_659_584.0 - projector - 4096.0 * 1152.0;
    let products = 2.0 * (blocks * 4096.0 + projector * 256.0);
    let attention = 4.0 * 1152.0 * 4096.0 * 4096.0 * 27.0;
    let found = flops("v=1&m=gemma-3-27b-it&isl=2048&im=1&n=1");
    assert!((found / (products + attention) - 1.0).abs() < 1e-3, "{found:e} of {:e}", products + attention);
}

#[test]
fn encoding_takes_two_flop_a_patch_and_parameter() {
    for model in catalog().models.models.iter().filter(|model| model.vision.is_some()) {
        let vision = model.vision.as_ref().expect("filtered");
        let (all, counted) =
            (f64::from(model.encoder.expect("counted")), vision.per_patch() + vision.per_token());
        // What is left are learned positions.
        assert!((0.0..0.02).contains(&(1.0 - counted / all)), "{}: {counted} of {all}", model.id);
        assert_eq!(vision.projector.last(), Some(&model.hidden), "{}", model.id);
    }
    for id in ["qwen2.5-vl-7b-instruct", "qwen3-vl-8b-instruct", "gemma-3-4b-it"] {
        let vision = model(id).vision.as_ref().expect("an encoder");
        let tokens = f64::from(vision.tokens.unwrap_or(1024));
        let patches = tokens * f64::from(vision.merge);
        let window = f64::from(vision.window.unwrap_or(0)).min(patches);
        let windowed = f64::from(vision.windowed.unwrap_or(0));
        let pairs = patches * (windowed * window + (f64::from(vision.layers) - windowed) * patches);
        let expected = 2.0 * (vision.per_patch() * patches + vision.per_token() * tokens)
            + 4.0 * f64::from(vision.hidden) * pairs;
        let one = flops(&format!("v=1&m={id}&isl=4096&im=1"));
        assert!((one / expected - 1.0).abs() < 2e-3, "{id}: {one:e} of {expected:e}");
        // Images do not attend to each other.
        let three = flops(&format!("v=1&m={id}&isl=4096&im=3"));
        assert!((three / one - 3.0).abs() < 1e-9, "{id}: {three:e}");
    }
}

#[test]
fn more_images_take_longer_until_the_first_token() {
    for load in ["c=16", "r=2", "bn=8", "on=8", "b=4", "sn=4&tn=3", "c=4&pc=0.5", "c=16&pw=1"] {
        for id in ["qwen2.5-vl-7b-instruct", "gemma-3-4b-it"] {
            let link = format!("v=1&m={id}&isl=4096&osl=32&np=50&it=256&{load}");
            let times = [0, 1, 2, 8].map(|images| ttft(&format!("{link}&im={images}")));
            assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{link}: {times:?}");
        }
    }
}

#[test]
fn without_images_nothing_changes() {
    for load in ["c=16", "b=4", "sn=4&tn=3"] {
        let link = format!("v=1&m=qwen3-vl-8b-instruct&isl=4096&osl=32&{load}");
        let (plain, none) = (report(&link), report(&format!("{link}&im=0&it=64")));
        assert!(encoder(&none).is_empty() && plain.headline == none.headline, "{link}");
    }
}

#[test]
fn ranks_share_the_encoder() {
    let whole = flops("v=1&m=qwen3-vl-8b-instruct&isl=2048&im=1");
    let link = "v=1&m=qwen3-vl-8b-instruct&isl=2048&im=1&tp=2&n=2";
    // The embedding of patches is not divided.
    assert!((0.5..0.51).contains(&(flops(link) / whole)), "{}", flops(link) / whole);
    let report = report(link);
    let reductions =
        encoder(&report).iter().filter(|line| line.name == "all_reduce").map(|line| line.count).sum::<u64>();
    assert_eq!(reductions, 2 * 27 + 4);
}

#[test]
fn what_is_wrong_with_images_is_said_beside_them() {
    let one = |link: &str| match &issues(link)[..] {
        [first, ..] => (first.severity, first.text.clone()),
        [] => panic!("{link}: no issue"),
    };
    let (severity, text) = one("v=1&m=qwen3-vl-8b-instruct&isl=2000&im=2&it=1024");
    assert_eq!(severity, Severity::Error);
    assert!(["2 images of 1024 tokens", "2048", "2000"].iter().all(|part| text.contains(part)), "{text}");
    let (severity, text) = one("v=1&m=llama-3.2-11b-vision-instruct&e=sglang&im=1");
    assert!(severity == Severity::Error && text.contains("set images to 0"), "{text}");
    let (severity, text) = one("v=1&m=llama-3.1-8b&im=1");
    assert!(severity == Severity::Warning && text.contains("has no known vision encoder"), "{text}");
    let (severity, text) = one("v=1&m=qwen3-vl-8b-instruct&isl=2048&im=1");
    assert!(severity == Severity::Note && text.contains("1024 tokens, a typical number"), "{text}");
    let (_, text) = one("v=1&m=gemma-3-4b-it&isl=2048&im=1");
    assert!(text.contains("256 tokens, the model's number for any image"), "{text}");
    assert_eq!(issues("v=1&m=qwen3-vl-8b-instruct&it=64"), []);
    let contradicted = issues_of("v=1&m=gemma-3-4b-it&isl=9000&im=1&it=5000", Field::ImageTokens);
    assert!(contradicted[0].text.contains("every image into 256 tokens, not 5000"), "{contradicted:?}");
    let (severity, text) = one("v=1&m=qwen3-vl-8b-instruct&isl=2048&im=2&it=1024&rr=0.5");
    assert!(severity == Severity::Warning && text.contains("some prompts are shorter"), "{text}");
}

#[test]
fn a_model_that_only_states_its_encoders_size_is_still_read() {
    let mut record = serde_json::to_value(model("qwen3-vl-8b-instruct")).expect("JSON");
    record.as_object_mut().expect("an object").remove("vision");
    let old: Model = serde_json::from_value(record).expect("a record of earlier links");
    assert_eq!((old.encoder, old.vision), (Some(575_926_272), None));
}
