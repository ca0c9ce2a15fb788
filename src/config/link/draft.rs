//! A link during parsing.

use super::{Link, VERSION, values};
use crate::config::inputs::{self, Input};
use crate::config::{Field, Issue, Scenario, excerpt};

/// A link while its pairs are parsed.
#[derive(Debug)]
pub struct Draft {
    pub link: Link,
    /// Total GPUs; the number of replicas follows once the degrees of parallelism are known.
    pub gpus: Option<u32>,
}

impl Default for Draft {
    fn default() -> Self {
        Self { link: Link::new(Scenario::default()), gpus: None }
    }
}

impl Draft {
    /// Reads one value; an issue on its field keeps the text as given.
    pub fn read(&mut self, input: &Input, value: &str, issues: &mut Vec<Issue>) {
        // A warning about the version would hide that nothing after it was read: `v=1;m=qwen3-32b`.
        let joined =
            value.split_once('=').and_then(|(start, _)| start.rsplit(|c: char| !c.is_alphanumeric()).next());
        if input.aside && joined.and_then(inputs::by_key).is_some() {
            let text =
                format!("`{}={}` holds several inputs: separate them with `&`", input.key, excerpt(value));
            return issues.push(Issue::error(Field::Link, text));
        }
        issues.extend(input.set(self, value).err());
    }

    pub fn finish(mut self, issues: &mut Vec<Issue>) -> Link {
        let Some(gpus) = self.gpus else { return self.link };
        let scenario = &mut self.link.scenario;
        let replica = scenario.parallel.gpus();
        // `check` refuses degrees of zero.
        if let Some(replicas) = gpus.checked_div(replica) {
            scenario.replicas = replicas;
            if replicas * replica != gpus {
                let text = format!(
                    "{gpus} GPUs cannot be split into replicas of {replica} (TP × DP × PP): use a multiple of {replica}"
                );
                issues.push(Issue::error(Field::Gpus, text).with_given(gpus.to_string()));
            }
        }
        self.link
    }
}

/// GPUs over all replicas, if there are several.
pub fn all_gpus(link: &Link) -> Option<String> {
    let scenario = &link.scenario;
    let gpus = scenario.parallel.gpus().saturating_mul(scenario.replicas);
    (scenario.replicas != 1).then(|| gpus.to_string())
}

pub fn set_version(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.link.version = values::whole(text)?;
    match draft.link.version {
        0 => Err(format!("there is no link version 0: it was read as version {VERSION}")),
        1..=VERSION => Ok(()),
        newer => Err(format!(
            "this link has version {newer}, from a newer release: it was read as version {VERSION}; keys unknown to \
            it are kept but have no effect"
        )),
    }
}
