//! Single values as text. Reading what `show_*` wrote gives the same value.

use crate::config::check::{MAX_BINS, MAX_LENGTHS};
use crate::config::measured::MeasuredFigure;
use crate::config::names::gpu_id;
use crate::config::{Bin, Dtype, Lengths, Measured, Metric, Shape, excerpt};
use crate::units::decimal;

pub fn whole(text: &str) -> Result<u32, String> {
    let digits = text.trim();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse() {
        Ok(number) if is_number => Ok(number),
        _ if is_number => Err(format!("`{}` is larger than {}", excerpt(text), u32::MAX)),
        _ if digits.is_empty() => Err("a whole number is missing: give one such as 8".into()),
        _ if digits.strip_prefix('-').is_some_and(|rest| rest.parse::<u32>().is_ok()) => {
            Err(format!("`{}` is negative: give a number such as 8", excerpt(text)))
        }
        _ => Err(format!("`{}` is not a whole number: give one such as 8", excerpt(text))),
    }
}

/// A number as people type it, without what groups its digits: spaces, underscores, and commas between thousands. Any
/// other comma stays, and nothing reads such a text as a number: it may be meant as a point.
pub fn ungrouped(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != '_').collect();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let leads = (1..=3).contains(&first.len()) && digits(first) && !first.starts_with('0');
    let follow = groups.all(|group| group.len() == 3 && digits(group));
    if leads && follow && !fraction.contains(',') { text.replace(',', "") } else { text }
}

/// `1.5` for `1,5`: the number that a decimal comma means.
pub fn pointed(text: &str) -> Option<String> {
    let text = ungrouped(text);
    let (whole, fraction) = text.split_once(',')?;
    let meant = format!("{}.{fraction}", whole.replace('.', ""));
    real(&meant).ok().filter(|_| !fraction.is_empty()).map(|_| meant)
}

/// Significant digits kept: a double holds every decimal of this many.
const DIGITS: usize = 15;

/// Decimal places kept.
const PLACES: usize = 22;

/// A decimal without sign or exponent, as people type it. Digits beyond the fifteenth are dropped, which also
/// removes floating-point noise.
pub fn real(text: &str) -> Result<f64, String> {
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let error = || Err(format!("`{}` is not a decimal number", excerpt(text)));
    if !digits(whole) || !digits(fraction) || whole.len() + fraction.len() == 0 {
        return error();
    }
    let whole = whole.trim_start_matches('0');
    let zeros = if whole.is_empty() { fraction.len() - fraction.trim_start_matches('0').len() } else { 0 };
    let Some(left) = DIGITS.checked_sub(whole.len()) else { return error() };
    let places = fraction.len().min(left + zeros).min(PLACES);
    format!("0{whole}.{}0", &fraction[..places]).parse().or_else(|_| error())
}

pub fn id(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("the value is empty".into()) } else { Ok(text.to_owned()) }
}

/// A GPU's id, or a name that stands for it.
pub fn gpu(text: &str) -> Result<String, String> {
    id(gpu_id(text))
}

pub fn dtype(text: &str) -> Result<Dtype, String> {
    Dtype::from_id(text).ok_or_else(|| {
        let known: Vec<&str> = Dtype::ALL.iter().map(|dtype| dtype.id()).collect();
        format!("`{}` is not a number format: choose one of {}", excerpt(text), known.join(", "))
    })
}

pub fn show_dtype(dtype: &Dtype) -> String {
    dtype.id().to_owned()
}

pub fn shape(text: &str) -> Result<Shape, String> {
    Shape::from_id(text).ok_or_else(|| {
        let known: Vec<&str> = Shape::ALL.iter().map(|shape| shape.id()).collect();
        format!("`{}` is not a length distribution: choose one of {}", excerpt(text), known.join(", "))
    })
}

/// `1024`, or a run-length list: `512x3,1024` is 512, 512, 512, 1024. A lone comma is the empty list.
pub fn lengths(text: &str) -> Result<Lengths, String> {
    if !text.contains([',', 'x']) {
        return whole(text).map(Lengths::Fixed);
    }
    let mut all = Vec::new();
    for run in text.split(',').filter(|run| !run.is_empty()) {
        let (length, count) = run.split_once('x').unwrap_or((run, "1"));
        let (length, count) = (whole(length)?, whole(count)? as usize);
        // Checked before the list grows: a run may claim four billion lengths.
        if count > MAX_LENGTHS - all.len() {
            return Err(format!("more than {MAX_LENGTHS} prompt lengths"));
        }
        all.extend(std::iter::repeat_n(length, count));
    }
    Ok(Lengths::Each(all))
}

pub fn show_lengths(lengths: &Lengths) -> String {
    let all = match lengths {
        Lengths::Fixed(length) => return length.to_string(),
        Lengths::Each(all) => all,
    };
    let runs: Vec<String> = all
        .chunk_by(|a, b| a == b)
        .map(|run| match (run.len(), all.len()) {
            // A single length reads as a list only with a count.
            (1, 2..) => run[0].to_string(),
            (count, _) => format!("{}x{count}", run[0]),
        })
        .collect();
    if runs.is_empty() { ",".into() } else { runs.join(",") }
}

/// `512-64x3,2048-256`: prompt and output lengths with weights, 1 by default.
pub fn histogram(text: &str) -> Result<Vec<Bin>, String> {
    let bin = |part: &str| {
        let (lengths, weight) = part.split_once('x').unwrap_or((part, "1"));
        let wanted =
            || format!("`{}` must be a prompt, an output and a weight, such as 512-64x3", excerpt(part));
        let (prompt, output) = lengths.split_once('-').ok_or_else(wanted)?;
        Ok(Bin { prompt: whole(prompt)?, output: whole(output)?, weight: whole(weight)? })
    };
    let bins = text.split(',').take(MAX_BINS + 1).map(bin).collect::<Result<Vec<_>, String>>()?;
    match bins.len() > MAX_BINS {
        true => Err(format!("more than {MAX_BINS} bins")),
        false => Ok(bins),
    }
}

pub fn show_histogram(bins: &[Bin]) -> String {
    let bin = |&Bin { prompt, output, weight }: &Bin| match weight {
        1 => format!("{prompt}-{output}"),
        _ => format!("{prompt}-{output}x{weight}"),
    };
    bins.iter().map(bin).collect::<Vec<_>>().join(",")
}

/// `ttft-123.4-118,throughput-1200`: means, followed by the median if known; `tpot--8.1` is a median alone.
pub fn measured(text: &str) -> Result<Measured, String> {
    let mut all = Measured::default();
    for part in text.split(',') {
        let (name, numbers) = part.split_once('-').unwrap_or_default();
        let (mean, median) = numbers.split_once('-').unwrap_or((numbers, ""));
        let metric = Metric::from_id(name).filter(|_| mean.len() + median.len() > 0);
        let Some(metric) = metric else {
            return Err(format!(
                "`{}` is not a measured number such as ttft-123.4 or tpot-8.2-8.1",
                excerpt(part)
            ));
        };
        for (text, is_median) in [(mean, false), (median, true)] {
            if !text.is_empty() {
                all.set(metric, is_median, real(text)?)?;
            }
        }
    }
    Ok(all)
}

pub fn show_measured(measured: &Measured) -> String {
    let show = |number: Option<f64>| number.map(decimal).unwrap_or_default();
    let mut out = String::new();
    for &metric in Metric::ALL {
        let MeasuredFigure { mean, median } = measured.of(metric);
        if mean.is_none() && median.is_none() {
            continue;
        }
        let lead = if out.is_empty() { "" } else { "," };
        let dash = if median.is_some() { "-" } else { "" };
        for piece in [lead, metric.id(), "-", &show(mean), dash, &show(median)] {
            out += piece;
        }
    }
    out
}
