//! Parses a load, its limits and hardware in natural language: `Llama-3.3-70B, 20 requests/s, TTFT 1 s, TPOT 30
//! ms`.

mod model;

use super::layouts::ALL;
use crate::config::catalog::catalog;
use crate::config::link::{Link, pointed, ungrouped, whole};
use crate::config::{Dtype, Field, Issue, Lengths, Load, excerpt};

/// Words that are ignored.
const FILLERS: [&str; 27] = [
    "a", "and", "at", "below", "by", "for", "from", "in", "is", "less", "limit", "max", "maximum", "most",
    "of", "on", "out", "serve", "than", "the", "to", "tokens", "under", "up", "with", "within", "find",
];
/// What there may be the most of: the load, and words for it.
const LOADS: [&str; 4] = ["load", "rate", "throughput", "traffic"];
/// Words for the largest, of a load or of what follows.
const LARGEST: [&str; 3] = ["max", "maximum", "most"];
const RATE: [&str; 8] =
    ["/s", "rps", "qps", "req/s", "request/s", "requests/s", "requests/second", "queries/s"];
const CLIENTS: [&str; 5] = ["client", "clients", "user", "users", "concurrent"];
const GPUS: [&str; 2] = ["gpu", "gpus"];
const LENGTHS: [&str; 5] = ["in", "input", "prompt", "out", "output"];
const SECONDS: [&str; 4] = ["s", "sec", "second", "seconds"];
const MILLISECONDS: [&str; 2] = ["ms", "milliseconds"];
const TOKENS: [&str; 2] = ["tokens", "token"];

/// Whether a number before this word is an amount.
fn is_unit(word: &str) -> bool {
    let units =
        [&RATE[..], &CLIENTS, &GPUS, &LENGTHS, &SECONDS, &MILLISECONDS, &TOKENS, &["%", "requests", "k"]];
    units.concat().contains(&word) || word.starts_with("req/") || word.starts_with("requests/")
}

const SEPARATORS: [char; 8] = [',', ';', '\n', '\t', ':', '<', '≤', '='];

/// Iterator over the words of a text.
struct Words {
    all: Vec<String>,
    at: usize,
}

impl Words {
    fn of(text: &str) -> Self {
        let text = text.replace(SEPARATORS, " ");
        let mut all = Vec::new();
        for word in text.split_whitespace() {
            // A number and the unit attached to it.
            let number =
                word.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(word.len());
            let (head, tail) = word.split_at(number);
            let is_unit = !head.is_empty() && !tail.starts_with('-');
            all.extend(
                [head, tail]
                    .into_iter()
                    .filter(|_| is_unit)
                    .filter(|part| !part.is_empty())
                    .map(str::to_owned),
            );
            all.extend((!is_unit).then(|| word.to_owned()));
        }
        Self { all, at: 0 }
    }

    fn next(&mut self) -> Option<String> {
        self.at += 1;
        self.all.get(self.at - 1).cloned()
    }

    /// Takes the next word, in lower case, if it is one of these.
    fn next_if(&mut self, known: &[&str]) -> Option<String> {
        let next = self.all.get(self.at)?.to_lowercase();
        self.at += usize::from(known.contains(&next.as_str()));
        known.contains(&next.as_str()).then_some(next)
    }

    /// The next word, if it is a number.
    fn number(&mut self) -> Option<String> {
        let number = self.all.get(self.at).filter(|word| word.parse::<f64>().is_ok()).cloned();
        self.at += usize::from(number.is_some());
        number
    }

    fn skip(&mut self) {
        while self.next_if(&FILLERS).is_some() {}
    }

    /// `1 s`, `30 ms`, in milliseconds.
    fn milliseconds(&mut self) -> Option<f64> {
        self.skip();
        let number: f64 = self.all.get(self.at)?.parse().ok()?;
        self.at += 1;
        let is_seconds = self.next_if(&SECONDS).is_some();
        if !is_seconds {
            self.next_if(&MILLISECONDS);
        }
        Some(if is_seconds { number * 1e3 } else { number })
    }
}

/// Applies `text` to `link`. What is not understood is reported.
///
/// # Errors
/// If nothing is understood, or a model or a number would have to be guessed.
pub fn read(text: &str, link: Link) -> Result<(Link, Vec<Issue>), Issue> {
    let mut read = Link { find: Some(link.find.clone().unwrap_or_default()), ..link };
    let text = whole_numbers(&text.replace(" per ", "/").replace(" a second", "/s"))?;
    let (mut lost, mut issues) = (Vec::new(), Vec::new());
    let (rest, mut understood) = model::take(&text, &mut read, &mut issues)?;
    let mut words = Words::of(&rest);
    while let Some(word) = words.next() {
        let small = word.to_lowercase();
        if LARGEST.contains(&small.as_str()) && words.next_if(&LOADS).is_some() {
            read.find.get_or_insert_default().set(Field::Most, "yes");
            understood += 1;
            continue;
        }
        if FILLERS.contains(&small.as_str()) {
            continue;
        }
        let known = limit(&small, &mut words, &mut read)
            || asks(&small, &mut words, &mut read)
            || amount(&small, &mut words, &mut read)
            || wish(&small, &mut read);
        if known {
            understood += 1;
        } else {
            lost.push(format!("`{}`", excerpt(&word)));
        }
    }
    let example = "write for example `Llama-3.3-70B, 20 requests/s, TTFT 1 s, TPOT 30 ms`";
    if understood == 0 {
        return Err(Issue::error(Field::Vary, format!("not understood: {example}")));
    }
    if !lost.is_empty() {
        issues.push(Issue::warning(Field::Vary, format!("not understood and ignored: {}", lost.join(", "))));
    }
    Ok((read, issues))
}

/// The text without commas between thousands.
///
/// # Errors
/// A comma that may stand for a decimal point: half of a number would be read as another.
fn whole_numbers(text: &str) -> Result<String, Issue> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let is_part = |letter: char| is_digit(letter) || letter == ',' || letter == '.';
    let mut all = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_digit) {
        let (before, from) = rest.split_at(at);
        // Digits of a name end with it: `h100,b200`.
        let in_name = before.ends_with(char::is_alphanumeric);
        let goes_on = |letter: char| if in_name { is_digit(letter) } else { is_part(letter) };
        let end = from.find(|letter: char| !goes_on(letter)).unwrap_or(from.len());
        let (number, after) = from.split_at(from[..end].trim_end_matches([',', '.']).len());
        if let Some(meant) = pointed(number) {
            let text = format!("`{}`: decimals follow a point, so write {meant}", excerpt(number));
            return Err(Issue::error(Field::Vary, text));
        }
        all += before;
        all += &ungrouped(number);
        rest = after;
    }
    Ok(all + rest)
}

fn limit(word: &str, words: &mut Words, link: &mut Link) -> bool {
    let slos = &mut link.scenario.workload.slos;
    let slot = match word {
        "ttft" => &mut slos.ttft_ms,
        "tpot" | "itl" => &mut slos.tpot_ms,
        "e2e" | "latency" => &mut slos.e2e_ms,
        _ => {
            let percentile = word.strip_prefix('p').and_then(|number| number.parse().ok());
            slos.percentile = percentile.or(slos.percentile);
            return percentile.is_some();
        }
    };
    let time = words.milliseconds();
    *slot = time.or(*slot);
    time.is_some()
}

/// A number with its unit.
fn amount(word: &str, words: &mut Words, link: &mut Link) -> bool {
    let find = link.find.get_or_insert_default();
    if let Some(dollars) = word.strip_prefix('$') {
        find.set(Field::BudgetDollars, dollars.trim_end_matches("/h").trim_end_matches("/hour"));
        return true;
    }
    let (Ok(number), workload) = (word.parse::<f64>(), &mut link.scenario.workload) else { return false };
    let count = || whole(word).ok();
    if words.next_if(&RATE).is_some() {
        workload.load = Load::Rate(number);
    } else if let (Some(_), Some(clients)) = (words.next_if(&CLIENTS), count()) {
        workload.load = Load::Concurrency(clients);
    } else if let (Some(_), Some(gpus)) = (words.next_if(&GPUS), count()) {
        find.set(Field::BudgetGpus, &gpus.to_string());
    } else if words.next_if(&["%"]).is_some() {
        workload.slos.share = Some(number / 100.0);
    } else {
        words.next_if(&TOKENS);
        match (words.next_if(&LENGTHS).as_deref(), count()) {
            (Some("out" | "output"), Some(tokens)) => workload.osl = tokens,
            (Some(_), Some(tokens)) => workload.isl = Lengths::Fixed(tokens),
            _ => return false,
        }
    }
    true
}

/// Prefill and decode on workers of their own, drafts.
fn asks(word: &str, words: &mut Words, link: &mut Link) -> bool {
    let (field, value) = match word {
        "disaggregated" | "disaggregation" | "pools" | "pd" => (Field::PrefillWorkers, ALL.to_owned()),
        "mtp" | "drafting" => (Field::Drafted, format!("0,{}", words.number().unwrap_or("1".into()))),
        "accepted" => match words.number() {
            Some(tokens) => (Field::Accepted, tokens),
            None => return false,
        },
        _ => return false,
    };
    link.find.get_or_insert_default().set(field, &value);
    true
}

/// A GPU, an engine or a format.
fn wish(word: &str, link: &mut Link) -> bool {
    let all = wishes(word);
    let find = link.find.get_or_insert_default();
    for (field, value) in &all {
        if !find.list(*field).contains(value) {
            find.toggle(*field, value);
        }
    }
    !all.is_empty()
}

fn wishes(word: &str) -> Vec<(Field, &'static str)> {
    let catalog = catalog();
    let of_type = |id: &str| id == word || id.strip_prefix(word).is_some_and(|rest| rest.starts_with('-'));
    let gpus = catalog.gpus.gpus.iter().map(|gpu| gpu.id.as_str()).filter(|id| of_type(id));
    let engines = catalog.engines.engines.iter();
    let engines = engines.filter(|engine| engine.id == word || engine.name.to_lowercase() == word);
    let formats = Dtype::from_id(word).map(Dtype::id);
    gpus.map(|id| (Field::Gpu, id))
        .chain(engines.map(|engine| (Field::Engine, engine.id.as_str())))
        .chain(formats.map(|id| (Field::Weights, id)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scenario;

    fn said(text: &str) -> (String, Vec<Issue>) {
        let (link, issues) =
            read(text, Link::new(Scenario::default())).expect("something of it is understood");
        (link.encode(), issues)
    }

    #[test]
    fn a_load_with_its_limits_in_one_line() {
        for text in [
            "Llama-3.3-70B, 20 requests/s, TTFT 1 s, TPOT 30 ms",
            "serve llama-3.3-70b-instruct at 20 rps with ttft < 1s and tpot < 30ms",
            "20 requests per second of Llama-3.3-70B-Instruct; TTFT: 1000 ms; ITL: 30",
        ] {
            let (link, issues) = said(text);
            assert_eq!(link, "v=1&m=llama-3.3-70b-instruct&r=20&st=1000&sp=30&f=all", "{text}");
            assert!(issues.iter().all(|issue| !issue.is_error()), "{issues:?}");
        }
    }

    #[test]
    fn hardware_formats_and_budgets_are_wishes() {
        let (link, _) = said(
            "qwen3-32b 64 clients 2048 in 256 out p95 on h200-sxm mi300x vllm fp8 16 GPUs $40/h disaggregated max load MTP 2 accepted 1.5",
        );
        let wanted = "v=1&m=qwen3-32b&isl=2048&osl=256&c=64&sq=95&f=gpu~h200-sxm,mi300x~engine~vllm~weights~fp8~drafted~0,2~accepted~1.5~prefill_workers~all~budget_gpus~16~budget_dollars~40~most~yes";
        assert_eq!(link, wanted);
    }

    #[test]
    fn a_largest_number_of_gpus_is_a_budget_and_no_question() {
        for text in [
            "max 8 GPUs, 20 requests/s",
            "20 rps on at most 8 GPUs",
            "up to 8 gpus, 20 req/s",
            "20 rps, maximum 8 GPUs",
        ] {
            assert_eq!(said(text).0, "v=1&r=20&f=budget_gpus~8", "{text}");
        }
        for text in ["most load, max 8 GPUs", "at most 8 GPUs, maximum throughput"] {
            assert_eq!(said(text).0, "v=1&f=budget_gpus~8~most~yes", "{text}");
        }
    }

    #[test]
    fn a_decimal_comma_is_refused_and_thousands_are_read() {
        assert_eq!(said("1,024 clients, 2,048 in").0, "v=1&isl=2048&c=1024&f=all");
        assert_eq!(said("h100,b200,20 rps").0, said("h100, b200, 20 rps").0);
        for text in ["1,5 requests/s", "TPOT 12,5 ms", "20 rps, TTFT 0,125 s"] {
            let refused = read(text, Link::new(Scenario::default())).expect_err(text);
            assert!(refused.is_error() && refused.text.contains("write "), "{}", refused.text);
        }
    }

    #[test]
    fn unknown_words_are_reported() {
        let (_, issues) = said("20 rps, cheap, please");
        assert!(issues[0].text.contains("`cheap`, `please`") && issues[0].field == Field::Vary);
        let none = read("hello", Link::new(Scenario::default()));
        assert!(none.is_err_and(|issue| issue.is_error()));
    }
}
