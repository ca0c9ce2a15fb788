//! Which recorded launch script a case ran.

use super::label::Label;
use super::plan::{LaunchPlan, RunKey, Script};
use super::{LaunchSettings, Origin};
use crate::config::Version;
use crate::evidence::cases::ServedCase;

/// The launch of a case as its script, or else the defaults of its engine, give it.
///
/// Every published row of NVIDIA's own part that has the lengths of the scripts repeats the times of one of their runs,
/// with the same labels, rounded to two decimals of a millisecond. These rows are therefore copies, and the fixed
/// lengths that the table states for that part do not apply to them.
pub(super) fn launch(plan: &LaunchPlan, case: &ServedCase, label: Label) -> Result<LaunchSettings, String> {
    let of_nvidia = case.source.ends_with("nvidia_internal_gap_analysis");
    let scripts: Vec<&Script> = plan.scripts.iter().filter(|script| script.runs(case)).collect();
    let copied = of_nvidia && plan.lengths.contains(&[case.isl, case.osl]) && !scripts.is_empty();
    let day = case.measured_on.as_deref().or(copied.then_some(plan.copied_until.as_str()));
    let place = RunKey { case, label, day };
    let found = if of_nvidia && !copied {
        Err((&plan.others, "NVIDIA's own run, without a recorded launch script".to_owned()))
    } else {
        find(plan, &scripts, &place).map_err(|why| (&plan.unrecorded, why))
    };
    let of_copy = copied.then(|| COPIED.to_owned());
    match found {
        Ok((script, doubts)) => {
            let mut launch = script.launches.of(&place)?;
            launch.origin = if script.assumed.is_some() { Origin::Assumed } else { Origin::Recorded };
            launch.doubts.splice(0..0, script.assumed.iter().cloned().chain(doubts).chain(of_copy));
            Ok(launch)
        }
        Err((defaults, why)) => {
            let unknown = || format!("no launch with the engine {} is known", case.engine);
            let mut launch = defaults.get(&case.engine).ok_or_else(unknown)?.of(&place)?;
            launch.origin = Origin::Defaults(why);
            launch.doubts.splice(0..0, of_copy);
            Ok(launch)
        }
    }
}

const COPIED: &str =
    "listed as NVIDIA's own run with fixed lengths, but treated as a copy of a run from the recorded scripts";

/// A script, and what is uncertain about the choice; or why there is none.
type Found<'a> = Result<(&'a Script, Vec<String>), String>;

fn find<'a>(plan: &LaunchPlan, scripts: &[&'a Script], place: &RunKey) -> Found<'a> {
    let ServedCase { model, precision, gpu, engine, isl, osl, image, .. } = place.case;
    if image.as_deref().is_some_and(|image| image.contains("ai-dynamo/")) {
        Err("the image is Dynamo's, which no recorded script of one node starts".to_owned())
    } else if scripts.is_empty() {
        Err(format!("no launch script of {model} in {precision} on {gpu} with {engine}"))
    } else if !plan.lengths.contains(&[*isl, *osl]) {
        Err(format!("no recorded script has {isl} input and {osl} output tokens"))
    } else {
        by_day_and_image(scripts, image_tag(place.case), place.day)
    }
}

impl Script {
    fn runs(&self, case: &ServedCase) -> bool {
        let name = case.model.rsplit('/').next().unwrap_or_default();
        self.models.iter().any(|known| known.eq_ignore_ascii_case(name))
            && self.precisions.contains(&case.precision)
            && (&self.gpu, &self.engine) == (&case.gpu, &case.engine)
    }

    fn ran_on(&self, day: Option<&str>) -> bool {
        let ended = |day: &str| self.until.as_deref().is_some_and(|until| day > until);
        day.is_some_and(|day| *self.from <= *day && !ended(day))
    }

    /// Tags continue after what a record names; a version may end before it.
    fn ran_image(&self, tag: Option<&str>) -> bool {
        let is = |tag: &str, image: &str| {
            tag.starts_with(image) || (tag.starts_with("nightly") && image.starts_with(tag))
        };
        self.images.is_empty() || tag.is_none_or(|tag| self.images.iter().any(|image| is(tag, image)))
    }
}

fn by_day_and_image<'a>(scripts: &[&'a Script], tag: Option<&str>, day: Option<&str>) -> Found<'a> {
    // A run on the day of a change mostly tests the change, so the later script holds then.
    let latest = |holds: &dyn Fn(&Script) -> bool| {
        let found: Vec<&Script> = scripts.iter().copied().filter(|script| holds(script)).collect();
        let changed = "the settings changed on the day of the run; the newer ones are used".to_owned();
        let doubts = if found.len() > 1 { vec![changed] } else { Vec::new() };
        Some((found.into_iter().max_by(|a, b| a.from.cmp(&b.from))?, doubts))
    };
    if let Some(found) = latest(&|script| script.ran_on(day) && script.ran_image(tag)) {
        return Ok(found);
    }
    // The image is part of the run; the day of a commit only bounds it.
    if let (Some(tag), Some((script, _))) = (tag, latest(&|script| script.ran_image(tag))) {
        let doubt = format!("the image {tag} belongs to the settings of {}, which are taken", script.from);
        return Ok((script, vec![doubt]));
    }
    let (script, mut doubts) = latest(&|script| script.ran_on(day))
        .ok_or_else(|| format!("run on {}, outside the recorded periods", day.unwrap_or("an unknown day")))?;
    doubts.push(format!("the image {} is not among those recorded", tag.unwrap_or("of the run")));
    Ok((script, doubts))
}

/// The tag of the image, or else the engine's version; `None` if the case has neither.
fn image_tag(case: &ServedCase) -> Option<&str> {
    let image = case.image.as_deref().filter(|image| image.contains('/'));
    let tag =
        image.and_then(|image| image.rsplit(':').next()).or(case.engine_version.as_ref().map(Version::text));
    tag.map(|tag| tag.trim_start_matches('v'))
}
