//! Finds the command in a text that starts an engine.

use super::benchmark::Client;
use super::launches::launches;
use super::options_file::{settings_of, written_in};
use super::shell::{OPERATORS, spaced};
use super::variables::{Variables, environment};
use super::yaml::{self, ManifestFacts};
use crate::config::names::last_part;
use crate::config::pasted::BENCHMARKS;

/// A command that starts an engine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchCommand {
    /// The engine's id in the catalog.
    pub engine: &'static str,
    /// The arguments after the program's name.
    pub arguments: Vec<String>,
    /// Environment variables that the engine reads, and benchmarks whose load is not read.
    pub unread: Vec<String>,
    /// Lines of an options file that the text writes.
    pub options: Vec<String>,
    /// An accompanying benchmark, which loads the server, and its arguments.
    pub bench: Option<(Client, Vec<String>)>,
    /// What a manifest says around the command.
    pub manifest: ManifestFacts,
    /// Number of further launches, which are ignored.
    pub others: usize,
}

/// How many commands of a text are examined.
const COMMANDS: usize = 200;

/// Longest command in bytes.
const LONGEST: usize = 64 * 1024;

/// The first command in `text` that starts an engine, if any. Fails on an unclosed quotation mark.
pub fn launch(text: &str) -> Result<Option<LaunchCommand>, String> {
    let manifest = yaml::manifest(text);
    let commands = match yaml::words(text, &manifest.variables)? {
        Some(containers) => containers,
        None => commands(text)?,
    };
    let (mut options, mut bench, mut unread) = (written_in(text), None, Vec::new());
    let mut found: Option<LaunchCommand> = None;
    // An image that is only pulled, or runs something else.
    let mut bare = None;
    for mut words in commands.into_iter().take(COMMANDS) {
        options.extend(
            words.iter().filter(|word| word.contains("\\n")).flat_map(|word| settings_of(word.split("\\n"))),
        );
        let named = image(&words);
        let is_served = |(_, at): &(_, usize)| {
            words.get(*at).is_some_and(|word| word.starts_with('-') || word.contains('/'))
        };
        let Some((engine, at)) = program(&words).or(named.filter(is_served)) else {
            bare = bare.or(named.map(|(engine, _)| engine));
            let Some((program, at)) = benchmark(&words) else { continue };
            match client(program, &words, at).filter(|_| bench.is_none()) {
                Some((client, at)) => bench = Some((client, words.split_off(at))),
                None => unread.push(words.join(" ")),
            }
            continue;
        };
        match &mut found {
            Some(first) => first.others += 1,
            None => {
                let arguments = words.split_off(at.min(words.len()));
                found = Some(LaunchCommand { engine, arguments, ..LaunchCommand::default() });
            }
        }
    }
    let found = found.or(bare.map(|engine| LaunchCommand { engine, ..LaunchCommand::default() }));
    Ok(found.map(|found| {
        unread.splice(0..0, environment(text, found.engine));
        LaunchCommand { options, bench, unread, manifest, ..found }
    }))
}

/// The first benchmark in `text` whose load is read, and its arguments.
pub fn bench(text: &str) -> Option<(Client, Vec<String>)> {
    commands(text).ok()?.into_iter().take(COMMANDS).find_map(|mut words| {
        let (program, at) = benchmark(&words)?;
        let (client, at) = client(program, &words, at)?;
        Some((client, words.split_off(at)))
    })
}

/// The client that a benchmark's program is, if its load is read, and the index of its first argument.
fn client(program: &[&str], words: &[String], at: usize) -> Option<(Client, usize)> {
    match (program, words.get(at).map(String::as_str)) {
        (["vllm", "bench"], Some("serve")) => Some((Client::Vllm, at + 1)),
        (["vllm", "bench"], Some("throughput")) => Some((Client::VllmOffline, at + 1)),
        (["benchmark_serving.py"] | ["tensorrt_llm.serve.scripts.benchmark_serving"], _) => {
            Some((Client::Script, at))
        }
        (["benchmark_throughput.py"], _) => Some((Client::VllmOffline, at)),
        (["sglang.bench_serving"], _) => Some((Client::Sglang, at)),
        _ => None,
    }
}

/// A benchmark's program, and the index of its first argument.
fn benchmark(words: &[String]) -> Option<(&'static [&'static str], usize)> {
    let ends: Vec<&str> = words.iter().map(|word| last_part(word)).collect();
    let starts = |program: &[&str]| ends.windows(program.len()).position(|part| part == program);
    BENCHMARKS.iter().find_map(|program| Some((*program, starts(program)? + program.len())))
}

/// The commands of a text, each split into words.
fn commands(text: &str) -> Result<Vec<Vec<String>>, String> {
    // In PowerShell lines continue after a backtick.
    let text = text.replace('\r', "").replace("\\\n", " ").replace(" `\n", " ");
    let mut all: Vec<Vec<String>> = Vec::new();
    let (mut pending, mut variables) = (String::new(), Variables::default());
    for line in text.lines() {
        if pending.len() > LONGEST {
            break;
        }
        let line = line.trim().strip_prefix("$ ").unwrap_or(line.trim());
        pending += line;
        // A quotation may continue on the next line.
        match split(&pending) {
            Some(words) => {
                all.extend(parts(words).into_iter().map(|words| variables.read(words)));
                pending.clear();
            }
            None => pending.push('\n'),
        }
    }
    if pending.is_empty() {
        return Ok(all.into_iter().flat_map(|words| unwrapped(words, &variables)).collect());
    }
    // Report only faults in an engine's command: other texts have apostrophes.
    match all.iter().any(|words| program(words).is_some()) || names_engine(&pending) {
        true => Err("a quotation mark is not closed: add it".into()),
        false => Ok(Vec::new()),
    }
}

fn names_engine(text: &str) -> bool {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    program(&words).or_else(|| image(&words)).is_some()
}

/// The words of a command line, without redirections; operators are words of their own.
fn split(line: &str) -> Option<Vec<String>> {
    shlex::split(&spaced(line))
}

/// Splits words at shell operators.
fn parts(words: Vec<String>) -> Vec<Vec<String>> {
    let parts = words.split(|word| OPERATORS.contains(&word.as_str()));
    parts.filter(|part| !part.is_empty()).map(<[String]>::to_vec).collect()
}

/// Commands nested inside a word, as after `sh -c`, where `known` variables are set.
fn unwrapped(words: Vec<String>, known: &Variables) -> Vec<Vec<String>> {
    let inner = words.iter().filter(|word| word.contains(char::is_whitespace)).find_map(|word| {
        let mut variables = known.clone();
        let all = word.lines().filter_map(split).flat_map(parts);
        let inner: Vec<Vec<String>> = all.map(|words| variables.read(words)).collect();
        inner.iter().any(|words| program(words).is_some()).then_some(inner)
    });
    inner.unwrap_or_else(|| vec![words])
}

/// The engine that `words` start, and the index of its first argument.
fn program(words: &[String]) -> Option<(&'static str, usize)> {
    let end = |word: &str| last_part(word).to_owned();
    let starts = |at: usize, names: &[String]| {
        let rest = words.get(at..at + names.len()).unwrap_or_default();
        rest.len() == names.len() && rest.iter().zip(names).all(|(word, name)| end(word) == *name)
    };
    let programs =
        || launches().engines.iter().flat_map(|of| of.programs.iter().map(|names| (names, &*of.engine)));
    (0..words.len()).find_map(|at| {
        let (names, engine) = programs().find(|(names, _)| starts(at, names))?;
        Some((engine, at + names.len()))
    })
}

fn image(words: &[String]) -> Option<(&'static str, usize)> {
    words.iter().enumerate().find_map(|(at, word)| {
        let has = |part: &String| word.contains(part.as_str());
        let of = launches().engines.iter().find(|of| of.images.iter().any(has))?;
        Some((&*of.engine, at + 1))
    })
}

/// The version in the tag of the engine's image in `text`, such as `0.11.0` of `vllm/vllm-openai:v0.11.0`.
pub fn version<'a>(text: &'a str, engine: &str) -> Option<&'a str> {
    launches().of(engine)?.images.iter().find_map(|part| {
        let name = text.split_once(part.trim_end_matches(':'))?.1;
        let (between, tag) = name.split_once(':')?;
        let tag = tag.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').next()?;
        let version = tag.trim_start_matches('v');
        (!between.contains(char::is_whitespace) && version.starts_with(|c: char| c.is_ascii_digit()))
            .then_some(version)
    })
}

/// The words of a command from a YAML file, which may itself hold shell text, with the variables of its container.
pub fn unwrapped_all(words: Vec<String>, known: &Variables) -> Vec<String> {
    let inner = unwrapped(words.clone(), known).into_iter().find(|words| program(words).is_some());
    known.clone().read(inner.unwrap_or(words))
}
