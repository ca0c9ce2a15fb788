//! A report ready for display: all numbers and sentences as text.

use super::{memory, passes, run, verdict};
use crate::calibration::Band;
use crate::chart::{Chart, Roofline, elsewhere, not_shown, summary};
use crate::config::{Field, LatencyMetric, Measured, Metric, Setup};
use crate::find::RankedBy;
use crate::serving::Report;
use crate::serving::deviation::{Deviation, deviations, print};
use crate::serving::report::{Basis, Headline};
use crate::serving::run::{Calibrated, Power, Run};
use crate::serving::sim::Stats;
use crate::study::words::GROWS;
use crate::units::{Dollars, Joules, Printed, Seconds, Watts, count, counted, percent};
use crate::worker::protocol::{Answer, Reading};

/// The report of `setup`, compared with `measured`; `traced` if a trace was replayed.
pub fn answer(setup: &Setup, report: &Report, measured: &Measured, traced: bool) -> Answer {
    let roofline = Roofline::new(setup, &report.passes);
    let readings = report.headline.as_ref().map(|headline| readings(setup, report, headline, measured));
    Answer {
        fits: !report.passes.is_empty(),
        verdict: verdict::of(setup, report),
        readings: readings.unwrap_or_default(),
        calibration: calibration(setup, report).unwrap_or_default(),
        memory: memory::shown(&report.memory, !report.passes.is_empty()),
        passes: report.passes.iter().map(|pass| passes::shown(pass, report.factors())).collect(),
        roofline_words: roofline
            .iter()
            .map(summary)
            .chain(report.passes.iter().filter_map(|pass| elsewhere(setup, pass).or_else(|| not_shown(pass))))
            .collect::<Vec<_>>()
            .join(" "),
        roofline: roofline.map(Chart::Roofline),
        run: report.run.as_ref().map(|of| run(setup, of, traced)).unwrap_or_default(),
    }
}

/// The available headline numbers: no TPOT for a single token; without a price, where to enter it.
fn readings(setup: &Setup, report: &Report, headline: &Headline, measured: &Measured) -> Vec<Reading> {
    let run = report.run.as_ref();
    let metrics = run.map(|run| &run.metrics);
    let bands = report.calibrated.as_ref().map(|calibrated| &calibrated.bands);
    let rate =
        |id: &str, value: f64, unit: &'static str| reading(id, value, Printed { number: count(value), unit });
    let speed = |value: f64| Printed { number: count(value), unit: "tok/s" };
    let output = bands.and_then(|bands| bands.output_per_s);
    let goodput = run.and_then(|run| {
        let good = run.steady_goodput()?;
        let share = percent(run.share_within_limits()?);
        Some(format!("goodput {}/s, {share}", count(good)))
    });
    let grows = report.queue_grows(setup);
    let measured = deviations(measured, report);
    let with_measured = |metric: Metric, one: Reading| Reading {
        measured: compared(metric, &measured, report).unwrap_or_default(),
        ..one
    };
    let time = |of: LatencyMetric| {
        let value = headline.latency(of)?;
        let stats = metrics.and_then(|metrics| metrics.latency(of));
        let band = bands.and_then(|bands| Some(bands.latency(of)?.mean));
        let reading = match grows && of.queues() {
            true => Reading {
                spread: format!("{} in this run", value.print()),
                ..reading(of.id(), value.0, Printed { number: GROWS.into(), unit: "" })
            },
            false => Reading {
                spread: stats.map(percentiles).unwrap_or_default(),
                band: between(band, |value| Seconds(value).print()),
                ..reading(of.id(), value.0, value.print())
            },
        };
        Some(with_measured(of.choose([Metric::Ttft, Metric::Tpot, Metric::E2e]), reading))
    };
    let tpots = metrics.and_then(|metrics| metrics.tpot);
    let least = tpots.map(|tpots| format!("99 % get {} or more", count(1.0 / tpots.p99)));
    let tpot_band = bands.and_then(|bands| bands.tpot.as_ref());
    let per_user = |value: f64| Reading {
        spread: least.clone().unwrap_or_default(),
        band: between(tpot_band.map(|tpot| tpot.mean.under(1.0)), speed),
        ..rate("per-user", value, "tok/s")
    };
    let throughput = Reading {
        // Without limits, the speed that users get.
        spread: goodput.or_else(|| Some(format!("{} per user", least.as_ref()?))).unwrap_or_default(),
        band: between(output, speed),
        ..rate("throughput", headline.output_per_s, "tok/s")
    };
    // No more than arrives is served while requests arrive.
    let arrives = setup.workload.load.is_rate() && run.is_some_and(|run| run.saturation.is_none());
    let cheapest = headline.dollars_per_million.filter(|_| arrives).map_or(0.0, |dollars| dollars.0);
    let all = [
        time(LatencyMetric::Ttft),
        time(LatencyMetric::Tpot),
        time(LatencyMetric::E2e),
        Some(with_measured(Metric::Output, throughput)),
        Some(rate("per-gpu", headline.output_per_s_per_gpu, "tok/s")),
        headline.output_per_s_per_user.map(per_user),
        Some(with_measured(Metric::Total, rate("total", headline.total_per_s, "tok/s"))),
        Some(with_measured(Metric::Requests, rate("request-rate", headline.requests_per_s, "/s"))),
        cost(setup, headline, output, cheapest).or_else(|| setup.price.is_none().then(no_price)),
        headline.power.map(watts),
        headline.power.map(|power| energy(power, setup)),
        metrics
            .filter(|_| RankedBy::of(&setup.workload).is_of_job())
            .map(|metrics| job(metrics.duration, setup)),
        Some(rate("running", headline.running, "")),
        Some(rate("waiting", headline.waiting, "")),
    ];
    let several = setup.replicas > 1;
    let of = |id: &str| match id {
        _ if !several => "",
        "throughput" | "total" | "request-rate" => "in all",
        "running" | "waiting" if setup.prefill.is_some() => "per decode replica",
        "running" | "waiting" => "per replica",
        _ => "",
    };
    all.into_iter().flatten().map(|one| Reading { of: of(&one.id).into(), ..one }).collect()
}

/// Cost falls as `output` rises; not below `least`. What all GPUs cost is beside it.
fn cost(setup: &Setup, headline: &Headline, output: Option<Band>, least: f64) -> Option<Reading> {
    let dollars = headline.dollars_per_million?;
    let all = dollars.0 * headline.output_per_s;
    let band = output.map(|band| band.under(all)).map(|band| Band { low: band.low.max(least), ..band });
    let hourly = setup.dollars_per_hour().map(Dollars);
    let all = hourly.map(|hourly| format!("{}/h, {} a month", hourly.print(), hourly.monthly().print()));
    let beside = [all.unwrap_or_default(), lasting(headline)];
    Some(Reading {
        band: between(band, |value| Dollars(value).print()),
        spread: beside.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; "),
        ..reading("cost", dollars.0, dollars.print())
    })
}

/// How long a job takes, and what all GPUs cost meanwhile.
fn job(seconds: f64, setup: &Setup) -> Reading {
    let cost = setup.dollars_per_hour().map(|hourly| Dollars(hourly / 3600.0 * seconds).print());
    Reading {
        spread: cost.map_or_else(String::new, |cost| format!("{cost} in all")),
        ..reading("job", seconds, Seconds(seconds).print())
    }
}

fn watts(power: Power) -> Reading {
    Reading {
        band: between(Some(unshared(power.band)), |value| Watts(value).print()),
        spread: if power.measured { String::new() } else { "estimated from other GPUs".into() },
        ..reading("power", power.watts_per_gpu, Watts(power.watts_per_gpu).print())
    }
}

/// A band that measuring the configuration would not narrow by a known share.
fn unshared([low, high]: [f64; 2]) -> Band {
    Band { low, high, noise_share: 0.0 }
}

fn energy(power: Power, setup: &Setup) -> Reading {
    let joules = power.joules_per_output_token;
    let overhead = if setup.power_overhead > 1.0 { " with overhead" } else { "" };
    let tokens = count((power.output_tokens_per_mwh / 1e6).round());
    Reading {
        spread: format!("{tokens} M tok/MWh{overhead}"),
        band: between(Some(unshared(power.joules_band)), |value| Joules(value).print()),
        ..reading("energy", joules, Joules(joules).print())
    }
}

fn no_price() -> Reading {
    let spread = format!("no price known: enter it as {}", Field::Price.input().label);
    Reading { id: "cost".into(), value: f64::NAN, number: "–".into(), spread, ..Reading::default() }
}

/// The output rate that cost is based on, if it differs from the whole run's: at a rate with a stated number of requests, the last
/// answers finish after arrivals stop.
fn lasting(headline: &Headline) -> String {
    let [lasting, whole] = [headline.sustained_output_per_s, headline.output_per_s].map(count);
    if lasting == whole { String::new() } else { format!("at {lasting} tok/s under load") }
}

/// The runs behind the bands, and the physics alone; or why there are no bands.
fn calibration(setup: &Setup, report: &Report) -> Option<String> {
    let Some(Calibrated { support, physics, without_own, .. }) = &report.calibrated else {
        let why = match (&report.basis, &report.headline, &setup.prefill) {
            (Basis::Roofline, ..) | (_, None, _) => return None,
            (.., Some(_)) => "disaggregated serving is not calibrated on measured runs",
            _ if report.run.is_none() => "measured runs calibrate simulated loads, not a static batch",
            _ => "the calibration is for another release of the learned models",
        };
        return Some(format!("Times and throughput are uncalibrated and have no bands: {why}."));
    };
    let runs = |runs: u32| counted(runs, "measured run");
    let behind = match (support.of_model_on_engine, support.of_gpu_on_engine) {
        (0, 0) => {
            "No run of a model of this shape, or on this GPU with this engine, was measured: the 80 % bands are wide"
                .to_owned()
        }
        (0, of_gpu) => format!("80 % bands from {} of other models on this GPU", runs(of_gpu)),
        (of_model, of_gpu) => {
            let elsewhere = if of_gpu == 0 { ", none on this GPU" } else { "" };
            format!("80 % bands from {} of models of this shape on {}{elsewhere}", runs(of_model), setup.engine.name)
        }
    };
    let of = |run: &Run| {
        let ttft = Seconds(run.metrics.ttft.mean).print();
        let tpot = run.metrics.tpot.map(|tpot| format!(", TPOT {}", Seconds(tpot.mean).print()));
        format!("TTFT {ttft}{}", tpot.unwrap_or_default())
    };
    let own = without_own.as_ref().map(|without| {
        let runs = match support.own {
            0 => return "Your runs are on another engine and have no effect here. ".to_owned(),
            1 => "your run".to_owned(),
            runs => format!("your {runs} runs"),
        };
        format!("Calibrated on {runs}; without: {}. ", of(without))
    });
    Some(format!("{}{behind}. Uncalibrated: {}.", own.unwrap_or_default(), of(physics)))
}

/// `112 to 140 ms`.
fn between(band: Option<Band>, print: impl Fn(f64) -> Printed) -> String {
    let Some(band) = band else { return String::new() };
    let (low, high) = (print(band.low), print(band.high));
    // Both ends print alike: an interval would say nothing.
    if low == high { String::new() } else { low.to(&high) }
}

fn reading(id: &str, value: f64, printed: Printed) -> Reading {
    // `1 h 17 min` is one number.
    let Printed { number, unit } = if printed.number.contains('\u{a0}') {
        Printed { number: printed.to_string(), unit: "" }
    } else {
        printed
    };
    Reading { id: id.into(), value, number, unit: unit.into(), ..Reading::default() }
}

fn percentiles(stats: Stats) -> String {
    let all = [stats.p50, stats.p90, stats.p99].map(|value| Seconds(value).print());
    let [p50, p90, p99] = &all;
    // The unit only once if it is the same.
    if all.iter().all(|one| one.has_unit_of(p99)) {
        return format!("P50 {}, P90 {}, P99 {p99}", p50.number, p90.number);
    }
    format!("P50 {p50}, P90 {p90}, P99 {p99}")
}

fn compared(metric: Metric, measured: &[(Metric, Deviation)], report: &Report) -> Option<String> {
    let (_, deviation) = measured.iter().find(|(of, _)| *of == metric)?;
    let predicted = if report.without_own().is_some() { "predicted without your runs: " } else { "" };
    Some(format!("{} measured, {predicted}{}", print(metric, deviation.measured), deviation.difference()))
}
