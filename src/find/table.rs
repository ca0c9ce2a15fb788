//! An answer as a plain text table.

use super::answer::Answer;
use super::plan::DeploymentPlan;
use crate::units::{Dollars, Seconds, cents, chance, fixed, percent};

const HEAD: [&str; 9] =
    ["plan", "$/h", "$/M out", "TTFT", "TPOT", "within limits", "chance", "headroom", "drawback"];
/// Columns of a job, in place of TTFT and TPOT.
const OF_JOB: [&str; 2] = ["job takes", "job costs"];

impl Answer {
    /// One line per plan, followed by GPUs without one. TTFT and TPOT are means.
    pub fn to_table(&self) -> String {
        let plans = self.plans.iter().chain(self.nearest.iter().map(|nearest| &nearest.plan));
        let plans: Vec<&DeploymentPlan> = plans.collect();
        let mut head = HEAD;
        if plans.iter().any(|plan| plan.job_seconds.is_some()) {
            [head[3], head[4]] = OF_JOB;
        }
        let cost = |of: fn(&DeploymentPlan) -> Option<f64>| cents(plans.iter().filter_map(|plan| of(plan)));
        let places = [cost(|plan| plan.dollars_per_hour), cost(|plan| plan.dollars_per_million_output)];
        let rows: Vec<[String; 9]> = plans.iter().map(|plan| row(plan, places)).collect();
        let mut lines = Vec::new();
        if !rows.is_empty() {
            lines.extend(in_columns(head, rows));
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

/// `places`: decimals of the price by the hour, and of that of a million tokens.
fn row(plan: &DeploymentPlan, places: [usize; 2]) -> [String; 9] {
    let none = || "–".to_owned();
    let money = |dollars: Option<f64>, places| dollars.map_or_else(none, |dollars| fixed(dollars, places));
    let time = |seconds: f64| Seconds(seconds).print().to_string();
    let [first, then] = match plan.job_seconds {
        Some(seconds) => {
            [time(seconds), plan.job_dollars.map_or_else(none, |cost| Dollars(cost).print().to_string())]
        }
        None => [time(plan.ttft.mean), plan.tpot.map_or_else(none, |tpot| time(tpot.mean))],
    };
    let headroom = plan.headroom.map(|times| {
        let least = if plan.headroom_is_least { ">" } else { "" };
        format!("{least}{}x", fixed(times, 2))
    });
    [
        plan.name.clone(),
        money(plan.dollars_per_hour, places[0]),
        money(plan.dollars_per_million_output, places[1]),
        first,
        then,
        plan.goodput_share.map_or_else(none, |share| percent(share).to_string()),
        plan.chance_within_limits.map_or_else(none, chance),
        headroom.unwrap_or_else(none),
        plan.drawback.clone().unwrap_or_default(),
    ]
}
