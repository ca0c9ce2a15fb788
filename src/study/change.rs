//! What limits a configuration, and the effect of each single change.

use super::bottlenecks::bottlenecks;
use super::metric::{COST, E2E, HeadlineMetric, OUTPUT, PER_GPU, TPOT, TTFT, head};
use super::row_order::RowOrder;
use super::{Block, Case, Row, Study, advice, edit, remedy};
use crate::config::link::Link;
use crate::config::{Drafts, Dtype, Load, Prefill, Scenario, Setup, catalog, check};
use crate::study::words;
use crate::units::{Order, chance, count, counted, fixed, set_of};

/// Every single change worth trying. Those refused by the checks are not shown.
pub fn cases(link: &Link, _: &str) -> Vec<Case> {
    let base = &link.scenario;
    let mut changes = Changes { base, cases: Vec::new() };
    changes.add_shards();
    changes.add_formats();
    changes.cases.extend(edit::other_engines(base));
    changes.add_attention_dp();
    changes.add_budgets();
    if let Some(setup) = check(base, catalog()).0.filter(|_| !base.has_pools()) {
        changes.add_settings(&setup);
    }
    changes.add_loads();
    changes.cases.extend(edit::every_other_gpu(base));
    changes.cases
}

/// Cases that change `base` in one respect.
struct Changes<'a> {
    base: &'a Scenario,
    cases: Vec<Case>,
}

impl Changes<'_> {
    fn add(&mut self, name: impl Into<String>, change: impl FnOnce(&mut Scenario)) {
        self.cases.push(Case::edited(name, self.base, change));
    }

    /// Other degrees of TP, and experts sharded the other way.
    fn add_shards(&mut self) {
        for tp in degrees(self.base) {
            self.add(edit::layout(self.base, tp), |scenario| edit::tp(scenario, tp));
        }
        let stage = self.base.parallel.gpus_per_stage();
        for (name, ep) in [("EP-sharded experts", stage), ("TP-sharded experts", 1)] {
            if stage > 1 && self.base.parallel.ep != ep {
                self.add(format!("{name} (EP {ep})"), |scenario| scenario.parallel.ep = ep);
            }
        }
    }

    /// Smaller weights and KV cache.
    fn add_formats(&mut self) {
        let (now, tp) =
            (self.base.weights_format().map_or(f64::INFINITY, Dtype::bytes), self.base.parallel.tp);
        for dtype in Dtype::ALL.iter().copied().filter(|dtype| dtype.bytes() < now) {
            self.add(format!("Weights in {}", dtype.name()), |scenario| scenario.weights = Some(dtype));
            // The most common use of smaller weights: the same on fewer GPUs.
            if tp > 1 && tp.is_multiple_of(2) {
                let half = tp / 2;
                let layout = edit::layout(self.base, half);
                self.add(format!("{layout}, weights in {}", dtype.name()), |scenario| {
                    scenario.weights = Some(dtype);
                    edit::tp(scenario, half);
                });
            }
        }
        if self.base.kv.bytes() > Dtype::Fp8.bytes() {
            self.add("KV cache in FP8", |scenario| scenario.kv = Dtype::Fp8);
        }
    }

    /// Attention of a mixture of experts data-parallel instead of sharded, or the other way round.
    fn add_attention_dp(&mut self) {
        let stage = self.base.parallel.gpus_per_stage();
        if stage > 1 && self.base.has_experts() {
            let (name, tp, dp) = match self.base.parallel.dp {
                1 => (format!("Attention DP {stage}"), 1, stage),
                _ => (format!("TP {stage}, DP 1"), stage, 1),
            };
            self.add(name, |scenario| (scenario.parallel.tp, scenario.parallel.dp) = (tp, dp));
        }
    }

    /// Half and double the tokens per step, or a budget that the prompt fits in.
    fn add_budgets(&mut self) {
        for budget in remedy::budgets(self.base) {
            self.add(format!("Token budget {}", count(f64::from(budget))), |scenario| {
                scenario.overrides.token_budget = Some(budget);
            });
        }
    }

    /// Settings of the server, whose `setup` has no separate prefill workers.
    fn add_settings(&mut self, setup: &Setup) {
        let base = self.base;
        // The same GPUs, if there are replicas to spare.
        let [workers, replicas] = match base.replicas {
            1 => [1, 1],
            all => [all / 2, all - all / 2],
        };
        self.add(format!("Disaggregated: {workers} prefill, {replicas} decode"), |scenario| {
            scenario.replicas = replicas;
            scenario.prefill = Prefill { workers, parallel: base.parallel, ..Prefill::default() };
        });
        if setup.keeps_histories() && setup.host_gib() == 0.0 && setup.gpu.host_bandwidth().is_ok() {
            self.add("256 GiB host cache per GPU", |scenario| scenario.workload.turns.host_gib = 256.0);
        }
        if base.workload.drafts.drafted > 0 {
            self.add("No drafts", |scenario| scenario.workload.drafts = Drafts::default());
        }
        // The cost of drafting is known only for models with a layer that drafts.
        if setup.model.mtp.is_some() && base.workload.drafts == Drafts::default() {
            self.add("2 draft tokens a step, if 1 is accepted", |scenario| {
                scenario.workload.drafts = Drafts { drafted: 2, accepted: 1.0 };
            });
        }
    }

    /// Less work, and more or fewer replicas for it.
    fn add_loads(&mut self) {
        if self.base.workload.cached_share < 0.5 {
            self.add("Half of each prompt cached", |scenario| scenario.workload.cached_share = 0.5);
        }
        if let Some((name, load)) = half(self.base.workload.load) {
            self.add(name, |scenario| scenario.workload.load = load);
        }
        // A few more, up to several times as many.
        let now = self.base.replicas;
        let more = [1, 2, now, now.saturating_mul(3)].map(|by| now.saturating_add(by));
        for replicas in fewer(now).into_iter().chain(set_of(more)) {
            self.add(counted(replicas, "replica"), |scenario| scenario.replicas = replicas);
        }
        if self.base.has_pools() {
            let now = self.base.prefill.workers;
            for workers in fewer(now).into_iter().chain(set_of([1, now].map(|by| now.saturating_add(by)))) {
                self.add(counted(workers, "prefill worker"), |scenario| scenario.prefill.workers = workers);
            }
        }
    }
}

/// One less, half, a quarter and one.
fn fewer(now: u32) -> Vec<u32> {
    let fewer = set_of([1, now / 4, now / 2, now.saturating_sub(1)]);
    fewer.into_iter().filter(|number| (1..now).contains(number)).collect()
}

/// Half and double the TP degree, and more within one node: a model may not fit even on twice the GPUs.
fn degrees(base: &Scenario) -> Vec<u32> {
    let node = catalog().gpu(&base.gpu).map_or(0, |gpu| gpu.link.domain);
    let [twice, more @ ..] = [2, 4, 8].map(|factor| base.parallel.tp.saturating_mul(factor));
    let more = more.into_iter().filter(|&tp| tp <= node);
    (base.parallel.tp > 1).then_some(base.parallel.tp / 2).into_iter().chain([twice]).chain(more).collect()
}

/// Half the load and its name; `None` for a single request.
fn half(load: Load) -> Option<(String, Load)> {
    let half = if load.is_rate() { load.amount() / 2.0 } else { (load.amount() / 2.0).floor() };
    (half > 0.0).then(|| {
        let load = load.with_amount(half);
        (words::load(load), load)
    })
}

pub fn blocks(study: &Study) -> Vec<Block> {
    let own = study.own();
    let mut blocks = vec![Block::heading("Bottlenecks")];
    blocks.extend(bottlenecks(own).into_iter().map(Block::text));
    let mut answered: Vec<&Case> = study.others().iter().filter(|case| case.headline().is_some()).collect();
    answered.order_by(|a, b| RowOrder::of(a).compare(&RowOrder::of(b)));
    blocks.extend(advice::block(study, &answered));
    let tried = answered.len();
    answered.retain(|case| is_worth_a_row(own, case));
    let left_out = tried - answered.len();
    if tried == 0 {
        let nothing = "None of the single changes tried gives a valid configuration.";
        blocks.extend(advice::goal(own).is_none().then(|| Block::text(nothing)));
        return blocks;
    }
    let (settings, gpus): (Vec<&Case>, Vec<&Case>) =
        answered.into_iter().partition(|case| case.scenario.gpu == own.scenario.gpu);
    for (name, cases) in [("Change one setting", settings), ("Change the GPU", gpus)] {
        if !cases.is_empty() {
            blocks.push(Block::heading(name));
            let mut head = head(&["Change", "Meets limits"], &COLUMNS);
            head.extend(["Likely cheaper", "Runs on its GPU"]);
            blocks.push(Block::table(name, &head, cases.into_iter().map(|case| row(study, case))));
        }
    }
    blocks.push(Block::text(
        "Each row applies one change to this configuration, simulated again, under the same load unless that is the change; \
         percentages are relative to this configuration. Rows that meet the limits come first, cheapest first; without a price, by output per GPU. \
         The chances follow from measured runs and from what the row shares with this configuration.",
    ));
    if left_out > 0 {
        let rows = if left_out == 1 { "1 change is".into() } else { format!("{left_out} changes are") };
        blocks.push(Block::text(format!(
            "{rows} left out: no improvement in any column, {}or TTFT or TPOT over {} times as long without a shorter E2E.",
            if own.is_overloaded() { "" } else { "overloaded, " },
            fixed(TOO_SLOW, 0)
        )));
    }
    blocks
}

/// What decides comes first: narrow screens show no more.
const COLUMNS: [HeadlineMetric; 5] = [COST, TTFT, TPOT, PER_GPU, OUTPUT];

fn row(study: &Study, case: &Case) -> Row {
    let own = study.own();
    // The cost of serving only part of the load says nothing.
    let cell = |metric: HeadlineMetric| match case.is_overloaded() && metric.name == COST.name {
        true => metric.print(case),
        false => metric.print_change(case, own),
    };
    let cheaper = case.beats(COST).filter(|_| !case.is_overloaded());
    let mut cells = vec![study.open(&case.name, case), case.meets().into()];
    cells.extend(COLUMNS.map(|metric| cell(metric).into()));
    cells.push(cheaper.map_or("–".into(), |beats| chance(beats.with)).into());
    cells.push(runs(case).into());
    Row::new(cells)
}

/// Changes below this print as 0 %.
const SHOWN: f64 = 0.005;
/// A change that makes times longer than this multiple is no improvement, whatever it saves.
const TOO_SLOW: f64 = 3.0;

/// Whether a change gives an answer where there was none, serves a load or meets limits that were missed, or is better
/// in some column without being far worse in any.
fn is_worth_a_row(own: &Case, case: &Case) -> bool {
    let meets = |case: &Case| case.meets_limits() == Some(true);
    let overloaded = [case, own].map(Case::is_overloaded);
    if own.headline().is_none() || meets(case) && !meets(own) || overloaded == [false, true] {
        return true;
    }
    let ratio = |metric: HeadlineMetric| metric.ratio(case, own);
    let times = [TTFT, TPOT].map(ratio);
    // A prompt that waits less for its first token may wait longer for the others, and still be answered sooner.
    let is_sooner = ratio(E2E).is_some_and(|ratio| ratio < 1.0 - SHOWN);
    let is_slower = times.into_iter().flatten().any(|ratio| ratio > TOO_SLOW) && !is_sooner;
    let is_slow = overloaded == [true, false] || is_slower;
    let less = [TTFT, TPOT, COST].map(ratio).into_iter().flatten().any(|ratio| ratio < 1.0 - SHOWN);
    let more = [PER_GPU, OUTPUT].map(ratio).into_iter().flatten().any(|ratio| ratio > 1.0 + SHOWN);
    !is_slow && (less || more)
}

/// Measured runs of its model on its GPU with its engine; a dash at the roofline.
fn runs(case: &Case) -> String {
    let calibrated = case.report().and_then(|report| report.calibrated.as_ref());
    calibrated.map_or("–".into(), |calibrated| count(f64::from(calibrated.support.of_model_on_gpu)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::link::decode;

    #[test]
    fn tuning_options_are_among_the_changes() {
        let tried = |link: &str| -> Vec<String> {
            cases(&decode(link).0, "").into_iter().map(|case| case.name).collect()
        };
        let has = |names: &[String], what: &str| names.iter().any(|name| name.starts_with(what));
        let experts = tried("v=1&m=deepseek-r1&g=h200-sxm&tp=8&n=16");
        for what in [
            "Attention DP 8",
            "2 draft tokens",
            "Disaggregated: 1 prefill, 1 decode",
            "Half of each prompt cached",
        ] {
            assert!(has(&experts, what), "{what} is not among {experts:?}");
        }
        assert_eq!(experts.iter().filter(|name| name.starts_with("Token budget")).count(), 2);
        let ranks = tried("v=1&m=deepseek-r1&g=b200&dp=8&ep=8");
        assert!(has(&ranks, "TP 8, DP 8, 64 GPUs") && has(&ranks, "TP 8, DP 1"), "{ranks:?}");
        let long = tried("v=1&e=trtllm&r=4&isl=16000");
        assert!(has(&long, "Token budget 16"), "{long:?}");
        assert!(has(&tried("v=1&m=deepseek-r1&g=h200-sxm&tp=8&sd=3&sa=0.1"), "No drafts"));
        let dense = tried("v=1&m=llama-3.3-70b-instruct&tp=4");
        assert!(!has(&dense, "Attention DP") && !has(&dense, "2 draft tokens"), "{dense:?}");
    }
}
