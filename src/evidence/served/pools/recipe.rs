//! How the workers of a disaggregated run were started, as public recipes say.
//!
//! `training/pools.py` reads them into `training/pool_plan.json`. A run is matched by its labels alone: engine, GPU, format,
//! lengths, workers and their GPUs, and whether tokens were drafted; where several recipes are left, by attention DP, clients and
//! places.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::config::Parallelism;
use crate::evidence::cases::{PoolCase, Workers};

static PLAN: LazyLock<Result<Recipes, String>> = LazyLock::new(|| {
    let text = include_str!("../../../../training/pool_plan.json");
    serde_json::from_str(text).map_err(|error| format!("the plan of pools: {error}"))
});

#[derive(Debug, Deserialize)]
struct Recipes {
    recipes: Vec<Recipe>,
}

/// One recipe.
#[derive(Debug, Clone, Deserialize)]
pub struct Recipe {
    engine: String,
    gpu: String,
    precision: String,
    /// Part of the model's name.
    model: String,
    lengths: [u32; 2],
    clients: Vec<u32>,
    pub prefill: Started,
    pub decode: Started,
}

/// How each worker of a pool was started.
#[derive(Debug, Clone, Default, Deserialize, PartialEq)]
pub struct Started {
    pub workers: u32,
    /// Of one worker, all in one stage.
    pub gpus: u32,
    /// Ranks of attention data parallelism.
    pub ranks: u32,
    pub ep: u32,
    /// Tokens of a step, of a rank.
    pub token_budget: Option<u32>,
    /// SGLang's `max_prefill_tokens`.
    pub prefill_tokens: Option<u32>,
    /// Sequences of a rank.
    pub max_seqs: Option<u32>,
    pub memory_share: Option<f64>,
    pub kv_fp8: bool,
    /// Whether steps are scheduled ahead.
    pub overlap: bool,
    pub drafted: u32,
    pub receive_interval: Option<u32>,
}

impl Started {
    /// The layout of one worker over `pp` stages.
    pub fn parallel(&self, pp: u32) -> Parallelism {
        Parallelism { tp: self.gpus / self.ranks.max(1), pp, dp: self.ranks, ep: self.ep }
    }

    fn is_labelled(&self, workers: &Workers) -> bool {
        workers.count == Some(self.workers) && workers.gpus == Some(self.gpus)
    }
}

/// The recipe of a run, the newest where several are alike; none if no recipe is recorded. Fails if recipes both with
/// and without drafts match and the run does not tell which it used.
pub fn recipe(case: &PoolCase) -> Result<Option<&'static Recipe>, String> {
    let plan = PLAN.as_ref().map_err(String::clone)?;
    let run = &case.served;
    let mut left: Vec<&Recipe> = plan
        .recipes
        .iter()
        .filter(|one| {
            (&one.engine, &one.gpu, &one.precision) == (&run.engine, &run.gpu, &run.precision)
                && run.model.contains(&one.model)
                && one.lengths == [run.isl, run.osl]
                && one.prefill.is_labelled(&case.prefill)
                && one.decode.is_labelled(&case.decode)
                && case.drafting.is_none_or(|drafting| drafting == (one.decode.drafted > 0))
        })
        .collect();
    let mut narrow = |holds: &dyn Fn(&Recipe) -> bool| {
        let some: Vec<&Recipe> = left.iter().copied().filter(|one| holds(one)).collect();
        if !some.is_empty() {
            left = some;
        }
    };
    for (labelled, decodes) in [(case.prefill, false), (case.decode, true)] {
        let parallel = match labelled.recipe_layout {
            Some((_, parallel)) => parallel,
            None if labelled.attention_dp > 1 => true,
            None => continue,
        };
        narrow(&|one| ((if decodes { &one.decode } else { &one.prefill }).ranks > 1) == parallel);
    }
    narrow(&|one| one.clients.contains(&run.concurrency));
    if let Some(most) = case.decode.max_batch {
        narrow(&|one| {
            let places = one.decode.max_seqs.unwrap_or(0);
            places == most || places * one.decode.ranks == most
        });
    }
    let Some(last) = left.last().copied() else {
        return match case.drafting {
            Some(_) => Ok(None),
            None => Err(UNKNOWN.into()),
        };
    };
    let drafts = |one: &Recipe| one.decode.drafted > 0;
    match case.drafting.is_none() && left.iter().any(|one| drafts(one) != drafts(last)) {
        true => Err(UNKNOWN.into()),
        false => Ok(Some(last)),
    }
}

const UNKNOWN: &str =
    "not known whether tokens were drafted: recipes with and without share these workers and layouts";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::cases::ServedCase;
    use crate::evidence::launch::accepted;

    /// TensorRT-LLM on GB200, one prefill worker of four GPUs and four decode workers of eight.
    fn case(drafting: Option<bool>, concurrency: u32) -> PoolCase {
        let workers = |count, gpus| Workers { count: Some(count), gpus: Some(gpus), ..Workers::default() };
        let served = ServedCase {
            engine: "trtllm".into(),
            gpu: "gb200".into(),
            precision: "nvfp4".into(),
            model: "deepseek-ai/DeepSeek-R1".into(),
            isl: 1024,
            osl: 1024,
            concurrency,
            ..ServedCase::default()
        };
        PoolCase {
            served,
            prefill: workers(1, 4),
            decode: workers(4, 8),
            drafting,
            ambiguous: false,
            prompts: None,
            runtime: Some("dynamo".into()),
        }
    }

    #[test]
    fn recipes_are_found_by_labels_and_refused_where_drafts_are_open() {
        let found = recipe(&case(Some(true), 16)).unwrap().expect("a recipe");
        assert!(found.decode.drafted > 0 && found.clients.contains(&16));
        assert_eq!((found.prefill.workers, found.decode.gpus), (1, 8));
        assert!(recipe(&case(Some(false), 16)).unwrap().is_some_and(|one| one.decode.drafted == 0));
        assert_eq!(recipe(&case(None, 16)).map(|found| found.is_some()), Err(UNKNOWN.into()));
        let other =
            PoolCase { decode: Workers { count: Some(99), ..case(None, 1).decode }, ..case(Some(true), 1) };
        assert!(recipe(&other).unwrap().is_none());
    }

    #[test]
    fn fewer_drafts_are_accepted_more_often() {
        let [one, two, three] = [1, 2, 3].map(|drafted| accepted(drafted).unwrap());
        assert!((three - 1.3).abs() < 1e-9 && one < two && two < three, "{one} {two} {three}");
        assert!(one > two / 2.0 && two / 2.0 > three / 3.0);
    }
}
