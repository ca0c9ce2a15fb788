//! The views of the page's results and their panels: the page needs only these, not the code that answers them.

use super::Topic;

/// The content below the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Panel {
    /// Latency against load, the run, memory.
    #[default]
    Overview,
    /// The roofline and the tables of its kernels.
    Roofline,
    Study(Topic),
}

/// A view of the results, with a choice of panels if it has several.
#[derive(Debug)]
pub struct View {
    pub id: &'static str,
    pub name: &'static str,
    /// The panels with their names; the first one represents the view.
    pub panels: &'static [(Panel, &'static str)],
}

const fn view(id: &'static str, name: &'static str, panels: &'static [(Panel, &'static str)]) -> View {
    View { id, name, panels }
}

pub const TABS: [View; 5] = [
    view("answer", "Answer", &[(Panel::Overview, "Answer")]),
    view(
        "why",
        "Why",
        &[
            (Panel::Study(Topic::Breakdown), "Time"),
            (Panel::Roofline, "Roofline"),
            (Panel::Study(Topic::Layers), "Layers"),
            (Panel::Study(Topic::Headroom), "Tuning"),
            (Panel::Study(Topic::Sensitivity), "Hardware"),
            (Panel::Study(Topic::Explain), "Formulas"),
        ],
    ),
    view(
        "improve",
        "Improve",
        &[(Panel::Study(Topic::Change), "Changes"), (Panel::Study(Topic::Shape), "Model shape")],
    ),
    view(
        "compare",
        "Compare",
        &[
            (Panel::Study(Topic::Compare), "Side by side"),
            (Panel::Study(Topic::Sweep), "Sweep"),
            (Panel::Study(Topic::Tradeoff), "Trade-off"),
        ],
    ),
    view("evidence", "Evidence", &[(Panel::Study(Topic::Evidence), "Evidence")]),
];

/// Panels opened from the header, outside the views.
pub const HEADER_PANELS: [(Panel, &str); 2] =
    [(Panel::Study(Topic::Share), "Share"), (Panel::Study(Topic::Export), "Export")];

/// The search that lists the keyboard shortcuts, and the key that opens it.
pub const SHORTCUTS: &str = "?";

impl Panel {
    /// The panel's name in page links and tests.
    pub fn id(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Roofline => "roofline",
            Self::Study(topic) => topic.id(),
        }
    }

    /// What it is called on its own, for its region: with its view if that has others.
    pub fn title(self) -> String {
        let name = all().find(|(panel, _)| *panel == self).map_or("", |(_, name)| name);
        match TABS.iter().find(|view| view.holds(self) && view.panels.len() > 1) {
            Some(view) => format!("{}: {name}", view.name),
            None => name.into(),
        }
    }

    /// Unknown ids select the overview.
    pub fn from_id(id: &str) -> Self {
        all().map(|(panel, _)| panel).find(|panel| panel.id() == id).unwrap_or_default()
    }

    /// The fold of the plans' document that stands for it in Find, which shows no configuration of its own.
    pub fn fold_of_plans(self) -> Option<&'static str> {
        match self {
            Self::Study(Topic::Share) => Some("plans-share"),
            Self::Study(Topic::Export) => Some("plans-export"),
            _ => None,
        }
    }

    pub fn topic(self) -> Option<Topic> {
        match self {
            Self::Study(topic) => Some(topic),
            Self::Overview | Self::Roofline => None,
        }
    }
}

impl View {
    pub fn holds(&self, panel: Panel) -> bool {
        self.panels.iter().any(|(of, _)| *of == panel)
    }
}

/// Every panel with its name.
pub fn all() -> impl Iterator<Item = (Panel, &'static str)> {
    TABS.iter().flat_map(|view| view.panels).chain(&HEADER_PANELS).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_has_its_place() {
        for &topic in
            Topic::ALL.iter().filter(|topic| !matches!(topic, Topic::Search | Topic::Better | Topic::Plans))
        {
            assert_eq!(Panel::from_id(topic.id()), Panel::Study(topic));
        }
        assert_eq!(Panel::from_id("roofline"), Panel::Roofline);
        assert_eq!(Panel::from_id("nonsense"), Panel::Overview);
    }

    #[test]
    fn every_study_has_a_title_of_its_own() {
        let title = |id| Panel::from_id(id).title();
        assert_eq!(["breakdown", "compare"].map(title), ["Why: Time", "Compare: Side by side"]);
        assert_eq!(["evidence", "share"].map(title), ["Evidence", "Share"]);
        let mut titles: Vec<String> = all().map(|(panel, _)| panel.title()).collect();
        titles.sort();
        titles.dedup();
        assert!(titles.len() == all().count() && !titles[0].is_empty(), "{titles:?}");
    }
}
