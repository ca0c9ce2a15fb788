//! The headline numbers and the memory, formula by formula.

use crate::calibration::Factors;
use crate::config::{LatencyMetric, Load, MemoryShareOf, Setup};
use crate::graph::Phase;
use crate::serving::Report;
use crate::serving::report::{Headline, Memory, PassReport};
use crate::serving::run::Run;
use crate::serving::sim::Stats;
use crate::study::accuracy::{Accuracy, ErrorGroup, Grouping};
use crate::study::ttft::{TtftParts, encoder};
use crate::study::{Block, Row, words};
use crate::units::{Bytes, Dollars, Flops, Seconds, count, counted, decimal, fixed, percent};

/// One fold per number, with the id of the page's number.
pub fn headline(setup: &Setup, report: &Report, headline: &Headline) -> Vec<Block> {
    let spread = |of: LatencyMetric| report.run.as_ref()?.metrics.latency(of).map(percentiles);
    let of_ttft = spread(LatencyMetric::Ttft);
    let mut blocks = vec![ttft(setup, report, headline, report.pass(Phase::Prefill), of_ttft)];
    let decode = report.pass(Phase::Decode).map(|pass| (pass, report.decode_factor()));
    blocks.extend(tpot(setup, headline, decode, spread(LatencyMetric::Tpot)));
    blocks.push(e2e(setup, report, headline, spread(LatencyMetric::E2e)));
    blocks.push(throughput(setup, headline, report.run.as_ref()));
    blocks.extend(cost(setup, headline));
    blocks.extend(report.passes.iter().map(|pass| utilisation(setup, pass, report.factors())));
    blocks
}

fn fold(id: &str, name: String, lines: Vec<String>) -> Block {
    Block::fold(id, name, lines.into_iter().map(Block::text).collect())
}

/// Percentiles next to the mean.
fn percentiles(stats: Stats) -> String {
    let [p50, p90, p99] = [stats.p50, stats.p90, stats.p99].map(|value| Seconds(value).print());
    format!("Mean of the simulated run; P50 {p50}, P90 {p90}, P99 {p99}.")
}

fn ttft(
    setup: &Setup,
    report: &Report,
    headline: &Headline,
    prefill: Option<&PassReport>,
    spread: Option<String>,
) -> Block {
    let workload = &setup.workload;
    let name = format!("TTFT {}{}", headline.ttft.print(), of_run(setup, report));
    let mut blocks = vec![Block::text(
        "From a request's arrival at the server to its first token, queueing included, network excluded. Mean over \
        requests, as in vllm bench serve.",
    )];
    let images = prefill.map_or(Seconds::ZERO, |pass| encoder(pass, |line| line.time));
    if let Some(pass) = prefill.filter(|_| images > Seconds::ZERO) {
        blocks.push(Block::text(format!(
            "Before the first tokens of a prompt the vision encoder runs over {} × {} image tokens: {}, and {} with every \
             kernel at the roofline. No measured run has images, so nothing calibrates it.",
            pass.sequences * u64::from(workload.images),
            count(f64::from(setup.image_tokens)),
            images.print(),
            encoder(pass, |line| line.roofline).print(),
        )));
    }
    if let Load::Batch(_) = workload.load {
        blocks.push(Block::text(format!("TTFT = prefill of the whole batch = {}", headline.ttft.print())));
        return Block::fold("ttft", name, blocks);
    }
    blocks.extend(spread.map(Block::text));
    if workload.cached_share > 0.0 {
        let prompt = workload.isl.first();
        blocks.push(Block::text(format!(
            "Of a prompt of {} tokens, {} are in the prefix cache (whole blocks); only the rest is computed, and attends to \
             them.",
            count(f64::from(prompt)),
            count(f64::from(setup.cached(prompt))),
        )));
    }
    let Some(parts) = TtftParts::of(setup, report) else {
        return Block::fold("ttft", name, blocks);
    };
    let rows = [
        ("Image encoder", parts.images),
        ("Prefill of the request's own prompt, if run alone", parts.prompt),
        ("API server and tokeniser", parts.server),
        ("Handover to a decode replica", parts.hand_over),
        ("Other requests in the same steps", parts.shared),
        ("Waiting for the step in progress, or for a slot", parts.queue),
    ];
    // Less is rounding.
    let rows = rows.into_iter().filter(|(_, time)| time.0 > headline.ttft.0 * 1e-6);
    let share = |time: Seconds| percent(time.0 / headline.ttft.0).to_string();
    let row = |(name, time): (&str, Seconds)| [name.to_owned(), time.print().to_string(), share(time)];
    blocks.push(Block::table("Parts of TTFT", &["Part", "Time", "Share"], rows.map(row)));
    Block::fold("ttft", name, blocks)
}

fn tpot(
    setup: &Setup,
    headline: &Headline,
    decode: Option<(&PassReport, f64)>,
    spread: Option<String>,
) -> Option<Block> {
    let workload = &setup.workload;
    let tpot = headline.tpot?;
    let step = decode.map_or(Seconds::ZERO, |(pass, factor)| pass.time * factor);
    let drafted = workload.drafts.drafted;
    let per_step = setup.tokens_per_step();
    let batch = matches!(workload.load, Load::Batch(_));
    let mut lines = vec![
        "Time per output token after the first: (E2E - TTFT) / (OSL - 1), mean over requests. A user reads 1 / TPOT tokens \
         per second."
            .to_owned(),
    ];
    lines.extend(spread);
    if batch {
        let value = (tpot * per_step).print();
        let tokens =
            if drafted > 0 { format!(" / {} tokens per step", fixed(per_step, 2)) } else { String::new() };
        let formula = format!("TPOT = mean decode step over the growing KV cache{tokens} = {value}");
        lines.push(if drafted > 0 { format!("{formula}{tokens} = {}", tpot.print()) } else { formula });
    } else {
        lines.push(format!(
            "A decode step of about the run's mean batch takes {}; on average, a sequence's steps are {} apart, because of other \
             requests' prefills and steps of other sizes.",
            step.print(),
            (tpot * per_step).print(),
        ));
    }
    if drafted > 0 {
        lines.push(format!(
            "Speculative decoding: each step verifies {} per sequence along with its newest token; {} are accepted on \
             average.{}",
            counted(f64::from(drafted), "draft token"),
            decimal(workload.drafts.accepted),
            // An MTP layer's passes are among the step's kernels.
            match setup.drafting_layer() {
                Some(_) => "",
                None => " The draft model's own time is not counted.",
            },
        ));
    }
    if let Some((pass, factor)) = decode {
        let calibrated = match factor {
            1.0 => String::new(),
            factor => format!(
                " before calibration, which makes the step {}: {}",
                words::longer(factor),
                step.print()
            ),
        };
        lines.push(format!(
            "The decode step{}: {}{} with {} tokens each in the KV cache; kernels {}, host {}{calibrated}.",
            if batch { " half-way through" } else { "" },
            counted(pass.sequences as f64, "sequence"),
            if setup.parallel.dp > 1 { " per rank" } else { "" },
            count(pass.past.round()),
            (pass.time - pass.host).print(),
            pass.host.print(),
        ));
    }
    Some(fold("tpot", format!("TPOT {}", tpot.print()), lines))
}

/// What grows with an overload is that of the run.
fn of_run(setup: &Setup, report: &Report) -> &'static str {
    if report.queue_grows(setup) { " in this run" } else { "" }
}

fn e2e(setup: &Setup, report: &Report, headline: &Headline, spread: Option<String>) -> Block {
    let mut lines: Vec<String> = spread.into_iter().collect();
    // If requests differ, those with long outputs count for more.
    if let Some(tpot) = headline.tpot.filter(|_| !setup.workload.varies()) {
        lines.push(format!(
            "E2E = TTFT + (OSL - 1) × TPOT = {} + {} × {} = {}",
            headline.ttft.print(),
            count(f64::from(setup.workload.osl.saturating_sub(1))),
            tpot.print(),
            headline.e2e.print(),
        ));
    }
    fold("e2e", format!("E2E {}{}", headline.e2e.print(), of_run(setup, report)), lines)
}

fn throughput(setup: &Setup, headline: &Headline, run: Option<&Run>) -> Block {
    let requests = |value: f64| format!("{} requests/s", count(value));
    let tokens = |value: f64| format!("{} tok/s", count(value));
    let output = tokens(headline.output_per_s);
    let mut lines = vec![format!(
        "Output = requests × output tokens of one = {} × {} = {output}",
        requests(headline.requests_per_s),
        count(headline.output_per_s / headline.requests_per_s),
    )];
    if !matches!(setup.workload.load, Load::Batch(_)) {
        lines.push(format!(
            "Little's law: in flight = requests × E2E = {} × {} = {}",
            requests(headline.requests_per_s),
            headline.e2e.print(),
            count(headline.requests_per_s * headline.e2e.0),
        ));
    }
    if run.is_some_and(|run| run.lasts) {
        lines.push(
            "These are rates while the load lasts. A benchmark of a stated number of requests also counts the time of its first and \
             last answers: the fewer there are, the less it reports."
                .into(),
        );
    }
    if headline.sustained_output_per_s != headline.output_per_s {
        lines.push(format!(
            "These are rates of the whole run, up to its last answer, as a benchmark reports them; while the load lasts, {} are \
             generated. The shorter the run, the more they differ.",
            tokens(headline.sustained_output_per_s),
        ));
    }
    let per_gpu = tokens(headline.output_per_s_per_gpu);
    lines.push(format!("Per GPU: {output} / {} = {per_gpu}", counted(gpus(setup), "GPU")));
    let total = tokens(headline.total_per_s);
    lines.push(format!("Input and output: requests × tokens of prompt and output = {total}"));
    fold("throughput", format!("Output {output}"), lines)
}

fn cost(setup: &Setup, headline: &Headline) -> Option<Block> {
    let (cost, price) = (headline.dollars_per_million?, setup.dollars_per_hour()?);
    let text = format!(
        "Price of {} / 3600 s / output while the load lasts = {} per hour / 3600 s / {} tok/s = {} per million output \
         tokens. The price is an on-demand list price, with its source in the catalog, unless you set one.",
        counted(gpus(setup), "GPU"),
        Dollars(price).print(),
        count(headline.sustained_output_per_s),
        cost.print(),
    );
    Some(fold("cost", format!("{} per million output tokens", cost.print()), vec![text]))
}

fn gpus(setup: &Setup) -> f64 {
    f64::from(setup.gpus())
}

/// MFU and MBU of a pass.
fn utilisation(setup: &Setup, pass: &PassReport, factors: Option<Factors>) -> Block {
    let (phase, id) = match pass.phase {
        Phase::Prefill => ("prefill", "limit-prefill"),
        Phase::Decode => ("decode", "limit-decode"),
    };
    let mut lines = vec![words::limits(pass, factors)];
    let setup = pass.setup(setup);
    let stages =
        if setup.parallel.pp > 1 { format!(" × {} stages", setup.parallel.pp) } else { String::new() };
    if let Ok(peak) = setup.peak() {
        let experts = if setup.parallel.ep > 1 { ", experts balanced over the ranks" } else { "" };
        let flops = pass.mfu * pass.time.0 * peak.0 * f64::from(setup.parallel.pp);
        lines.push(format!(
            "MFU = FLOP of all kernels{experts} / (step × dense peak{stages}) = {} / ({} × {}) = {}",
            Flops(flops).print(),
            pass.time.print(),
            peak.print(),
            percent(pass.mfu),
        ));
    }
    if let Ok(bandwidth) = setup.gpu.bandwidth() {
        let touched = Bytes(pass.mbu * pass.time.0 * bandwidth.0 * f64::from(setup.parallel.pp));
        lines.push(format!(
            "MBU = weight and KV bytes read / (step × peak bandwidth{stages}) = {} / ({} × {}) = {}",
            touched.print(),
            pass.time.print(),
            bandwidth.print(),
            percent(pass.mbu),
        ));
    }
    fold(id, format!("Bottleneck of {phase}, MFU and MBU"), lines)
}

/// Errors of similar predictions against measured runs.
pub fn errors(setup: &Setup, accuracy: &Accuracy) -> Block {
    let groups = [
        ("All", accuracy.closed_loops(Grouping::All, "")),
        (&*setup.engine.name, accuracy.closed_loops(Grouping::Engine, &setup.engine.id)),
        (&*setup.gpu.name, accuracy.closed_loops(Grouping::Gpu, &setup.gpu.id)),
    ];
    let row = |(name, group): (&str, Option<&ErrorGroup>)| {
        let group = group?;
        let errors = group.errors.iter().flatten().map(|error| format!("{} %", fixed(error.median, 0)));
        Some(Row::texts([name.to_owned(), count(f64::from(group.cases))].into_iter().chain(errors)))
    };
    let mut blocks = vec![
        Block::text("Median errors against measured closed-loop runs."),
        Block::table("Measured runs", &["", "Runs", "TTFT", "TPOT"], groups.into_iter().filter_map(row)),
    ];
    if let [ttft, tpot] = accuracy.covered[..] {
        let (ttft, tpot) = (fixed(ttft, 0), fixed(tpot, 0));
        let text = format!("{ttft} % of TTFTs and {tpot} % of TPOTs are within their 80 % bands.");
        blocks.push(Block::text(text));
    }
    if accuracy.closed_loops(Grouping::Gpu, &setup.gpu.id).is_none() {
        let gpu = &setup.gpu.name;
        blocks.push(Block::text(format!(
            "No closed-loop run was measured on {gpu}: the error of its TTFT and TPOT is unknown."
        )));
    }
    Block::fold("trust", "Accuracy of similar predictions", blocks)
}

/// The memory of the GPUs that `setup` describes, called `of`, in a fold with `id`.
pub fn memory(id: &str, setup: &Setup, memory: &Memory, of: &str) -> Block {
    let parts = [
        ("GPU memory", memory.total),
        ("Usable by the engine", memory.usable),
        ("Weights", memory.weights),
        ("Activations of the largest step", memory.activations),
        ("Runtime and buffers (GPU context, graphs, communication)", memory.reserve),
        ("Room for the KV cache", memory.kv_room),
        ("KV cache at this load", memory.kv_needed),
        ("KV cache per token", memory.kv_per_token),
    ];
    let rows = parts.map(|(name, bytes)| (name, bytes.print().to_string()));
    let share = percent(setup.memory_share);
    let rule = match setup.engine.scheduler.memory_share_of {
        MemoryShareOf::Total => {
            format!("{share} of GPU memory - weights - activations - runtime and buffers")
        }
        MemoryShareOf::Static => {
            format!("{share} of GPU memory - weights, at most what activations, runtime and buffers leave")
        }
        MemoryShareOf::Free => format!("{share} of what weights, activations, runtime and buffers leave"),
    };
    let capacity = format!(
        "The KV cache{of} holds {} tokens: {} sequences of full length.",
        count(memory.kv_tokens),
        count(memory.max_concurrency.floor()),
    );
    let blocks = vec![
        Block::text(format!("Room for the KV cache = {rule}.")),
        Block::table(format!("Memory of the fullest GPU{of}"), &["Part", "Size"], rows),
        Block::text(capacity),
    ];
    Block::fold(id, format!("Memory{of}"), blocks)
}
