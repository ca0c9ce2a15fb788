//! `--limit`: exit status 3, and a line for each that is broken.

use super::{LINK, run, said};

#[test]
fn limits_that_are_kept_are_silent() {
    let (code, output) = run(&[LINK, "--limit", "ttft_p99=60000", "--limit", "output_per_s=1"]);
    assert_eq!((code, said(&output).contains("limit: ")), (0, false));
}

#[test]
fn each_broken_limit_has_a_line() {
    let (code, output) =
        run(&[LINK, "--limit", "ttft_p99=0.1", "--limit", "output_per_s=1e9", "--limit", "e2e_mean=1e9"]);
    let text = said(&output);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("limit: ")).collect();
    assert_eq!((code, lines.len()), (3, 2), "{text}");
    assert!(
        lines[0].contains("ttft_p99 is ") && lines[0].contains(" above the limit of 100 µs; 80 % of"),
        "{text}"
    );
    assert!(lines[1].contains("output_per_s is ") && lines[1].contains(" below the limit of "), "{text}");
    assert!(!output.stdout.is_empty());
}

#[test]
fn wrong_limits_exit_with_2() {
    let (code, output) = run(&[LINK, "--limit", "ttft=100"]);
    assert!(code == 2 && said(&output).contains("ttft_mean, ttft_p50"), "{}", said(&output));
    let (code, output) = run(&["v=1&b=4", "--limit", "ttft_p99=100"]);
    assert!(code == 2 && said(&output).contains("ttft_p99 is not known"), "{}", said(&output));
    assert_eq!(run(&["m=nope", "--limit", "ttft_p99=100"]).0, 2);
}
