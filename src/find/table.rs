//! An answer as a plain text table.

use super::answer::Answer;
use super::plan::Plan;
use crate::units::{Seconds, chance, count, fixed, percent};

const HEAD: [&str; 9] =
    ["plan", "$/h", "$/M out", "TTFT", "TPOT", "goodput", "sure", "load", "why not first"];

impl Answer {
    /// One line per plan, followed by GPUs without one. TTFT and TPOT are means.
    pub fn to_table(&self) -> String {
        let plans = self.plans.iter().chain(self.nearest.iter().map(|nearest| &nearest.plan));
        let rows: Vec<[String; 9]> = plans.map(row).collect();
        let mut lines = Vec::new();
        if !rows.is_empty() {
            lines.extend(in_columns(HEAD, rows));
            lines.push(String::new());
            lines.extend(self.plans.first().map(|plan| format!("best: {}", plan.link)));
        }
        lines.extend(self.nearest.as_ref().map(|nearest| nearest.text.clone()));
        lines.extend(self.pools.clone());
        lines.extend(self.others.iter().map(|other| format!("no plan with {}: {}", other.gpu, other.reason)));
        lines.join("\n")
    }
}

/// Plain text lines of a header and rows, with aligned columns.
pub fn in_columns<const N: usize>(head: [&str; N], rows: Vec<[String; N]>) -> Vec<String> {
    let all: Vec<[String; N]> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let widths: [usize; N] =
        std::array::from_fn(|column| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    all.iter().map(line).collect()
}

fn row(plan: &Plan) -> [String; 9] {
    let money = |dollars: Option<f64>| dollars.map_or("–".to_owned(), |dollars| fixed(dollars, 2));
    let headroom = plan.headroom.map(|times| {
        let least = if plan.headroom_is_least { ">" } else { "" };
        format!("{least}{}x", fixed(times, 2))
    });
    [
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
