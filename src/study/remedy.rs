//! What the issues of a configuration advise, as changes to try.

use super::{Case, edit};
use crate::config::check::{least_budget, sound_budget};
use crate::config::{Field, Scenario, catalog};
use crate::serving::run::Run;
use crate::serving::{Demand, enough_replicas, fitting};
use crate::units::{GIB, count, decimal};

/// What the issues of a predicted configuration advise, as far as it follows from the prediction.
pub fn of(own: &Case) -> Vec<Case> {
    let (Some(setup), Some(report), base) = (own.setup(), own.report(), &own.scenario) else {
        return Vec::new();
    };
    let mut cases = Vec::new();
    let mut add = |name: String, change: &dyn Fn(&mut Scenario)| cases.push(Case::edited(name, base, change));
    let is_about = |field: Field| report.issues.iter().any(|issue| issue.field == field);
    let twice = |run: &Run| {
        let sessions = setup.prefill.is_none() && setup.workload.session().is_some();
        (sessions && run.saturation.is_some()).then(|| setup.replicas.saturating_mul(2))
    };
    if let Some(replicas) =
        report.run.as_ref().and_then(|run| enough_replicas(setup, run).or_else(|| twice(run)))
    {
        add(format!("{replicas} replicas"), &|scenario| scenario.replicas = replicas);
    }
    if is_about(Field::MaxSeqs) {
        let ranks = setup.replicas.saturating_mul(setup.parallel.dp).max(1);
        let sequences = (base.workload.load.amount() as u32).div_ceil(ranks);
        add(format!("Up to {} sequences", count(f64::from(sequences))), &|scenario| {
            scenario.overrides.max_seqs = Some(sequences);
        });
    }
    match base.overrides.largest_graph {
        Some(0) => {
            add("CUDA graphs as by default".into(), &|scenario| scenario.overrides.largest_graph = None)
        }
        _ if is_about(Field::LargestGraph) => {
            let all = setup.max_seqs.saturating_mul(setup.tokens_verified());
            add(format!("CUDA graphs up to {}", count(f64::from(all))), &|scenario| {
                scenario.overrides.largest_graph = Some(all);
            });
        }
        _ => {}
    }
    if is_about(Field::HostCache) {
        let session = report.memory.kv_per_token * setup.longest_sequence();
        let gib = (session.max(report.memory.kv_room).0 / GIB).floor() + 1.0;
        add(format!("{} GiB host cache per GPU", count(gib)), &|scenario| {
            scenario.workload.turns.host_gib = gib;
        });
    }
    let fits = || fitting(setup, &Demand::of(setup)).ok().flatten();
    if let Some(fits) = own.headline().is_none().then(fits).flatten() {
        let name = match fits.parallel {
            parallel if parallel.pp != base.parallel.pp => format!("PP {}", parallel.pp),
            parallel if parallel != base.parallel => edit::layout(base, parallel.tp),
            _ if fits.weights != setup.weights => format!("Weights in {}", fits.weights.name()),
            _ => format!("Memory share {}", decimal(fits.memory_share)),
        };
        add(name, &|scenario| {
            scenario.parallel = fits.parallel;
            scenario.weights = (fits.weights != setup.weights).then_some(fits.weights).or(scenario.weights);
            let share = (fits.memory_share != setup.memory_share).then_some(fits.memory_share);
            scenario.overrides.memory_share = share.or(scenario.overrides.memory_share);
        });
    }
    cases
}

/// Half and double the token budget; or the least power of two with which nothing is wrong, if something is. With pools,
/// there are two.
pub fn budgets(base: &Scenario) -> Vec<u32> {
    if base.has_pools() {
        return Vec::new();
    }
    match sound_budget(base, catalog()) {
        Some(now) => vec![now / 2, now.saturating_mul(2)],
        None => least_budget(base, catalog()).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::link::decode;
    use crate::efficiency::Efficiencies;

    #[test]
    fn what_an_issue_advises_is_tried() {
        for (link, advice) in [
            ("r=900", ["use ", " replicas"]),
            ("m=llama-3.1-405b&w=fp8&tp=4&g=h100-sxm", [". ", " fits."]),
            ("m=deepseek-r1&g=h100-sxm&tp=8&ep=8", [". ", " fits, over 2 nodes"]),
        ] {
            let mut own = Case::new("", decode(link).0.scenario);
            own.predict(&Arc::default(), |_| Ok(Efficiencies::Roofline), false).expect(link);
            let texts: String = own.issues().iter().map(|issue| issue.text.as_str()).collect();
            let names: Vec<String> = of(&own).into_iter().map(|case| case.name).collect();
            let is_advised = |name: &String| {
                let what = name.trim_end_matches(advice[1]);
                texts.contains(&[advice[0], what, advice[1]].concat())
            };
            assert!(names.iter().any(is_advised), "{link}: {names:?} in {texts}");
        }
    }
}
