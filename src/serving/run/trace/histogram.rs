//! Length histograms, from CSV without arrivals.

use std::collections::BTreeMap;

use super::column::{Column, plain};
use super::{enough, line_of};
use crate::config::check::MAX_BINS;
use crate::config::{Bin, Field, Issue, excerpt};

const WEIGHT: [&str; 4] = ["weight", "count", "requests", "share"];

/// The bins of a CSV with prompts, outputs and optional weights; `None` if the text has arrivals or is something
/// else.
///
/// # Errors
/// The line, and what was expected.
pub fn parse(text: &str) -> Option<Result<Vec<Bin>, Issue>> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let names: Vec<String> = reader.headers().ok()?.iter().map(plain).collect();
    let place = |column: Column| names.iter().position(|name| column.is_named(name));
    let arrives = names.iter().any(|name| {
        Column::Arrival.is_named(name)
            || name.strip_suffix("ms").is_some_and(|name| Column::Arrival.is_named(name))
    });
    let (prompt, output) = place(Column::Prompt).zip(place(Column::Output)).filter(|_| !arrives)?;
    let weight = names.iter().position(|name| WEIGHT.contains(&name.as_str()));
    Some(bins((text, reader), [prompt, output], weight).map_err(|text| Issue::error(Field::Trace, text)))
}

fn bins(
    (text, reader): (&str, csv::Reader<&[u8]>),
    [prompt, output]: [usize; 2],
    weight: Option<usize>,
) -> Result<Vec<Bin>, String> {
    let mut weights: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (index, record) in reader.into_records().enumerate() {
        let record = record.map_err(|error| format!("it cannot be read: {error}"))?;
        let number = line_of(text, &record);
        enough(index)?;
        let whole = |place: usize, what: &str| {
            let text = record.get(place).ok_or_else(|| format!("line {number} has no {what}"))?;
            text.parse::<u32>().ok().filter(|value| *value > 0).ok_or_else(|| {
                format!("line {number}: `{}` is not a {what}: expected a whole number from 1", excerpt(text))
            })
        };
        let weight = weight.map_or(Ok(1), |place| whole(place, "weight"))?;
        let lengths = (whole(prompt, "number of prompt tokens")?, whole(output, "number of output tokens")?);
        let sum = weights.entry(lengths).or_default();
        *sum = sum.saturating_add(weight);
    }
    match weights.len() {
        0 => Err("the histogram has no lengths: expected a line for each".into()),
        bins if bins > MAX_BINS => {
            Err(format!("{bins} pairs of lengths, the limit is {MAX_BINS}: round them, or add arrivals"))
        }
        _ => {
            Ok(weights.into_iter().map(|((prompt, output), weight)| Bin { prompt, output, weight }).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_arrivals_are_bins() {
        let bin = |prompt, output, weight| Bin { prompt, output, weight };
        let read = |text: &str| parse(text).expect("a histogram").map_err(|issue| issue.text);
        assert_eq!(
            read("prompt,output,weight\n512,64,3\n128, 16,1\n512,64,2\n"),
            Ok(vec![bin(128, 16, 1), bin(512, 64, 5)])
        );
        assert_eq!(read("output_tokens,prompt_tokens\n9,5\n"), Ok(vec![bin(5, 9, 1)]));
        for (text, expected) in [
            ("prompt,output\n", "no lengths"),
            ("prompt,output\n1\n", "line 2 has no number of output tokens"),
            ("prompt,output,weight\n1,1,0.5\n", "line 2: `0.5` is not a weight"),
            ("prompt,output\n1,1\n0,1\n", "line 3: `0` is not a number of prompt tokens"),
        ] {
            assert!(read(text).is_err_and(|text| text.contains(expected)), "{text}");
        }
        let many: String = (1..=101).map(|length| format!("{length},1\n")).collect();
        assert!(read(&format!("prompt,output\n{many}")).is_err_and(|text| text.contains("101 pairs")));
    }

    #[test]
    fn histograms_reject_traces() {
        for text in [
            "arrival,prompt,output\n0,1,1\n",
            "arrival_ms,prompt,output\n",
            "{\"prompt\": 1}",
            "",
            "prompt\n1\n",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
