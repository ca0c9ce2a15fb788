//! A few seconds of what `cargo fuzz run` does without end (`fuzz/`): mutated texts of the corpora, the same ones every
//! time.

#[path = "../fuzz/src/lib.rs"]
mod targets;

use std::panic::catch_unwind;
use std::path::Path;

use rooflight::units::random::SplitMix64;

/// Random numbers for choosing among lists.
struct Random(SplitMix64);

impl Random {
    /// Below `end`, which is not zero.
    fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end as u64) as usize
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// What readers are known to stumble over.
const PIECES: [&str; 34] = [
    "0",
    "1",
    "-1",
    "4294967295",
    "4294967296",
    "99999999999999999999",
    "1e308",
    "1e999",
    "0.1",
    ".",
    "NaN",
    "null",
    "true",
    "\"\"",
    "[]",
    "{}",
    "[[[[",
    "{\"a\":",
    ",",
    ":",
    "&",
    "=",
    "#",
    "?",
    "%",
    "%00",
    "%F0%9F",
    "é",
    "\u{0}",
    "\u{feff}",
    "\n",
    "x",
    "512x4000000000",
    "bf16",
];

/// `text` with one change. `other` is another text of the same kind.
fn mutated(text: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let (from, to) = (random.below(text.len() + 1), random.below(text.len() + 1));
    let (from, to) = (from.min(to), from.max(to));
    let (before, inside, after) = (&text[..from], &text[from..to], &text[to..]);
    match random.below(7) {
        0 => [before, &[random.0.next_u64() as u8], &text[text.len().min(from + 1)..]].concat(),
        1 => [before, after].concat(),
        2 if inside.len() < 400 => [before, inside, inside, after].concat(),
        3 => [before, random.pick(&PIECES).as_bytes(), after].concat(),
        4 => [before, random.pick(&PIECES).as_bytes(), inside, after].concat(),
        5 => [before, &other[other.len().min(from)..]].concat(),
        // The digits of a number are replaced by another number.
        _ => {
            let start = text.iter().skip(from).position(u8::is_ascii_digit).map_or(from, |at| from + at);
            let length = text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            [&text[..start], random.pick(&PIECES[..9]).as_bytes(), &text[start + length..]].concat()
        }
    }
}

/// Runs `target` on `corpus`, then on so many mutations of it.
fn fuzz(target: fn(&str), corpus: &[String], runs: usize) {
    let run = |text: &str| {
        assert!(catch_unwind(|| target(text)).is_ok(), "the text was {text:?}");
    };
    corpus.iter().for_each(|text| run(text));
    let mut random = Random(SplitMix64::new(1));
    for _ in 0..runs {
        let mut text = random.pick(corpus).clone().into_bytes();
        for _ in 0..1 + random.below(4) {
            let other = random.pick(corpus).clone();
            text = mutated(&text, other.as_bytes(), &mut random);
        }
        run(&String::from_utf8_lossy(&text));
    }
}

#[test]
fn links_and_scenarios() {
    let lines = include_str!("data/links_v1.txt").lines().filter(|line| !line.starts_with("# "));
    let corpus: Vec<String> = lines.flat_map(|line| line.split('\t')).map(str::to_owned).collect();
    fuzz(targets::link, &corpus, 20_000);
}

#[test]
fn configs_of_models() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("static/catalog/model_facts");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let corpus: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    fuzz(targets::config_json, &corpus, 5_000);
}

#[test]
fn reports_of_benchmarks() {
    let corpus = [
        "Maximum request concurrency:             16\nTotal input tokens:      327680\nMean TTFT (ms):    123.456\n\
         Median TTFT (ms):   118.02\nOutput token throughput (tok/s):         2785.44\n",
        "{\"request_rate\": \"inf\", \"completed\": 320, \"mean_ttft_ms\": 123.456, \"median_tpot_ms\": 5.49}\n\
         {\"request_rate\": 4.0, \"output_throughput\": 2785.44, \"time_to_first_token\": {\"unit\": \"ms\", \"avg\": 16.2}}\n",
        "| Statistic | avg | p99 | p50 |\n| Time to first token (ms) | 16.26 | 17.09 | 16.50 |\n\
         | Request throughput (per sec) | 1.99 | N/A | N/A |\n",
    ];
    fuzz(targets::measured, &corpus.map(str::to_owned), 20_000);
}

#[test]
fn traces_of_requests() {
    let corpus = [
        "prompt,output,weight\n512,64,3\n128,16,1\n",
        "arrival,prompt,output\n0,100,10\n1.5,200,20\n1.5,1,1\n",
        "timestamp_ms,input_length,output_length,hash_ids\n0,6758,500,\"[1,2]\"\n27482,7322,490,\"[3]\"\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n",
        "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, 47]}\n\
         {\"timestamp\": 30535, \"input_length\": 6472, \"output_length\": 26}\n",
    ];
    fuzz(targets::trace, &corpus.map(str::to_owned), 20_000);
}
