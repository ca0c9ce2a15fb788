//! What holds of the learned answer whatever the models say.

use std::collections::BTreeMap;

use super::formats::{number, rows};
use super::run_with;

fn answers(links: &[String]) -> Vec<BTreeMap<String, String>> {
    let (code, output) = run_with(&["--jsonl", "--format", "csv"], &links.join("\n"));
    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&output.stderr));
    rows(&String::from_utf8(output.stdout).unwrap())
}

/// Beyond the chips that the models were trained on, too.
#[test]
fn a_gpu_with_more_of_a_figure_is_no_slower() {
    for base in ["m=llama-3.1-8b&c=1", "m=llama-3.1-8b&g=l40s&c=16&isl=4000", "m=qwen3-30b-a3b&g=b200&c=64"] {
        let edits = ["", "&hck=2600", "&hck=5000", "&hsm=400", "&hl2=400", "&hck=900", "&hl2=10"];
        let links = edits.map(|edit| format!("v=1&{base}&osl=64{edit}"));
        let answers = answers(&links);
        let times = |answer| [number(answer, "ttft_mean_ms"), number(answer, "tpot_mean_ms")];
        let own = times(&answers[0]);
        for (edit, answer) in edits.iter().zip(&answers).skip(1) {
            let is_slower = ["&hck=900", "&hl2=10"].contains(edit);
            for (time, own) in times(answer).into_iter().zip(own) {
                let held = if is_slower { time >= own * 0.999 } else { time <= own * 1.001 };
                assert!(held, "{base}{edit}: {time} for {own}");
            }
        }
    }
}

/// Little's law: requests in flight are their rate times their stay.
#[test]
fn no_more_are_in_flight_than_the_client_allows() {
    for (replicas, most) in [(1, 10), (3, 10), (9, 10), (16, 17), (8, 64)] {
        let links = [format!("v=1&n={replicas}&osl=64&r=400&mc={most}")];
        let answer = &answers(&links)[0];
        let in_flight = number(answer, "requests_per_s") * number(answer, "e2e_mean_ms") * 1e-3;
        assert!(in_flight <= 1.02 * f64::from(most), "{replicas} replicas, {most}: {in_flight}");
    }
}

/// A limit above what is in flight changes nothing, however it divides by the replicas.
#[test]
fn a_limit_that_does_not_bind_changes_nothing() {
    let limits = ["", "&mc=64", "&mc=65", "&mc=33"];
    let answers = answers(&limits.map(|limit| format!("v=1&n=8&r=9&isl=1000&osl=100{limit}")));
    for column in ["tpot_mean_ms", "watts", "running", "requests_per_s"] {
        let own = number(&answers[0], column);
        for (limit, answer) in limits.iter().zip(&answers) {
            let share = number(answer, column) / own;
            assert!((share - 1.0).abs() < 1e-3, "{limit} {column}: {share}");
        }
    }
}

#[test]
fn short_runs_have_the_lengths_asked_for() {
    let links =
        ["sh=sharegpt&isl=220&osl=197&c=9", "ls=1.5&isl=1000&osl=300&c=2", "rr=0.95&isl=1000&osl=300&c=8"];
    for (answer, wanted) in
        answers(&links.map(|link| format!("v=1&{link}"))).iter().zip([417.0, 1300.0, 1300.0])
    {
        let tokens = number(answer, "total_per_s") / number(answer, "requests_per_s");
        assert!((tokens / wanted - 1.0).abs() < 0.01, "{tokens} tokens a request, not {wanted}");
    }
}

/// Nobody says how many requests there are: what is served, and its energy, do not depend on how many are simulated.
#[test]
fn all_that_arrives_is_served_however_long_its_answers_are() {
    let spreads = ["", "&ls=0.5", "&ls=1", "&sh=sharegpt"];
    let answers = answers(&spreads.map(|spread| format!("v=1&r=4&osl=512{spread}")));
    let energy = |answer| number(answer, "joules_per_output_token");
    for (spread, answer) in spreads.iter().zip(&answers) {
        let served = number(answer, "output_per_s");
        assert!((served / 2048.0 - 1.0).abs() < 1e-9, "{spread}: {served} tokens/s");
        let in_flight = 4.0 * number(answer, "e2e_mean_ms") * 1e-3;
        assert!(
            (number(answer, "running") / in_flight - 1.0).abs() < 0.02,
            "{spread}: not {in_flight} running"
        );
        assert!((energy(answer) / energy(&answers[0]) - 1.0).abs() < 0.1, "{spread}: {} J", energy(answer));
    }
}

/// A server that preempts slows down over thousands of requests.
#[test]
fn a_slow_collapse_is_an_overload() {
    for (rate, is_overloaded) in [(0.3, false), (0.345, true)] {
        let link = format!("v=1&m=qwen3-8b&g=rtx-4090&osl=2000&r={rate}");
        let (_, output) = run_with(&["--jsonl"], &link);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["report"]["run"]["saturation"].is_object(), is_overloaded, "{rate}");
    }
}
