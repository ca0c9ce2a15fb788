//! Images in the prompts.

use crate::config::catalog::numbers::images::constants;
use crate::config::model::GqaTrait;
use crate::config::{Field, Issue, Model, Workload};
use crate::units::{count, counted};

/// Images per prompt that the model encodes, and the tokens of one. `prompts` are the lengths of the prompts.
pub fn images(model: &Model, workload: &Workload, prompts: &[u32], issues: &mut Vec<Issue>) -> (u32, u32) {
    let made = model.vision.as_ref().and_then(|vision| vision.tokens);
    let tokens = workload.image_tokens.or(made).unwrap_or(constants().image_tokens as u32);
    if workload.images == 0 {
        let unused = || Issue::warning(Field::ImageTokens, "image tokens have no effect without images");
        issues.extend(workload.image_tokens.map(|_| unused()));
        return (0, tokens);
    }
    if model.has(GqaTrait::Cross) {
        let text = format!(
            "{} reads images through cross-attention, which is counted in memory alone: set images to 0",
            model.name
        );
        issues.push(Issue::error(Field::Images, text));
        return (0, tokens);
    }
    if model.vision.is_none() {
        let text = format!(
            "{} has no known vision encoder: images take no time of their own, and their tokens count like any others. \
             Set images to 0",
            model.name
        );
        issues.push(Issue::warning(Field::Images, text));
        return (0, tokens);
    }
    issues.extend(beyond_prompts(workload, tokens, prompts));
    issues.extend(made.and_then(|made| unlike_made(model, workload, made)));
    issues.push(unmeasured(workload, tokens, made));
    (workload.images, tokens)
}

/// The images of a prompt take more tokens than all or some prompts have.
fn beyond_prompts(workload: &Workload, tokens: u32, prompts: &[u32]) -> Option<Issue> {
    let images = workload.images;
    let all = u64::from(images) * u64::from(tokens);
    if let Some(&shortest) = prompts.iter().min().filter(|&&shortest| all > u64::from(shortest)) {
        let text = format!(
            "{} of {} tokens {} {} tokens, but the input length, which includes them, is {}: raise it to at least {}, \
             or use fewer images or image tokens",
            counted(images, "image"),
            number(tokens),
            if images == 1 { "takes" } else { "take" },
            count(all as f64),
            number(shortest),
            count(all as f64),
        );
        return Some(Issue::error(Field::Images, text));
    }
    let some_are_short = all > u64::from(shortest(workload, prompts));
    some_are_short.then(|| {
        let text = format!(
            "lengths vary, so some prompts are shorter than the {} tokens of their images, which are still encoded in full",
            count(all as f64)
        );
        Issue::warning(Field::Images, text)
    })
}

/// The tokens given for an image are not the `made` that the model turns every image into.
fn unlike_made(model: &Model, workload: &Workload, made: u32) -> Option<Issue> {
    let given = workload.image_tokens.filter(|&given| given != made)?;
    let text = format!(
        "{0} turns every image into {1} tokens, not {2}: enter {1} or clear the field",
        model.name,
        number(made),
        number(given)
    );
    Some(Issue::warning(Field::ImageTokens, text))
}

fn unmeasured(workload: &Workload, tokens: u32, made: Option<u32>) -> Issue {
    let why = match (workload.image_tokens, made) {
        (Some(_), _) => "",
        (None, Some(_)) => ", the model's number for any image",
        (None, None) => ", a typical number: enter the number for your images",
    };
    let text = format!(
        "no measured run has images: the encoder's time follows from its work, and no measurement checks or calibrates it. \
         Each image takes {} tokens{why}",
        number(tokens)
    );
    Issue::note(Field::Images, text)
}

fn number(number: u32) -> String {
    count(f64::from(number))
}

/// The shortest prompt that may be drawn.
fn shortest(workload: &Workload, prompts: &[u32]) -> u32 {
    let drawn = workload.histogram.iter().map(|bin| bin.prompt).min();
    let least = drawn.or_else(|| prompts.iter().copied().min()).unwrap_or(1);
    match workload.log_spread[0] > 0.0 || workload.shape.is_some() {
        true => 1,
        false => (f64::from(least) * (1.0 - workload.spread)) as u32,
    }
}
