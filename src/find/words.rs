//! Texts about plans: names, missed limits, and why others rank behind the first.

use super::Request;
use super::plan::{BrokenLimit, Found};
use super::probe::BoundedLayout;
use super::ranking_cost::RankingCost;
use crate::config::{Field, LatencyMetric, Load, Scenario, Setup};
use crate::serving::run::Run;
use crate::units::{Dollars, Printed, Seconds, chance, confidence, count, counted, fixed, percent};

/// Inputs that a request may vary and that are not part of every name.
const OTHERS: [Field; 7] = [
    Field::Kv,
    Field::TokenBudget,
    Field::MaxSeqs,
    Field::MemoryShare,
    Field::CachedShare,
    Field::HistoryCached,
    Field::Accepted,
];

impl Found {
    /// The plan's [`name`].
    pub fn name(&self, request: &Request) -> String {
        name(request, &self.scenario, &self.setup, self.replicas)
    }
}

impl BoundedLayout {
    /// The [`name`] of one replica of the layout.
    pub fn name(&self, request: &Request) -> String {
        name(request, &self.scenario, &self.setup, 1)
    }
}

/// `3 × B200, NVFP4, vLLM, TP 1`, and other inputs of which the request tries several values.
pub fn name(request: &Request, scenario: &Scenario, setup: &Setup, replicas: u32) -> String {
    let own = setup.parallel.gpus().saturating_mul(replicas);
    let first = setup.prefill.as_ref().map(|pool| &pool.setup);
    let gpus = match first {
        Some(first) if first.gpu.id != setup.gpu.id => {
            format!("{} × {} + {own} × {}", first.gpus(), first.gpu.name, setup.gpu.name)
        }
        first => format!("{} × {}", own.saturating_add(first.map_or(0, Setup::gpus)), setup.gpu.name),
    };
    let mut parts = vec![gpus, setup.weights.name().to_owned(), setup.engine.name.clone()];
    parts.push(match first {
        Some(first) => {
            let [prefill, decode] = [first, setup].map(degrees);
            format!("{} prefill ({prefill}) + {replicas} decode ({decode})", first.replicas)
        }
        None => degrees(setup),
    });
    parts.extend(setup.power_cap.map(|watts| format!("{} W", count(watts))));
    let (drafted, host) = (setup.workload.drafts.drafted, setup.prefill_setup().host_gib());
    parts.extend((drafted > 0).then(|| format!("{drafted} drafted")));
    parts.extend((host > 0.0).then(|| format!("{} GiB host cache", count(host))));
    let several = |field: &Field| request.values(*field).is_some_and(|values| values.len() > 1);
    parts.extend(OTHERS.into_iter().filter(several).filter_map(|field| {
        let input = field.input();
        let value = match &input.number {
            Some(number) => number.print((number.read)(scenario)?),
            None => setup.kv.name().to_owned(),
        };
        Some(format!("{} {value}", input.label))
    }));
    parts.join(", ")
}

/// `TP 8, DP 8, EP 64`.
fn degrees(setup: &Setup) -> String {
    let others = [("PP", setup.parallel.pp), ("DP", setup.parallel.dp), ("EP", setup.parallel.ep)];
    let others = others.into_iter().filter(|(_, degree)| *degree > 1);
    others.fold(format!("TP {}", setup.parallel.tp), |all, (name, degree)| format!("{all}, {name} {degree}"))
}

/// What a run misses by most.
pub fn broken(run: &Run, load: Load) -> BrokenLimit {
    if let Some(saturation) = run.saturation {
        // The load that was requested, not the one that arrived in this run.
        let required = matches!(load, Load::Rate(_) | Load::ConstantRate(_)).then_some(run.load);
        let (served, offered) = (saturation.served_per_s, required.unwrap_or(saturation.offered_per_s));
        // A trial ends long before its queue shows how many requests can be served.
        let text = format!("{} requests/s arrive, more than can be served", count(offered));
        return BrokenLimit { field: load.size(), at: served, limit: offered, text };
    }
    let [all, each] = run.required;
    let wanted = all.max(each);
    let over = run.limits.iter().filter(|kept| kept.share < wanted);
    let worst = over.max_by(|a, b| (a.at / a.limit).total_cmp(&(b.at / b.limit)));
    match worst {
        Some(kept) => {
            // The quantile, interpolated between two requests, may be within the limit although the share is not.
            let text = if kept.at > kept.limit {
                limit(kept.metric, kept.at, kept.limit, wanted)
            } else {
                let (name, required) = (kept.metric.name(), Seconds(kept.limit).print());
                let [share, wanted] = percents(kept.share, wanted);
                format!("{name} is within {required} for {share} of requests; it must be for {wanted}")
            };
            BrokenLimit { field: kept.metric.limit(), at: kept.at, limit: kept.limit, text }
        }
        None => {
            let at = run.share_within_limits().unwrap_or(0.0);
            let [share, wanted] = percents(at, all);
            let text = format!("{share} of requests meet all limits; {wanted} must");
            BrokenLimit { field: Field::SloShare, at, limit: all, text }
        }
    }
}

/// What a run of one request at a time misses by most.
pub fn broken_alone(run: &Run, load: Load) -> BrokenLimit {
    let broken = broken(run, load);
    BrokenLimit { text: format!("even with one request at a time, {}", broken.text), ..broken }
}

/// What breaks a limit in an overloaded run, with the rates that arrive and can be served.
pub fn overloaded(broken: BrokenLimit) -> BrokenLimit {
    let [arriving, served] = [broken.limit, broken.at].map(count);
    let text = match arriving == served {
        true => format!("{arriving} requests/s arrive, as many as can be served"),
        false => format!("{arriving} requests/s arrive, but only {served} can be served"),
    };
    BrokenLimit { text, ..broken }
}

/// Two different shares, with enough decimals to distinguish them: `98.997 %` and `99.000 %`.
fn percents(one: f64, other: f64) -> [Printed; 2] {
    let exact = |places| {
        [one, other].map(|share| Printed { number: fixed(share * 100.0, places), unit: percent(share).unit })
    };
    let value = |printed: &Printed| printed.number.parse::<f64>().ok();
    let all = std::iter::once([percent(one), percent(other)]).chain((1..MOST_DECIMALS).map(exact));
    let differ = |[one, other]: &[Printed; 2]| value(one) != value(other);
    all.into_iter().find(differ).unwrap_or_else(|| exact(MOST_DECIMALS))
}

const MOST_DECIMALS: usize = 6;

/// How far off it is: 2 is twice the limit.
pub fn excess(broken: &BrokenLimit) -> f64 {
    match broken.field {
        field if LatencyMetric::of_limit(field).is_some() => broken.at / broken.limit,
        // Growing queues exceed any limit.
        Field::SloShare => 1.0 + broken.limit - broken.at,
        _ => FAR * broken.limit / broken.at.max(f64::MIN_POSITIVE),
    }
}

const FAR: f64 = 1e6;

/// Keeps a miss if it is closer than the one known.
pub fn keep_nearest<T>(known: &mut Option<(T, BrokenLimit)>, one: T, broken: BrokenLimit) {
    if known.as_ref().is_none_or(|(_, known)| excess(&broken) < excess(known)) {
        *known = Some((one, broken));
    }
}

/// Multiple of a limit from which on the factor says more than the two values.
const NOTABLE: f64 = 1.5;

/// `TPOT is 34 ms at P99; the limit is 30 ms`, or how many times the limit it is; the excess if both print the same.
pub fn limit(metric: LatencyMetric, at: f64, limit: f64, share: f64) -> String {
    let (found, required) = (Seconds(at).print(), Seconds(limit).print());
    let (name, percentile) = (metric.name(), percentile(share));
    if found == required {
        let above = match fixed((at / limit - 1.0) * 100.0, 2).as_str() {
            "0.00" => "just".to_owned(),
            percent => format!("{percent} %"),
        };
        return format!("{name} is {above} above its limit of {required} at P{percentile}");
    }
    let times = at / limit;
    match times >= NOTABLE {
        true => {
            format!("{name} is {found} at P{percentile}, {} times its limit of {required}", fixed(times, 1))
        }
        false => format!("{name} is {found} at P{percentile}; the limit is {required}"),
    }
}

/// `TPOT is at least 34 ms by physics and calibration, above the limit of 30 ms`.
pub fn ideal(metric: LatencyMetric, at: f64, limit: f64) -> String {
    let (at, limit) = (Seconds(at).print(), Seconds(limit).print());
    format!("{} is at least {at} by physics and calibration, above the limit of {limit}", metric.name())
}

fn percentile(share: f64) -> String {
    let text = fixed(share * 100.0, 1);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Why a plan ranks behind the first.
pub fn drawback(found: &Found, first: &Found) -> String {
    let (own, best) = (found.gpus(), first.gpus());
    let less = found
        .one_less
        .as_ref()
        .map(|broken| format!("; with {}, {}", counted(found.replicas - 1, "replica"), broken.text));
    let less = less.unwrap_or_default();
    let of_job = found.ranked_by().is_of_job();
    match (found.rank(), first.rank()) {
        (RankingCost::Dollars(own), RankingCost::Dollars(best)) if of_job && own > best * (1.0 + SAME) => {
            format!(
                "the job costs {} times as much{}",
                times(own / best),
                found.job().map_or(String::new(), |(seconds, dollars)| {
                    let dollars =
                        dollars.map_or(String::new(), |dollars| format!(": {}", Dollars(dollars).print()));
                    format!("{dollars} in {}", Seconds(seconds).print())
                }),
            )
        }
        (RankingCost::Gpus(own), RankingCost::Gpus(best)) if of_job && own > best * (1.0 + SAME) => {
            format!("the job takes {} times as many GPU hours", times(own / best))
        }
        (RankingCost::Dollars(own_cost), RankingCost::Dollars(cost)) if own_cost > cost * (1.0 + SAME) => {
            format!(
                "costs {} times as much ({} per hour more, with {}){less}",
                times(own_cost / cost),
                Dollars(own_cost - cost).print(),
                counted(own, "GPU"),
            )
        }
        (RankingCost::Gpus(_), RankingCost::Dollars(_)) => {
            format!(
                "{} has no known price: needs {} and cannot be ranked by cost",
                found.setup.gpu.name,
                counted(own, "GPU")
            )
        }
        (RankingCost::Gpus(_), RankingCost::Gpus(_)) if !of_job && own > best => {
            format!("takes {} instead of {best}{less}", counted(own, "GPU"))
        }
        _ => {
            let slower = found.run.metrics.e2e.mean / first.run.metrics.e2e.mean;
            let same = match (found.rank(), of_job) {
                (RankingCost::Dollars(_), _) => "costs the same",
                (RankingCost::Gpus(_), false) => "needs as many GPUs",
                (RankingCost::Gpus(_), true) => "takes as many GPU hours",
            };
            if found.tenths() < first.tenths()
                && let Some((own, best)) = found.chance_within_limits().zip(first.chance_within_limits())
            {
                return format!(
                    "{same}, but is only {} to meet the limits, against {}",
                    confidence(own),
                    chance(best)
                );
            }
            let shares = found.share().zip(first.share()).filter(|(own, best)| own < best);
            // Rounding in sums shows in no printed digit.
            let shares = shares.map(|(own, best)| percents(own, best));
            match shares.filter(|[own, best]| own.number != best.number) {
                Some([own, best]) => format!("{same}, and {own} of requests meet the limits, not {best}"),
                None if fixed(slower, 2) == fixed(1.0, 2) => format!("{same} and takes as long"),
                None => format!("{same}, and requests take {} times as long", fixed(slower, 2)),
            }
        }
    }
}

/// How many times as much, with enough decimals to show that it is more.
fn times(factor: f64) -> String {
    let tells = |places: &usize| fixed(factor, *places).trim_end_matches('0') != "1.";
    fixed(factor, (2..MOST_DECIMALS).find(tells).unwrap_or(MOST_DECIMALS))
}

/// Costs within this are equal.
const SAME: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serving::sim::{LimitResult, Metrics, Saturation};

    fn run(limits: Vec<LimitResult>, goodput_per_s: f64) -> Run {
        let metrics = Metrics { requests_per_s: 1.0, ..Metrics::default() };
        Run { metrics, limits, goodput_per_s: Some(goodput_per_s), required: [0.99, 0.0], ..Run::default() }
    }

    fn kept(metric: LatencyMetric, share: f64, at: f64) -> LimitResult {
        LimitResult { metric, limit: 0.1, share, at }
    }

    #[test]
    fn the_limit_missed_by_most_is_named() {
        let limits = vec![
            kept(LatencyMetric::Ttft, 0.9, 0.2),
            kept(LatencyMetric::Tpot, 0.8, 0.15),
            kept(LatencyMetric::E2e, 1.0, 0.05),
        ];
        let found = broken(&run(limits, 0.7), Load::Rate(1.0));
        assert_eq!((found.field, found.at), (Field::SloTtft, 0.2));
        assert!((excess(&found) - 2.0).abs() < 1e-12);
        let parts = ["TTFT", "200\u{a0}ms", "P99", "100\u{a0}ms"];
        assert!(parts.iter().all(|part| found.text.contains(part)), "{}", found.text);
    }

    #[test]
    fn a_value_that_prints_like_its_limit_is_given_as_a_share_above_it() {
        let text = limit(LatencyMetric::Tpot, 0.020_05, 0.02, 0.9);
        assert!(["0.25 %", "20.0\u{a0}ms", "P90"].iter().all(|part| text.contains(part)), "{text}");
        let text = limit(LatencyMetric::Tpot, 0.020_000_1, 0.02, 0.9);
        assert!(text.starts_with("TPOT is just above its limit of 20.0"), "{text}");
        let text = limit(LatencyMetric::Ttft, 0.0414, 0.005, 0.99);
        assert!(
            ["41.4\u{a0}ms", "8.3 times", "5.00\u{a0}ms"].iter().all(|part| text.contains(part)),
            "{text}"
        );
    }

    #[test]
    fn limits_met_one_by_one_may_fail_together() {
        let limits = vec![kept(LatencyMetric::Ttft, 0.99, 0.1), kept(LatencyMetric::Tpot, 0.99, 0.1)];
        let found = broken(&run(limits, 0.985), Load::Rate(1.0));
        assert_eq!(found.field, Field::SloShare);
        assert!(excess(&found) > 1.0 && excess(&found) < 1.1);
        let near = broken(&run(Vec::new(), 0.989_97), Load::Rate(1.0));
        assert!(
            ["98.997\u{a0}%", "99.000\u{a0}%"].iter().all(|share| near.text.contains(share)),
            "{}",
            near.text
        );
    }

    #[test]
    fn a_queue_that_grows_is_further_off_than_any_limit() {
        let saturation =
            Some(Saturation { offered_per_s: 9.0, served_per_s: 3.0, backlog: 5, of_decode: false });
        let found = broken(&Run { load: 9.0, saturation, ..run(Vec::new(), 0.0) }, Load::Rate(9.0));
        assert_eq!((found.field, found.limit, found.at), (Field::Rate, 9.0, 3.0));
        assert!(excess(&found) > FAR);
        // Only the run that is shown knows how many can be served.
        assert!(!found.text.contains('3') && overloaded(found).text.contains('3'));
    }
}
