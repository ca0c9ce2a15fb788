//! Many scenarios on standard input.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use super::{predict, run, run_with, said, text};

#[test]
fn every_line_has_its_answer_in_its_place() {
    let loads: Vec<String> = (1..30).map(|clients| format!("v=1&isl=300&osl=64&c={clients}")).collect();
    let (code, output) = run_with(&["--jsonl", "--roofline"], &loads.join("\n\n"));
    let answers: Vec<serde_json::Value> =
        text(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((code, answers.len()), (0, loads.len()));
    for (answer, load) in answers.iter().zip(&loads) {
        let (_, alone) = run(&[load, "--roofline"]);
        assert_eq!(answer, &serde_json::from_str::<serde_json::Value>(&text(&alone)).unwrap());
    }
}

#[test]
fn a_wrong_line_is_answered_too_and_counts_in_the_end() {
    let (code, output) = run_with(&["--jsonl", "--roofline", "--format", "csv"], "v=1\ntp=x\n{\"tp\": 2}\n");
    let csv = text(&output);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!((code, lines.len()), (2, 4), "{csv}");
    assert!(lines[0].starts_with("link,ttft_mean_ms,ttft_mean_low_ms"));
    assert!(lines[2].contains("error: tp: ") && lines[3].starts_with("v=1&tp=2,"));
    let (code, output) = run_with(&["--jsonl", "--limit", "ttft_mean=0.001"], "v=1\nv=1&c=1\n");
    assert_eq!((code, text(&output).lines().count()), (3, 2));
    assert!(said(&output).contains("limit: scenario 2: ttft_mean is "));
    let (code, _) = run_with(&["--jsonl", "--limit", "ttft_mean=0.001"], "v=1\ntp=x\n");
    assert_eq!(code, 2);
}

#[test]
fn an_answer_comes_before_the_next_line_is_asked() {
    let mut child =
        predict(&["--jsonl", "--roofline"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut ask, mut answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for _ in 0..2 {
        let mut answer = String::new();
        ask.write_all(b"v=1\n").unwrap();
        answers.read_line(&mut answer).unwrap();
        assert!(answer.starts_with("{\"link\":\"v=1\""));
    }
    drop(ask);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let mut child = predict(&["--jsonl", "--roofline"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ask = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || while ask.write_all(b"v=1\n").is_ok() {});
    let mut first = [0];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!((output.status.code(), said(&output)), (Some(0), String::new()));
}
