//! Images in the prompts.

use crate::config::catalog::facts::IMAGE_TOKENS;
use crate::config::{Field, Issue, Model, Workload};
use crate::units::count;

/// Images per prompt that the model encodes, and the tokens of one. `prompts` are the lengths of the prompts.
pub fn images(model: &Model, workload: &Workload, prompts: &[u32], issues: &mut Vec<Issue>) -> (u32, u32) {
    let (images, fixed) = (workload.images, model.vision.as_ref().and_then(|vision| vision.tokens));
    let tokens = workload.image_tokens.or(fixed).unwrap_or(IMAGE_TOKENS as u32);
    if images == 0 {
        return (0, tokens);
    }
    if model.vision.is_none() {
        let text = format!(
            "no vision encoder is known of {}: images take no time of their own, and their tokens count as any of the prompt. \
             Set images to 0",
            model.name
        );
        issues.push(Issue::warning(Field::Images, text));
        return (0, tokens);
    }
    let all = u64::from(images) * u64::from(tokens);
    let number = |number: u64| count(number as f64);
    if let Some(&shortest) = prompts.iter().min().filter(|&&shortest| all > u64::from(shortest)) {
        let text = format!(
            "{} of {} tokens take {}, but the input length, which counts them too, is {}: raise it to at least {}, \
             or use fewer images or image tokens",
            if images == 1 { "1 image".to_owned() } else { format!("{images} images") },
            number(tokens.into()),
            number(all),
            number(shortest.into()),
            number(all),
        );
        issues.push(Issue::error(Field::Images, text));
    } else if all > u64::from(shortest(workload, prompts)) {
        let text = format!(
            "lengths vary, and some prompts are shorter than the {} tokens of their images: those are encoded all the same",
            number(all)
        );
        issues.push(Issue::warning(Field::Images, text));
    }
    let why = match (workload.image_tokens, fixed) {
        (Some(_), _) => "",
        (None, Some(_)) => ", as many as the model makes of every image",
        (None, None) => ", a typical number: enter that of your images",
    };
    if let (Some(given), Some(made)) = (workload.image_tokens, fixed)
        && given != made
    {
        let text = format!(
            "{} makes {} tokens of every image, not {}",
            model.name,
            number(made.into()),
            number(given.into())
        );
        issues.push(Issue::warning(Field::ImageTokens, text));
    }
    let text = format!(
        "no measured run has images: the encoder's time is counted, and no measurement checks or calibrates it. Each image \
         takes {} tokens{why}",
        number(tokens.into())
    );
    issues.push(Issue::note(Field::Images, text));
    (images, tokens)
}

/// The shortest prompt that may be drawn.
fn shortest(workload: &Workload, prompts: &[u32]) -> u32 {
    let drawn = workload.histogram.iter().map(|bin| bin.prompt).min();
    let least = drawn.or_else(|| prompts.iter().copied().min()).unwrap_or(1);
    match workload.log_spread > 0.0 || workload.shape.is_some() {
        true => 1,
        false => (f64::from(least) * (1.0 - workload.spread)) as u32,
    }
}
