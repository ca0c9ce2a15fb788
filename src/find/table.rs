//! An answer as a table in plain text.

use super::answer::Answer;
use super::plan::Plan;
use crate::units::{Seconds, chance, count, fixed, percent};

const HEAD: [&str; 9] =
    ["plan", "$/h", "$/M out", "TTFT", "TPOT", "goodput", "sure", "load", "why not first"];

impl Answer {
    /// A line a plan, and below what is known of GPUs without one. TTFT and TPOT are means.
    pub fn to_table(&self) -> String {
        let plans = self.plans.iter().chain(self.nearest.iter().map(|nearest| &nearest.plan));
        let rows: Vec<Vec<String>> = plans.map(row).collect();
        let mut lines = Vec::new();
        if !rows.is_empty() {
            let head = HEAD.map(str::to_owned).to_vec();
            let all: Vec<&Vec<String>> = std::iter::once(&head).chain(&rows).collect();
            let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
            lines.extend(all.iter().map(|row| line(row, &widths)));
            lines.push(String::new());
            lines.extend(self.plans.first().map(|plan| format!("best: {}", plan.link)));
        }
        lines.extend(self.nearest.as_ref().map(|nearest| nearest.text.clone()));
        lines.extend(self.others.iter().map(|other| format!("no plan with {}: {}", other.gpu, other.reason)));
        lines.join("\n")
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let cells = row.iter().zip(widths).map(|(cell, &width)| format!("{cell:<width$}"));
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

fn row(plan: &Plan) -> Vec<String> {
    let money = |dollars: Option<f64>| dollars.map_or("–".to_owned(), |dollars| fixed(dollars, 2));
    let headroom = plan.headroom.map(|times| {
        let least = if plan.headroom_is_least { ">" } else { "" };
        format!("{least}{}x", fixed(times, 2))
    });
    vec![
        plan.name.clone(),
        money(plan.dollars_per_hour),
        money(plan.dollars_per_million_output),
        Seconds(plan.ttft.mean).print().to_string(),
        plan.tpot.map_or("–".to_owned(), |tpot| Seconds(tpot.mean).print().to_string()),
        plan.goodput_share.map_or("–".to_owned(), |share| percent(share).to_string()),
        plan.keeps_with.map_or("–".to_owned(), chance),
        headroom.unwrap_or_else(|| format!("{}/s", count(plan.requests_per_s))),
        plan.behind.clone().unwrap_or_default(),
    ]
}
