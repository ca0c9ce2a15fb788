//! Searches: requests as JSON, what is answered if there is no plan, and the best plan compared with a search without
//! bounds.
#![cfg(feature = "tools")]

mod links;
mod loads;
mod plans;
mod pools;
mod ranking;
mod requests;

#[path = "../support/learned.rs"]
mod learned;

use learned::{MODELS, learned};
use rooflight::config::Field;
use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::find::{Answer, Capacity, Question, Request, Search};

fn roofline(_: &Rows) -> Result<Efficiencies, String> {
    Ok(Efficiencies::Roofline)
}

fn request(text: &str) -> Request {
    let (request, issues) = Request::from_json(text);
    request.unwrap_or_else(|| panic!("{text}: {issues:?}"))
}

fn finish(mut search: Search, ask: fn(&Rows) -> Result<Efficiencies, String>) -> Answer {
    while search.step(&ask).expect("an answer") {}
    search.answer()
}

fn plan(text: &str) -> Answer {
    finish(Search::new(request(text)), roofline)
}

/// The errors of a request that cannot be searched, or of an answer without plans.
fn errors(text: &str) -> Vec<(Field, String)> {
    let (request, issues) = Request::from_json(text);
    let issues = request.map_or(issues, |request| finish(Search::new(request), roofline).issues);
    issues.into_iter().filter(|issue| issue.is_error()).map(|issue| (issue.field, issue.text)).collect()
}

const SMALL: &str =
    r#""model": "llama-3.1-8b", "isl": 512, "osl": 64, "requests": 200, "engine": "vllm", "pp": 1"#;

fn small(more: &str) -> String {
    format!("{{{SMALL}, {more}}}")
}

/// The answer to a request that asks for more than plans.
fn capacity(text: &str) -> Capacity {
    let (request, question, issues) = Question::from_json(text);
    let request = request.unwrap_or_else(|| panic!("{text}: {issues:?}"));
    let found = question.answer(request, |search| Ok::<_, ()>(finish(search, roofline)));
    found.expect("an answer")
}
