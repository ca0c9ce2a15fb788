//! A search as a link to share, and its plans as files.

use serde::Serialize;

use crate::chart::csv;
use crate::config::link::Link;
use crate::find::figures::plan_columns;
use crate::find::{Capacity, DeploymentPlan, Nearest};
use crate::study::panel::Panel;
use crate::study::{Block, Document, Span, Topic};

/// The content of the JSON file.
#[derive(Serialize)]
struct File<'a> {
    link: &'a str,
    #[serde(flatten)]
    capacity: &'a Capacity,
}

/// The link that holds the search, in the forms that people paste.
pub fn share(link: &Link, page: &str) -> Block {
    let fragment = link.encode();
    let address = format!("{page}#{fragment}");
    let blocks = vec![
        Block::spans(vec![
            Span::link("The link", format!("#{fragment}")),
            " holds the whole search: model, load, limits, and what may vary. Browsers never send the part after # \
             to a server."
                .into(),
        ]),
        Block::code("Link", "", &address).called("plans-share-link"),
        Block::code("Markdown", "", format!("[Plans by Rooflight]({address})")),
        Block::code("Command line", "", format!("predict '{fragment}' --study plans")),
    ];
    Block::fold(id(Topic::Share), "Share", blocks)
}

/// What was found so far, the nearest plan if there is none within the limits. `shown` is the document.
pub fn export(link: &Link, shown: &Document, capacity: &Capacity, page: &str) -> Block {
    let fragment = link.encode();
    let file = File { link: &fragment, capacity };
    let json = serde_json::to_string_pretty(&file).unwrap_or_default();
    let answer = &capacity.answer;
    let nearest = answer.nearest.as_ref().map(|Nearest { plan, .. }| plan);
    let row = |plan: &DeploymentPlan| plan_columns(Some(plan)).1;
    let rows = answer.plans.iter().chain(nearest).map(row);
    let markdown = shown.to_markdown(page);
    let blocks = vec![
        Block::code("JSON", "rooflight-plans.json", json).called("plans-json"),
        Block::code("CSV", "rooflight-plans.csv", csv(plan_columns(None).0, rows)).called("plans-csv"),
        Block::code("Markdown", "rooflight-plans.md", format!("{page}#{fragment}\n\n{markdown}"))
            .called("plans-markdown"),
    ];
    Block::fold(id(Topic::Export), "Export", blocks)
}

/// The fold that answers `topic` in Find.
fn id(topic: Topic) -> String {
    Panel::Study(topic).fold_of_plans().unwrap_or_default().into()
}
