//! Replicas over several nodes.

use rooflight::config::catalog::catalog;
use rooflight::config::{Field, Issue, Lengths, Load, ModelChoice, Scenario, Setup, Workload, check};
use rooflight::efficiency::Efficiencies;
use rooflight::graph::{Block, Phase};
use rooflight::serving::{Report, finish, plan};

/// DeepSeek-R1 on H100s, with these changes.
fn scenario(change: impl FnOnce(&mut Scenario)) -> Scenario {
    let mut scenario = Scenario {
        model: ModelChoice::Catalog("deepseek-r1".into()),
        gpu: "h100-sxm".into(),
        engine: "vllm".into(),
        workload: Workload {
            isl: Lengths::Fixed(1024),
            osl: 512,
            load: Load::Concurrency(16),
            ..Workload::default()
        },
        ..Scenario::default()
    };
    change(&mut scenario);
    scenario
}

#[track_caller]
fn sound(scenario: &Scenario) -> (Setup, Vec<Issue>) {
    let (setup, issues) = check(scenario, catalog());
    (setup.unwrap_or_else(|| panic!("{issues:?}")), issues)
}

#[track_caller]
fn refusal(scenario: &Scenario, field: Field) -> String {
    let (setup, issues) = check(scenario, catalog());
    assert!(setup.is_none());
    let issue = issues.into_iter().find(|issue| issue.is_error()).expect("an error");
    assert_eq!(issue.field, field, "{}", issue.text);
    issue.text
}

fn report(scenario: &Scenario) -> Report {
    let (plan, _) = plan(&sound(scenario).0).expect("complete");
    finish(&plan, &Efficiencies::Roofline).expect("an answer")
}

#[test]
fn a_machine_is_what_the_fastest_link_joins() {
    let nodes = |gpu: &str, [tp, dp, pp]: [u32; 3]| {
        let scenario = scenario(|scenario| {
            (scenario.parallel.tp, scenario.parallel.dp, scenario.parallel.pp, scenario.parallel.ep) =
                (tp, dp, pp, tp * dp);
            scenario.gpu = gpu.into();
        });
        let setup = sound(&scenario).0;
        (setup.nodes(), setup.crossings())
    };
    assert_eq!(nodes("h200-sxm", [8, 1, 1]), (1, 0));
    assert_eq!(nodes("h200-sxm", [16, 1, 1]), (2, 0));
    assert_eq!(nodes("h200-sxm", [8, 1, 2]), (2, 1));
    // Two stages of four GPUs in each node.
    assert_eq!(nodes("h200-sxm", [4, 1, 4]), (2, 1));
    assert_eq!(nodes("h200-sxm", [4, 1, 3]), (2, 1));
    assert_eq!(nodes("h200-sxm", [2, 16, 1]), (4, 0));
    assert_eq!(nodes("gb200", [8, 1, 4]), (1, 0));
}

#[test]
fn the_network_is_said_to_be_specified_and_not_measured() {
    let (_, issues) = sound(&scenario(|scenario| scenario.parallel.tp = 16));
    let issue = issues.iter().find(|issue| issue.field == Field::Tp).expect("a warning");
    assert!(!issue.is_error());
    for fact in ["TP 16 × PP 1", "8 H100 SXM", "50.0\u{a0}GB/s"] {
        assert!(issue.text.contains(fact), "{}", issue.text);
    }
    assert!(issue.text.ends_with("No multi-node communication was measured."), "{}", issue.text);
    let (_, issues) = sound(&scenario(|scenario| (scenario.parallel.tp, scenario.parallel.pp) = (8, 2)));
    assert!(issues.iter().any(|issue| issue.field == Field::Pp), "{issues:?}");
    let (_, issues) = sound(&scenario(|scenario| scenario.parallel.tp = 8));
    assert!(issues.iter().all(|issue| !issue.text.contains("between nodes")), "{issues:?}");
}

#[test]
fn without_a_figure_for_the_network_the_reason_is_given() {
    let wide = |gpu: &str, tp: u32| {
        scenario(|scenario| {
            (scenario.gpu, scenario.parallel.tp) = (gpu.into(), tp);
            scenario.model = ModelChoice::Catalog("llama-3.1-70b".into());
        })
    };
    let text = refusal(&wide("h100-nvl", 4), Field::Tp);
    assert!(text.contains("2 H100 NVL") && text.ends_with(" 2 GPUs per replica"), "{text}");
    let text = refusal(&wide("l40s", 16), Field::Tp);
    let why = catalog().gpu("l40s").expect("in the catalog").link.network_gb_per_s.1.clone();
    assert!(text.contains(&why), "{text}");
}

#[test]
fn the_prefill_gpu_without_a_network_is_named_and_a_rate_stands_in_for_it() {
    let mut apart = scenario(|scenario| {
        scenario.model = ModelChoice::Catalog("qwen3-32b".into());
        (scenario.gpu, scenario.parallel.tp, scenario.workload.load) =
            ("h200-sxm".into(), 2, Load::Rate(2.0));
        (scenario.prefill.workers, scenario.prefill.gpu, scenario.prefill.parallel.tp) =
            (1, Some("l40s".into()), 4);
    });
    let issues = plan(&sound(&apart).0).expect_err("no network");
    assert!(issues[0].field == Field::PrefillGpu && issues[0].text.contains("L40S"), "{issues:?}");
    apart.prefill.send_gb_per_s = Some(10.0);
    assert!(report(&apart).headline.is_some());
}

/// The exchanges of a decode step: how many of each.
fn exchanges(tp: u32, pp: u32) -> Vec<(&'static str, u64)> {
    let report = report(&scenario(|scenario| {
        scenario.gpu = "h200-sxm".into();
        (scenario.parallel.tp, scenario.parallel.pp) = (tp, pp);
    }));
    let decode = report.pass(Phase::Decode).expect("a decode step");
    let all = decode.kernels.iter().filter(|line| line.block == Block::Communication);
    all.map(|line| (line.name, line.count)).collect()
}

#[test]
fn stages_exchange_over_the_network_once_and_ranks_in_every_layer() {
    let ranks = [("all_reduce", 123), ("all_gather", 1)];
    let count = |tp, pp, name: &str| {
        exchanges(tp, pp).iter().filter(|(other, _)| *other == name).map(|(_, count)| count).sum::<u64>()
    };
    for (name, wanted) in ranks {
        assert_eq!(count(16, 1, name), wanted, "{name}");
        assert_eq!(count(8, 2, name), wanted, "{name}");
    }
    assert_eq!((count(8, 2, "network_send_recv"), count(8, 2, "send_recv")), (1, 0));
    assert_eq!((count(4, 2, "network_send_recv"), count(4, 2, "send_recv")), (0, 1));
    assert_eq!((count(4, 4, "network_send_recv"), count(4, 4, "send_recv")), (1, 2));
}

#[test]
fn what_does_not_fit_one_machine_is_sent_to_a_second() {
    let report = report(&scenario(|scenario| scenario.parallel.tp = 8));
    let text: Vec<&str> = report.issues.iter().map(|issue| issue.text.as_str()).collect();
    assert!(text.iter().any(|text| text.contains("PP 2 fits, over 2 nodes.")), "{text:?}");
}

#[test]
fn beyond_eight_ranks_a_token_goes_only_to_the_ranks_of_its_experts() {
    let dispatch = |dp: u32| {
        let report = report(&scenario(|scenario| {
            (scenario.gpu, scenario.engine) = ("gb200".into(), "sglang".into());
            (scenario.parallel.dp, scenario.parallel.ep) = (dp, dp);
            scenario.workload.load = Load::Concurrency(256 * dp);
        }));
        let pass = report.pass(Phase::Decode).expect("decodes").clone();
        let kernel = pass.kernels.iter().find(|kernel| kernel.name == "dispatch").expect("apart");
        (pass.tokens as f64, kernel.time.0)
    };
    // Eight ranks gather all tokens in bf16 over 900 GB/s.
    let (tokens, seconds) = dispatch(8);
    let gathered = tokens * 7.0 * 7168.0 * 2.0 / 900e9;
    assert!((seconds / gathered - 1.0).abs() < 1e-3, "{seconds} {gathered}");
    // Of 32 each sends its tokens to eight, in FP8 with a scale for each block of 128 by 128.
    let (tokens, seconds) = dispatch(32);
    let sent = tokens * 8.0 * 7168.0 * (1.0 + 4.0 / 16_384.0) * 31.0 / 32.0 / 900e9;
    assert!((seconds / sent - 1.0).abs() < 1e-3, "{seconds} {sent}");
}
