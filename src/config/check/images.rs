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
    }
    let why = match (workload.image_tokens, fixed) {
        (Some(_), _) => "",
        (None, Some(_)) => ", as many as the model makes of every image",
        (None, None) => ", a typical choice: set those of your images",
    };
    let text = format!(
        "no measured run has images: the encoder's time is counted, and no measurement checks or calibrates it. Each image \
         takes {} tokens{why}",
        number(tokens.into())
    );
    issues.push(Issue::note(Field::Images, text));
    (images, tokens)
}
