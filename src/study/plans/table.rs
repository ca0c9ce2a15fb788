//! The plans as a table, and the details of each.

use crate::calibration::Band;
use crate::config::link;
use crate::find::DeploymentPlan;
use crate::study::{Block, Fact, Row, Span};
use crate::units::{Dollars, Printed, Seconds, cents, chance, count, counted, fixed, percent};

/// A link that puts a plan on the form.
pub(super) fn open(plan: &DeploymentPlan) -> Span {
    Span::link(&plan.name, format!("#{}", plan.link))
}

const DASH: &str = "–";

pub(super) fn dollars(value: Option<f64>) -> Span {
    value.map_or_else(|| DASH.into(), |value| Dollars(value).print().to_string()).into()
}

pub(super) fn table(name: &str, plans: &[&DeploymentPlan]) -> Block {
    let is_job = plans.iter().any(|plan| plan.job_seconds.is_some());
    let [first, then] = if is_job { ["Job takes", "Job costs"] } else { ["TTFT (P99)", "TPOT (P99)"] };
    let head = [
        "Plan",
        "$/h",
        "$/M out",
        first,
        then,
        "In limits",
        "Chance",
        "Headroom",
        "With a spare, $/h",
        "Compare",
    ];
    let time = |mean: f64, p99: f64| format!("{} ({})", Seconds(mean).print(), Seconds(p99).print());
    let places = |of: fn(&DeploymentPlan) -> Option<f64>| cents(plans.iter().filter_map(|plan| of(plan)));
    let hourly = places(|plan| plan.dollars_per_hour);
    let per_million = places(|plan| plan.dollars_per_million_output);
    let money = |value: Option<f64>, places| {
        Span::from(value.map_or_else(|| DASH.into(), |value| format!("${}", fixed(value, places))))
    };
    let row = |plan: &&DeploymentPlan| {
        let [first, then] = match plan.job_seconds {
            Some(seconds) => [Seconds(seconds).print().to_string().into(), dollars(plan.job_dollars)],
            None => [
                time(plan.ttft.mean, plan.ttft.p99).into(),
                plan.tpot.map_or_else(|| DASH.into(), |tpot| time(tpot.mean, tpot.p99)).into(),
            ],
        };
        let headroom = plan.headroom.map(|times| {
            let least = if plan.headroom_is_least { "> " } else { "" };
            format!("{least}{} ×", fixed(times, 2))
        });
        Row::new(vec![
            open(plan),
            money(plan.dollars_per_hour, hourly),
            money(plan.dollars_per_million_output, per_million),
            first,
            then,
            plan.goodput_share.map_or_else(|| DASH.into(), |share| percent(share).to_string()).into(),
            plan.chance_within_limits.map_or_else(|| DASH.into(), chance).into(),
            headroom.unwrap_or_else(|| DASH.into()).into(),
            spare(plan),
            Span { text: plan.name.clone(), link: format!("mark:{}", plan.link) },
        ])
    };
    Block::table(name, &head, plans.iter().map(row))
}

/// What a plan costs with a spare replica, and whether the fleet lacks the GPUs for it.
pub(super) fn spare(plan: &DeploymentPlan) -> Span {
    let cost = dollars(plan.dollars_per_hour_with_spare);
    match &plan.spare_lacks {
        Some(lacks) => format!("{}: {lacks}", cost.text).into(),
        None => cost,
    }
}

/// A plan's details in a fold, whose title gives the reason that it ranks behind the first.
pub(super) fn details(index: usize, plan: &DeploymentPlan, page: &str) -> Block {
    let place = index + 1;
    let why = plan.drawback.as_ref().map_or(String::new(), |drawback| format!(": {drawback}"));
    let mut blocks = vec![figures(plan)];
    if let Some(broken) = &plan.one_less {
        let replicas = counted(plan.replicas - 1, "replica");
        blocks.push(Block::text(format!("With {replicas}, {}.", broken.text)));
    }
    blocks.extend(plan.issues.iter().map(|issue| Block::text(issue.sentence())));
    let address = format!("{page}#{}", plan.link);
    blocks.push(Block::code("Link", "", address).called(format!("plan-link-{place}")));
    Block::fold(format!("plan-{place}"), format!("{place}. {}{why}", plan.name), blocks)
}

fn figures(plan: &DeploymentPlan) -> Block {
    let between = |band: &Band| Seconds(band.low).print().to(&Seconds(band.high).print());
    const LASTING: &str = "While the load lasts, unless a number of requests is stated: then of the whole run, as a benchmark reports it";
    const BAND: &str = "80 % of measured means are expected in this range";
    const LIMITED: &str = "At the percentile that must be within the limit, and the range in which 80 % of measurements are expected";
    let mut facts = vec![
        Fact::new("GPUs", plan.gpus.to_string(), "Of all replicas"),
        Fact::new("Replicas", plan.replicas.to_string(), "Copies that share the load"),
        rate("Requests", plan.requests_per_s, "/s", LASTING),
        rate("Output", plan.output_per_s, "tok/s", LASTING),
        rate("Output per GPU", plan.output_per_s / f64::from(plan.gpus), "tok/s", LASTING),
    ];
    if plan.sustained_output_per_s != plan.output_per_s {
        facts.push(rate(
            "Output while requests arrive",
            plan.sustained_output_per_s,
            "tok/s",
            "Without the drain after the last arrival; cost is based on this rate",
        ));
    }
    facts.push(Fact::new(
        "E2E",
        format!("{} ({})", Seconds(plan.e2e.mean).print(), Seconds(plan.e2e.p99).print()),
        "Mean, and P99",
    ));
    if let Some(power) = &plan.power {
        facts.push(rate("Power", power.watts, "W", LASTING));
        facts.push(rate("Energy", power.joules_per_output_token, "J/token", LASTING));
    }
    let percentile = link::decode(&plan.link).0.scenario.workload.slos.share_of_each() * 100.0;
    for (index, kept) in plan.limits.iter().enumerate() {
        let (at, limit) = (Seconds(kept.at).print(), Seconds(kept.limit).print());
        let band = plan.bands.as_ref().and_then(|bands| bands.limits.get(index)?.as_ref());
        let band = band.map_or_else(String::new, |band| format!(" (80 %: {})", between(band)));
        let name = format!("{} P{}", kept.metric.name(), count(percentile));
        let share = percent(kept.share);
        facts.push(Fact::new(&name, format!("{at}{band}, limit {limit}: {share} of requests"), LIMITED));
    }
    if let Some(bands) = &plan.bands {
        facts.push(Fact::new("Mean TTFT, 80 %", between(&bands.ttft.mean), BAND));
        facts.extend(bands.tpot.as_ref().map(|tpot| Fact::new("Mean TPOT, 80 %", between(&tpot.mean), BAND)));
    }
    Block::facts(facts)
}

fn rate(name: &str, value: f64, unit: &'static str, help: &str) -> Fact {
    Fact::new(name, Printed { number: count(value), unit }.to_string(), help)
}
