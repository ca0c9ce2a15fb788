//! Which recorded launch script a case ran.

use super::super::cases::ClosedLoopCase;
use super::settings::{Record, SettingsFile};

/// The record of a case, or why there is none, and what is uncertain about the choice.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    pub record: Option<&'a Record>,
    pub why_none: String,
    pub doubts: Vec<String>,
}

impl<'a> Found<'a> {
    fn none(why: String) -> Self {
        Self { why_none: why, ..Self::default() }
    }

    fn record(record: &'a Record, doubt: Option<String>) -> Self {
        let doubts = record.assumed.iter().cloned().chain(doubt).collect();
        Self { record: Some(record), why_none: String::new(), doubts }
    }
}

/// The table says that NVIDIA ran it, with scripts of which none is recorded.
fn is_nvidias(case: &ClosedLoopCase) -> bool {
    case.source.ends_with("nvidia_internal_gap_analysis")
}

/// A run of the recorded scripts, by its source or against it.
///
/// Every visible row of NVIDIA's own part that has the lengths of the scripts repeats the times of one of
/// their runs, with the same labels, rounded to two decimals of a millisecond. So these are copies, and the
/// fixed lengths that the table states for that part do not hold for them.
pub(super) fn is_of_scripts(file: &SettingsFile, case: &ClosedLoopCase) -> bool {
    !is_nvidias(case) || file.lengths.contains(&[case.isl, case.osl]) && !of_case(file, case).is_empty()
}

/// The day of the run; copies lost theirs.
pub(super) fn day<'a>(file: &'a SettingsFile, case: &'a ClosedLoopCase) -> Option<&'a str> {
    let copied = || is_nvidias(case) && is_of_scripts(file, case);
    case.measured_on.as_deref().or_else(|| copied().then_some(file.copied_until.as_str()))
}

pub(super) fn find<'a>(file: &'a SettingsFile, case: &ClosedLoopCase) -> Found<'a> {
    if !is_of_scripts(file, case) {
        return Found::none("NVIDIA's own run, of which no launch script is recorded".to_owned());
    }
    if case.image.as_deref().is_some_and(|image| image.contains("ai-dynamo/")) {
        return Found::none("the image is Dynamo's, which no recorded script of one node starts".to_owned());
    }
    let records = of_case(file, case);
    if records.is_empty() {
        let ClosedLoopCase { model, precision, gpu, engine, .. } = case;
        return Found::none(format!("no launch script of {model} in {precision} on {gpu} with {engine}"));
    }
    if !file.lengths.contains(&[case.isl, case.osl]) {
        let ClosedLoopCase { isl, osl, .. } = case;
        return Found::none(format!("the scripts do not run prompts of {isl} and answers of {osl} tokens"));
    }
    let mut found = by_day_and_image(&records, case, day(file, case));
    if is_nvidias(case) {
        found.doubts.push(
            "listed as NVIDIA's own run with fixed lengths, but taken for a copy of a run of the recorded scripts"
                .to_owned(),
        );
    }
    found
}

fn of_case<'a>(file: &'a SettingsFile, case: &ClosedLoopCase) -> Vec<&'a Record> {
    let runs = |record: &&Record| {
        runs_model(file, record, case)
            && record.gpu == case.gpu
            && record.engines.contains(&case.engine)
            && record.precisions.iter().any(|precision| precision == recorded_precision(file, case))
    };
    file.records.iter().filter(runs).collect()
}

fn by_day_and_image<'a>(records: &[&'a Record], case: &ClosedLoopCase, day: Option<&str>) -> Found<'a> {
    let tag = image_tag(case);
    let has_image = |record: &&&Record| {
        tag.is_none_or(|tag| {
            record.images.is_empty() || record.images.iter().any(|image| is_image(tag, image))
        })
    };
    let in_period = |record: &&&Record| {
        day.is_some_and(|day| {
            *record.from <= *day && record.until.as_deref().is_none_or(|until| day <= until)
        })
    };
    // A run on the day of a change mostly tests the change, so the later record holds then.
    let latest = |found: Vec<&'a Record>| {
        let last = *found.iter().max_by(|a, b| a.from.cmp(&b.from))?;
        let doubt = (found.len() > 1)
            .then(|| "the settings changed on the day of the run; the new ones are taken".to_owned());
        Some(Found::record(last, doubt))
    };
    let chosen = |filter: &dyn Fn(&&&Record) -> bool| -> Vec<&'a Record> {
        records.iter().filter(filter).copied().collect()
    };
    if let Some(found) = latest(chosen(&|record| in_period(record) && has_image(record))) {
        return found;
    }
    // The image is part of the run; the day of a commit only bounds it.
    if let (Some(tag), Some(record)) =
        (tag, chosen(&has_image).into_iter().max_by(|a, b| a.from.cmp(&b.from)))
    {
        let doubt = format!("the image {tag} belongs to the settings of {}, which are taken", record.from);
        return Found::record(record, Some(doubt));
    }
    match latest(chosen(&in_period)) {
        Some(mut found) => {
            found.doubts.push(format!("the image {} is none of those recorded", tag.unwrap_or("of the run")));
            found
        }
        None => {
            let day = day.unwrap_or("an unknown day");
            Found::none(format!("run on {day}, outside of the recorded periods"))
        }
    }
}

/// Tags go on after what a record names; a version may stop before.
fn is_image(tag: &str, recorded: &str) -> bool {
    tag.starts_with(recorded) || (tag.starts_with("nightly") && recorded.starts_with(tag))
}

fn runs_model(file: &SettingsFile, record: &Record, case: &ClosedLoopCase) -> bool {
    let name = case.model.rsplit('/').next().unwrap_or_default();
    let names = file.models.get(&record.model);
    names.is_some_and(|names| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

fn recorded_precision<'a>(file: &'a SettingsFile, case: &'a ClosedLoopCase) -> &'a str {
    file.precisions.get(&case.precision).unwrap_or(&case.precision)
}

/// The tag of the image, or else the engine's version; none where the case has neither.
fn image_tag(case: &ClosedLoopCase) -> Option<&str> {
    let image = case.image.as_deref().filter(|image| image.contains('/'));
    let tag = image.and_then(|image| image.rsplit(':').next()).or(case.engine_version.as_deref());
    tag.map(|tag| tag.trim_start_matches('v'))
}
