//! What the issues of a configuration advise, and the defaults of what it sets itself, as changes to try.

use super::{Case, edit};
use crate::config::check::{least_budget, sound_budget};
use crate::config::{Field, LatencyMetric, Scenario, Setup, Start, catalog};
use crate::serving::run::{Run, ramp_of};
use crate::serving::sim::LimitResult;
use crate::serving::{Demand, enough_replicas, fitting};
use crate::units::{GIB, count, decimal, set_of};

/// What the issues of a predicted configuration advise, as far as it follows from the prediction, and the engine's own limits where
/// others are set.
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
        // Limits may take more: a sixth, or a third.
        let more = [6, 3].map(|part| replicas.saturating_add(replicas.div_ceil(part)));
        for more in set_of(more).into_iter().filter(|_| setup.workload.slos.limits().next().is_some()) {
            add(format!("{more} replicas"), &|scenario| scenario.replicas = more);
        }
    }
    if let Some(seconds) = report.run.as_ref().and_then(|run| slow_start(setup, run)) {
        // Without its seconds, so that the name stays as the form changes.
        add("Clients start one after another".into(), &|scenario| {
            scenario.workload.start = Start::Ramp(seconds);
        });
    }
    if is_about(Field::MaxInFlight) {
        add("Any number in flight".into(), &|scenario| scenario.workload.max_in_flight = None);
    }
    if is_about(Field::MaxSeqs) {
        let ranks = setup.replicas.saturating_mul(setup.parallel.dp).max(1);
        let load = base.workload.load;
        let sequences = match load.is_rate() {
            true => setup.max_seqs.saturating_mul(2),
            false => (load.amount() as u32).div_ceil(ranks),
        };
        add(format!("Up to {} sequences", count(f64::from(sequences))), &|scenario| {
            scenario.overrides.max_seqs = Some(sequences);
        });
    }
    if base.overrides.max_seqs.is_some() {
        add("Max sequences as by default".into(), &|scenario| scenario.overrides.max_seqs = None);
    }
    if base.overrides.largest_graph.is_some() {
        add("CUDA graphs as by default".into(), &|scenario| scenario.overrides.largest_graph = None);
    }
    if base.overrides.largest_graph != Some(0) && is_about(Field::LargestGraph) {
        let all = setup.max_decoding();
        add(format!("CUDA graphs up to {}", count(f64::from(all))), &|scenario| {
            scenario.overrides.largest_graph = Some(all);
        });
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

/// Seconds over which to start clients who miss a limit, all starting at once. The first of them wait for all prompts
/// together, as later ones never do; plans are searched for with such a ramp.
fn slow_start(setup: &Setup, run: &Run) -> Option<f64> {
    let workload = &setup.workload;
    let starts_together = workload.starts_together(workload.load) && workload.load.amount() >= 2.0;
    let think = workload.session().map_or(0.0, |turns| turns.think_s);
    let waits = |kept: &LimitResult| kept.metric != LatencyMetric::Tpot && kept.at > kept.limit;
    let misses = run.saturation.is_none() && run.limits.iter().any(waits);
    (starts_together && misses).then(|| ramp_of(run.metrics.e2e.mean + think))
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

    /// Whoever measures does not need more GPUs for a start that users do not have.
    #[test]
    fn clients_who_start_together_and_miss_a_limit_may_start_apart() {
        let ramped = |link: &str| {
            let mut own = Case::new("", decode(link).0.scenario);
            own.predict(&Arc::default(), |_| Ok(Efficiencies::Roofline), false).expect(link);
            let starts = of(&own).into_iter().map(|case| case.scenario.workload.start);
            starts.filter(|start| matches!(start, Start::Ramp(_))).count()
        };
        assert_eq!(ramped("c=64&rr=0.2&st=100"), 1);
        assert_eq!(ramped("c=64&rr=0.2&st=100000"), 0);
        assert_eq!(ramped("c=64&rr=0.2"), 0);
        assert_eq!(ramped("c=64&rr=0.2&st=100&ru=60"), 0);
        assert_eq!(ramped("r=2&st=1"), 0);
    }

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
