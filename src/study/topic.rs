//! What may be asked about a configuration.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::{
    Block, Case, Study, better, breakdown, change, compare, evidence, explain, export, headroom, layers,
    search, sensitivity, shape, share, sweep, tradeoff,
};
use crate::config::ids::ids;
use crate::config::link::Link;

/// A question about a configuration; [`STUDIES`] describes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Topic {
    #[default]
    Breakdown,
    Layers,
    Headroom,
    Explain,
    Sensitivity,
    Change,
    Shape,
    Compare,
    Sweep,
    Tradeoff,
    Evidence,
    Share,
    Export,
    /// The page's search, which has no view.
    Search,
    /// The line below the answer, which has no view.
    Better,
    /// The plans requested by a link: a mode of the page.
    Plans,
}

ids!(Topic);

/// How a topic is answered.
pub struct View {
    /// Description used by the search.
    pub about: &'static str,
    /// Ids and names of the choices, the default first; empty if there are none.
    pub choices: &'static [(&'static str, &'static str)],
    /// The configurations to predict in addition to the form's; `None` if nothing is predicted.
    pub cases: Option<fn(&Link, &str) -> Vec<Case>>,
    pub blocks: fn(&Study) -> Vec<Block>,
}

/// Only the configuration on the form is predicted.
const ALONE: Option<fn(&Link, &str) -> Vec<Case>> = Some(|_, _| Vec::new());

const fn view(
    about: &'static str,
    choices: &'static [(&'static str, &'static str)],
    cases: Option<fn(&Link, &str) -> Vec<Case>>,
    blocks: fn(&Study) -> Vec<Block>,
) -> View {
    View { about, choices, cases, blocks }
}

/// One per topic, in their order.
const STUDIES: [View; 16] = [
    view("Where the time of a step goes", &[], ALONE, breakdown::blocks),
    view("The kernels of a layer, in order", &layers::CHOICES, ALONE, layers::blocks),
    view("Which kernel to tune first, and the optimum", &[], ALONE, headroom::blocks),
    view("The formula and values behind every number", &[], ALONE, explain::blocks),
    view(
        "What each figure of the GPU is worth",
        &sensitivity::CHOICES,
        Some(sensitivity::cases),
        sensitivity::blocks,
    ),
    view("Bottlenecks, and single changes", &[], Some(change::cases), change::blocks),
    view(
        "What another shape of the model buys at equal memory or speed",
        &shape::CHOICES,
        Some(shape::cases),
        shape::blocks,
    ),
    view("Compares up to four configurations", &[], Some(compare::cases), compare::blocks),
    view("One setting varied", &sweep::CHOICES, Some(sweep::cases), sweep::blocks),
    view("Output per GPU against output per user (Pareto)", &[], Some(tradeoff::cases), tradeoff::blocks),
    view("Predicted against measured, known limits", &evidence::CHOICES, ALONE, evidence::blocks),
    view("Link, Markdown, embedding", &[], ALONE, share::blocks),
    view("JSON, CSV, Markdown, citation", &export::CHOICES, ALONE, export::blocks),
    view("Models, GPUs, workloads and views by name", &[], None, search::blocks),
    view("The one change to make first", &[], Some(better::cases), better::blocks),
    view("The plans that serve a load within limits", &[], None, |_| Vec::new()),
];

impl Topic {
    pub(super) fn view(self) -> &'static View {
        &STUDIES[self as usize]
    }

    /// The ids of its choices, the default first.
    pub fn choices(self) -> impl Iterator<Item = &'static str> {
        self.view().choices.iter().map(|(id, _)| *id)
    }
}
