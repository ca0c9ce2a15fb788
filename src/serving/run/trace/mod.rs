//! Traces: arrival and lengths of each request, from CSV or JSON Lines.

mod column;
pub mod histogram;
mod time;

use serde_json::Value;

use super::SEED;
use super::lengths::means;
use crate::config::{Field, Issue, Lengths, Load, Setup, Workload, excerpt, json};
use crate::serving::sim::Request;
use crate::units::random::SplitMix64;
use crate::units::{Order, count, counted};
use column::{Column, Columns};

/// Maximum requests per trace: keeps a replay to about a second.
pub const MOST_REQUESTS: usize = 50_000;

/// The key of ShareGPT's texts.
const CONVERSATIONS: &str = "\"conversations\"";
const NO_TRACE: &str = "conversations have neither arrival times nor token counts: for lengths as in ShareGPT, choose it \
    as the length distribution, without a trace";

/// Requests ordered by arrival, the first at 0 s.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Seconds.
    pub arrivals: Vec<f64>,
    pub requests: Vec<Request>,
}

/// One parsed request.
#[derive(Debug, Clone, Copy)]
struct Line {
    arrival: f64,
    lengths: Request,
}

impl Trace {
    /// Reads CSV with a header, or JSON Lines. Columns have the names of published traces (see [`Column`]); times
    /// are seconds, milliseconds if the name says so, or dates with times.
    ///
    /// If there is no trace, the issues hold an error with the line and what was expected.
    pub fn parse(text: &str) -> (Option<Self>, Vec<Issue>) {
        let text = text.trim_start_matches('\u{feff}');
        let lines = match text.trim_start().chars().next() {
            None => Ok(Vec::new()),
            Some('[') if text.contains(CONVERSATIONS) => Err(NO_TRACE.into()),
            Some('[') => Err("a list is no trace: expected CSV with a header, or an object per line".into()),
            Some('{') => of_json(text).map_err(|fault| match text.contains(CONVERSATIONS) {
                true => NO_TRACE.into(),
                false => fault,
            }),
            Some(_) => of_csv(text),
        };
        match lines.and_then(Self::of_lines) {
            Ok((trace, mut notes)) => {
                notes.extend(text.contains(column::MOONCAKE_JSON).then(|| {
                    let text = "what prompts share (`hash_ids`) is not used: enter the fraction found in the cache as \
                        the prefix cache's";
                    Issue::note(Field::Trace, text)
                }));
                (Some(trace), notes)
            }
            Err(text) => (None, vec![Issue::error(Field::Trace, text)]),
        }
    }

    fn of_lines(mut lines: Vec<Line>) -> Result<(Self, Vec<Issue>), String> {
        let all = lines.len();
        lines.retain(|line| line.lengths.output > 0);
        if lines.is_empty() {
            return Err("the trace has no requests: expected a header and a line per request".into());
        }
        let mut notes = Vec::new();
        if lines.len() < all {
            let left = all - lines.len();
            let are = if left == 1 { "is" } else { "are" };
            let text = format!("{} without output {are} left out", counted(left as f64, "request"));
            notes.push(Issue::note(Field::Trace, text));
        }
        if !lines.is_sorted_by(|one, other| one.arrival <= other.arrival) {
            lines.order_by(|one, other| one.arrival.total_cmp(&other.arrival));
            notes.push(Issue::note(
                Field::Trace,
                "the requests were not in the order of their arrivals and have been sorted",
            ));
        }
        let first = lines[0].arrival;
        let arrivals = lines.iter().map(|line| line.arrival - first).collect();
        Ok((Self { arrivals, requests: lines.iter().map(|line| line.lengths).collect() }, notes))
    }

    /// Mean requests per second; `None` if all arrive at once.
    pub fn rate(&self) -> Option<f64> {
        let span = self.arrivals.last().copied().filter(|&span| span > 0.0)?;
        Some((self.arrivals.len() - 1) as f64 / span)
    }

    /// `setup` under this trace: at the setup's rate or else at its own pace, with its mean lengths.
    ///
    /// # Errors
    /// If the trace has no pace, the setup no server, or a prompt no room for its images.
    pub fn on(&self, setup: &Setup) -> Result<Setup, Issue> {
        if matches!(setup.workload.load, Load::Batch(_) | Load::Offline(_)) {
            let text = "a trace is sent to a server: choose clients or a rate as the load";
            return Err(Issue::error(Field::Trace, text));
        }
        let none = "all requests of the trace arrive at once: use a burst instead";
        let own = self.rate().ok_or_else(|| Issue::error(Field::Trace, none))?;
        let images = setup.workload.images.saturating_mul(setup.image_tokens);
        if let Some(request) = self.requests.iter().find(|request| request.prompt < images) {
            let text = format!(
                "a prompt of the trace has {} tokens, and its images would take {images}: set images to 0",
                request.prompt
            );
            return Err(Issue::error(Field::Images, text));
        }
        let rate = match setup.workload.load {
            Load::Rate(rate) | Load::ConstantRate(rate) => rate,
            _ => own,
        };
        let (prompt, output) = means(&self.requests);
        Ok(setup.under(|workload| {
            *workload = Workload {
                isl: Lengths::Fixed(prompt),
                osl: output,
                spread: 0.0,
                log_spread: [0.0; 2],
                shape: None,
                histogram: Vec::new(),
                load: Load::Rate(rate),
                burstiness: 1.0,
                ..workload.clone()
            }
        }))
    }

    /// A note on what a trace replaces in the answer for `setup`.
    pub fn stands_for(setup: &Setup) -> Issue {
        let pace = match setup.workload.load.is_rate() {
            true => "at the rate given instead of its own pace",
            false => "in place of the load",
        };
        let share = match setup.copies() {
            1 => String::new(),
            copies => format!("; one of the {copies} replicas is simulated, with its share of them"),
        };
        let text = format!(
            "the trace's requests are replayed {pace}, with its lengths{share}. Neither the link nor the commands hold it"
        );
        Issue::note(Field::Trace, text)
    }

    /// One replica's share: one of every `of` requests, drawn, since a trace may repeat itself as often.
    pub fn share(&self, of: usize) -> (Vec<f64>, Vec<Request>) {
        let mut random = SplitMix64::new(SEED);
        let all = self.arrivals.iter().copied().zip(self.requests.iter().copied()).collect::<Vec<_>>();
        all.chunks(of.max(1)).map(|some| some[random.between(0, some.len() as u32 - 1) as usize]).unzip()
    }
}

fn of_csv(text: &str) -> Result<Vec<Line>, String> {
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| format!("the header cannot be read: {error}"))?;
    let columns = Columns::of(header.iter())?;
    let mut lines = Vec::new();
    for record in reader.into_records() {
        let record = record.map_err(|error| format!("it cannot be read: {error}"))?;
        enough(lines.len())?;
        lines.push(columns.line(line_of(text, &record), |place| record.get(place).map(str::to_owned))?);
    }
    Ok(lines)
}

/// The line on which a record of `text` begins, counted as in an editor. Its position is before any empty lines.
fn line_of(text: &str, record: &csv::StringRecord) -> usize {
    let Some(position) = record.position() else { return 0 };
    let rest = text.get(position.byte() as usize..).unwrap_or_default();
    let empty = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
    position.line() as usize + rest[..empty].matches('\n').count()
}

fn of_json(text: &str) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    // Not every line need have what tells the unit.
    let is_mooncake = text.contains(column::MOONCAKE_JSON);
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = index + 1;
        let object = json::parse(line).map_err(|fault| format!("line {number}: {fault}"))?;
        let fields = || object.as_object().into_iter().flatten();
        // Each line may have its own fields.
        let mut columns = Columns::of(fields().map(|(name, _)| name.as_str()))
            .map_err(|fault| format!("line {number}: {fault}"))?;
        columns.milliseconds |= is_mooncake;
        let value = |place: usize| {
            let (_, value) = fields().nth(place)?;
            Some(match value {
                Value::Number(number) => number.to_string(),
                Value::String(text) => text.clone(),
                other => json::kind(other).to_owned(),
            })
        };
        enough(lines.len())?;
        lines.push(columns.line(number, value)?);
    }
    Ok(lines)
}

fn enough(lines: usize) -> Result<(), String> {
    if lines < MOST_REQUESTS {
        return Ok(());
    }
    Err(format!(
        "the trace has more than {} requests: shorten it to a typical part",
        count(MOST_REQUESTS as f64)
    ))
}

impl Columns {
    fn line(&self, number: usize, value: impl Fn(usize) -> Option<String>) -> Result<Line, String> {
        let text = |column: Column| {
            value(self.place(column)).ok_or_else(|| format!("line {number} has no {}", column.name()))
        };
        let arrival = text(Column::Arrival)?;
        let seconds = self.seconds(&arrival).ok_or_else(|| {
            format!(
                "line {number}: `{}` is not a time: expected seconds from the start, or a date with a time",
                excerpt(&arrival)
            )
        })?;
        let tokens = |column: Column, least: f64| {
            let text = text(column)?;
            let tokens = text.parse::<f64>().ok().filter(|tokens| tokens.fract() == 0.0);
            match tokens {
                Some(tokens) if (least..=1e8).contains(&tokens) => Ok(tokens as u32),
                _ => Err(format!(
                    "line {number}: `{}` is not a number of {}: expected a whole number from {least}",
                    excerpt(&text),
                    column.name(),
                )),
            }
        };
        // Requests that failed have no output.
        let lengths = Request::new(tokens(Column::Prompt, 1.0)?, tokens(Column::Output, 0.0)?);
        Ok(Line { arrival: seconds, lengths })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Trace {
        let (trace, issues) = Trace::parse(text);
        trace.unwrap_or_else(|| panic!("{issues:?}"))
    }

    fn refused(text: &str) -> String {
        let (trace, issues) = Trace::parse(text);
        assert_eq!(trace, None, "{text}");
        assert!(issues[0].is_error() && issues[0].field == Field::Trace);
        issues[0].text.clone()
    }

    #[test]
    fn published_forms_are_the_same_trace() {
        let plain = read("arrival,prompt,output\n0,100,20\n1.5,200,1\n");
        assert_eq!(plain.arrivals, [0.0, 1.5]);
        assert_eq!(plain.requests[1], Request::new(200, 1));
        let azure = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 23:59:59.5,100,20\r\n2023-11-17 00:00:01.0,200,1\r\n";
        let mooncake = "{\"timestamp\": 27000, \"input_length\": 100, \"output_length\": 20, \"hash_ids\": [0]}\n\
                        {\"timestamp\": 28500, \"input_length\": 200, \"output_length\": 1, \"hash_ids\": [1]}\n";
        let partly = mooncake.replace(", \"hash_ids\": [1]", "");
        let burst = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
                     5,ChatGPT,100,20,120,\"Conversation, log\"\n6.5,GPT-4,200,1,201,API log\n";
        let lines = "{\"arrival_ms\": 0, \"prompt_tokens\": 100, \"output_tokens\": 20}\n\n\
                     {\"output_tokens\": 1, \"prompt_tokens\": 200, \"arrival_ms\": 1500}";
        for text in [azure, mooncake, &partly, burst, lines] {
            assert_eq!(read(text), plain, "{text}");
        }
        assert_eq!((plain.rate(), means(&plain.requests)), (Some(1.0 / 1.5), (150, 11)));
    }

    #[test]
    fn failed_requests_and_shared_prefixes_are_said() {
        let of = |text: &str| {
            let (trace, issues) = Trace::parse(text);
            (trace.map(|trace| trace.requests.len()), issues.into_iter().map(|issue| issue.text).collect())
        };
        let (requests, said): (_, Vec<String>) = of("arrival,prompt,output\n0,10,5\n1,10,0\n2,10,5\n");
        assert_eq!((requests, said), (Some(2), vec!["1 request without output is left out".to_owned()]));
        let mooncake = "{\"timestamp\": 0, \"input_length\": 9, \"output_length\": 2, \"hash_ids\": [0]}\n";
        let (_, said): (_, Vec<String>) = of(mooncake);
        assert!(said[0].contains("hash_ids"), "{said:?}");
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        for (text, expected) in [
            ("", "no requests"),
            ("arrival,prompt,output\n", "no requests"),
            ("time,prompt\n1,2\n", "no output"),
            ("arrival,prompt,output\n-1,100,20\n", "line 2: `-1` is not a time"),
            ("arrival,prompt,output\n0,100,20\nsoon,100,20\n", "line 3: `soon` is not a time"),
            ("arrival,prompt,output\n0,100,20\n\n-1,100,20\n", "line 4: `-1` is not a time"),
            ("arrival,prompt,output\n0,0,20\n", "line 2: `0` is not a number of prompt tokens"),
            ("arrival,prompt,output\n0,10,1.5\n", "line 2: `1.5` is not a number of output tokens"),
            ("arrival,prompt,output\n0,10\n", "line 2 has no output"),
            ("{\"arrival\": 0}\n", "line 1: the header has no prompt"),
            ("{\"arrival\": 0,\n", "line 1: not JSON"),
            ("[{\"id\": \"a\", \"conversations\": []}]", NO_TRACE),
            ("{\"id\": \"a\", \"conversations\": []}\n", NO_TRACE),
            ("[{\"arrival\": 0, \"prompt\": 1, \"output\": 1}]", "an object per line"),
            ("{\"arrival\": [], \"prompt\": 1, \"output\": 1}\n", "line 1: `a list` is not a time"),
        ] {
            let issue = refused(text);
            assert!(issue.contains(expected), "{text}: {issue}");
        }
        let long = format!("arrival,prompt,output\n{}", "0,1,1\n".repeat(MOST_REQUESTS + 1));
        assert!(refused(&long).contains("requests: shorten it"), "{}", refused(&long));
    }

    #[test]
    fn out_of_order_requests_are_sorted_with_a_note() {
        let (trace, issues) = Trace::parse("arrival,prompt,output\n9,2,2\n4,1,1\n");
        let trace = trace.expect("sound");
        assert_eq!((trace.arrivals[1], trace.requests[0].prompt), (5.0, 1));
        assert!(!issues[0].is_error() && issues[0].text.contains("sorted"));
        assert_eq!(trace.share(2).1.len(), 1);
        assert_eq!(read("arrival,prompt,output\n3,1,1\n").rate(), None);
    }
}
