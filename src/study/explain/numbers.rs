//! The headline numbers and the memory, formula by formula.

use crate::config::{Load, MemoryShareOf, Setup};
use crate::graph::Phase;
use crate::serving::Report;
use crate::serving::accuracy::{Accuracy, Group};
use crate::serving::report::{Headline, Memory, PassReport};
use crate::study::{Block, Row};
use crate::units::{Bytes, Dollars, Seconds, count, decimal, fixed, percent};

/// One fold a number; their ids are those of the page's numbers.
pub fn headline(setup: &Setup, report: &Report, headline: &Headline) -> Vec<Block> {
    let pass = |phase| report.passes.iter().find(|pass| pass.phase == phase);
    let mut blocks = vec![ttft(setup, headline, pass(Phase::Prefill))];
    blocks.extend(tpot(setup, headline, pass(Phase::Decode)));
    blocks.push(e2e(setup, headline));
    blocks.push(throughput(setup, headline));
    blocks.extend(cost(setup, headline));
    blocks.extend(report.passes.iter().map(|pass| shares(setup, pass)));
    blocks
}

fn ttft(setup: &Setup, headline: &Headline, prefill: Option<&PassReport>) -> Block {
    let alone = prefill.map_or(Seconds::ZERO, |pass| pass.time);
    let name = format!("TTFT {}", headline.ttft.print());
    let mut blocks = vec![Block::text(
        "From a request's arrival at the server to its first token, queueing included and the network excluded; \
         the mean over requests (vllm bench serve).",
    )];
    if let Load::Batch(_) = setup.load {
        blocks.push(Block::text(format!("TTFT = prefill of the whole batch = {}", alone.print())));
        return Block::fold("ttft", name, blocks);
    }
    // Little's law over those that wait for one of the engine's slots.
    let served = headline.requests_per_s / f64::from(setup.replicas.max(1));
    let queue = Seconds(if headline.waiting > 0.0 { headline.waiting / served } else { 0.0 });
    let shared = (headline.ttft - alone - queue).max(Seconds::ZERO);
    let rows = [
        ("Its own prompt in a step alone", alone),
        ("Steps under way, and steps and prompts of others", shared),
        ("Queue for one of the engine's slots", queue),
    ];
    let share = |time: Seconds| percent(time.0 / headline.ttft.0).to_string();
    let row =
        |(name, time): (&str, Seconds)| Row::texts([name.to_owned(), time.print().to_string(), share(time)]);
    if setup.cached_share > 0.0 {
        let prompt = setup.prompts.first().copied().unwrap_or(1);
        blocks.push(Block::text(format!(
            "Of each prompt of {} tokens the prefix cache holds {}, in whole blocks: the others are computed, and attend to \
             them.",
            count(f64::from(prompt)),
            count(f64::from(setup.cached(prompt))),
        )));
    }
    blocks.push(Block::table("Parts of TTFT", &["Part", "Time", "Share of time"], rows.map(row).into()));
    let policy = "A steady state in closed form: prompts arrive between steps, share them with those that decode, and \
                  wait as the engine's scheduler has them wait. The simulated run plays the same out request by request.";
    blocks.push(Block::text(policy));
    Block::fold("ttft", name, blocks)
}

fn tpot(setup: &Setup, headline: &Headline, decode: Option<&PassReport>) -> Option<Block> {
    let tpot = headline.tpot?;
    let step = decode.map_or(Seconds::ZERO, |pass| pass.time);
    let per_step = f64::from(setup.osl.saturating_sub(1)) / setup.decode_steps();
    let mut blocks = vec![Block::text(
        "Time per output token after the first: (E2E - TTFT) / (OSL - 1), the mean over requests. One user reads \
         1 / TPOT tokens per second.",
    )];
    let text = match setup.load {
        Load::Batch(_) if setup.drafts.drafted > 0 => format!(
            "TPOT = mean of the decode steps over the growing KV cache / tokens of a sequence per step = {} / {} = {}",
            (tpot * per_step).print(),
            fixed(per_step, 2),
            tpot.print(),
        ),
        Load::Batch(_) => format!(
            "TPOT = mean of the decode steps over the growing KV cache = {}; half-way through a step takes {}.",
            tpot.print(),
            step.print()
        ),
        _ if setup.drafts.drafted > 0 => {
            format!(
                "TPOT = (decode step + what prompts of others add to it) / tokens of a sequence per step = ({} + {}) / {} = \
                 {}",
                step.print(),
                (tpot * per_step - step).max(Seconds::ZERO).print(),
                fixed(per_step, 2),
                tpot.print()
            )
        }
        _ => format!(
            "TPOT = decode step + what prompts of others add to it = {} + {} = {}",
            step.print(),
            (tpot - step).max(Seconds::ZERO).print(),
            tpot.print()
        ),
    };
    blocks.push(Block::text(text));
    if setup.drafts.drafted > 0 {
        blocks.push(Block::text(format!(
            "Speculative decoding: a step verifies {} drafted tokens of each sequence beside its newest, of which {} are \
             accepted on average. What drafts them is not counted.",
            count(f64::from(setup.drafts.drafted)),
            decimal(setup.drafts.accepted),
        )));
    }
    if let Some(pass) = decode {
        blocks.push(Block::text(format!(
            "The decode step: {} sequences with {} tokens each in the KV cache; kernels {}, host {}.",
            count(pass.sequences as f64),
            count(pass.past.round()),
            (pass.time - pass.host).print(),
            pass.host.print(),
        )));
    }
    Some(Block::fold("tpot", format!("TPOT {}", tpot.print()), blocks))
}

fn e2e(setup: &Setup, headline: &Headline) -> Block {
    let tpot = headline.tpot.unwrap_or(Seconds::ZERO);
    let text = format!(
        "E2E = TTFT + (OSL - 1) x TPOT = {} + {} x {} = {}",
        headline.ttft.print(),
        decimal(f64::from(setup.osl.saturating_sub(1))),
        tpot.print(),
        headline.e2e.print(),
    );
    Block::fold("e2e", format!("E2E {}", headline.e2e.print()), vec![Block::text(text)])
}

fn throughput(setup: &Setup, headline: &Headline) -> Block {
    let gpus = f64::from(setup.gpus_per_replica() * setup.replicas);
    let per_s = |value: f64| format!("{} per second", count(value));
    let mut lines = vec![format!(
        "Output = requests x OSL = {} x {} = {} tokens per second",
        per_s(headline.requests_per_s),
        decimal(f64::from(setup.osl)),
        count(headline.output_per_s),
    )];
    if !matches!(setup.load, Load::Batch(_)) {
        lines.push(format!(
            "Little's law: in flight on a replica = requests of a replica x E2E = {} x {} = {}",
            per_s(headline.requests_per_s / f64::from(setup.replicas.max(1))),
            headline.e2e.print(),
            count(headline.running + headline.waiting),
        ));
    }
    lines.push(format!(
        "Per GPU: {} / {} GPUs = {} tokens per second",
        count(headline.output_per_s),
        decimal(gpus),
        count(headline.output_per_s_per_gpu),
    ));
    lines.push(format!(
        "Input and output: requests x (ISL + OSL) = {} tokens per second",
        count(headline.total_per_s)
    ));
    let name = format!("Output {} tok/s", count(headline.output_per_s));
    Block::fold("throughput", name, lines.into_iter().map(Block::text).collect())
}

fn cost(setup: &Setup, headline: &Headline) -> Option<Block> {
    let (cost, price) = (headline.dollars_per_million?, setup.price?);
    let gpus = f64::from(setup.gpus_per_replica() * setup.replicas);
    let text = format!(
        "price x GPUs / 3600 s / output = {} per hour x {} / 3600 s / {} tok/s = {} per million output tokens. The price is \
         the catalog's typical one, or yours.",
        Dollars(price).print(),
        decimal(gpus),
        count(headline.output_per_s),
        cost.print(),
    );
    Some(Block::fold("cost", format!("Per million output tokens {}", cost.print()), vec![Block::text(text)]))
}

/// MFU and MBU of a pass.
fn shares(setup: &Setup, pass: &PassReport) -> Block {
    let (phase, id) = match pass.phase {
        Phase::Prefill => ("prefill", "limit-prefill"),
        Phase::Decode => ("decode", "limit-decode"),
    };
    let mut blocks = vec![Block::text(&pass.sentence)];
    if let Ok(peak) = setup.gpu.peak(setup.weights) {
        let flops = pass.kernels.iter().map(|kernel| kernel.flops.0 * kernel.count as f64).sum::<f64>();
        blocks.push(Block::text(format!(
            "MFU = FLOP of all kernels / (step x dense peak{}) = {} / ({} x {}) = {}",
            stages(setup),
            crate::units::Flops(flops).print(),
            pass.time.print(),
            peak.print(),
            percent(pass.mfu),
        )));
    }
    if let Ok(bandwidth) = setup.gpu.bandwidth() {
        let touched = Bytes(pass.mbu * pass.time.0 * bandwidth.0 * f64::from(setup.pp));
        blocks.push(Block::text(format!(
            "MBU = weight and KV bytes touched / (step x peak bandwidth{}) = {} / ({} x {}) = {}",
            stages(setup),
            touched.print(),
            pass.time.print(),
            bandwidth.print(),
            percent(pass.mbu),
        )));
    }
    Block::fold(id, format!("What limits {phase}, MFU and MBU"), blocks)
}

fn stages(setup: &Setup) -> String {
    if setup.pp > 1 { format!(" x {} stages", setup.pp) } else { String::new() }
}

/// How far such predictions were from what was measured.
pub fn trust(setup: &Setup, accuracy: &Accuracy) -> Block {
    let said = |name: &str, group: &Group| {
        let [ttft, tpot] = group.errors[..] else { return Row::default() };
        let error = |error: crate::serving::accuracy::Error| format!("{} %", fixed(error.median, 0));
        Row::texts([name.to_owned(), count(f64::from(group.cases)), error(ttft), error(tpot)])
    };
    let groups = [
        ("All", accuracy.closed_loops("all", "")),
        (&*setup.engine.name, accuracy.closed_loops("engine", &setup.engine.id)),
        (&*setup.gpu.name, accuracy.closed_loops("gpu", &setup.gpu.id)),
    ];
    let rows = groups.iter().filter_map(|(name, group)| group.map(|group| said(name, group))).collect();
    let mut blocks = vec![
        Block::text("Median errors of measured runs of clients, in per cent of what was measured."),
        Block::table("Measured runs", &["Of", "Runs", "TTFT", "TPOT"], rows),
    ];
    if let [ttft, tpot] = accuracy.factors[..] {
        let text = format!(
            "80 % of them lie within a factor of {} by TTFT and {} by TPOT.",
            fixed(ttft, 2),
            fixed(tpot, 2)
        );
        blocks.push(Block::text(text));
    }
    if accuracy.closed_loops("gpu", &setup.gpu.id).is_none() {
        blocks.push(Block::text(format!(
            "No run was measured on {}: its errors are not known.",
            setup.gpu.name
        )));
    }
    Block::fold("trust", "How far such numbers are off", blocks)
}

pub fn memory(setup: &Setup, memory: &Memory) -> Block {
    let row = |name: &str, bytes: Bytes| Row::texts([name.to_owned(), bytes.print().to_string()]);
    let rows = vec![
        row("Device memory", memory.total),
        row("What the engine may use", memory.usable),
        row("Weights of the fullest GPU", memory.weights),
        row("Activations of the largest step", memory.activations),
        row("CUDA context, graphs, communication buffers", memory.reserve),
        row("Room for the KV cache", memory.kv_room),
        row("KV cache at this load", memory.kv_needed),
        row("KV cache of one token on one GPU", memory.kv_per_token),
    ];
    let share = percent(setup.memory_share);
    let rule = match setup.engine.scheduler.memory_share_of {
        MemoryShareOf::Total => {
            format!("Room for the KV cache = {share} of the memory - weights - activations - reserve.")
        }
        MemoryShareOf::Static => format!(
            "Room for the KV cache = {share} of the memory - weights, and no more than activations and reserve leave."
        ),
        MemoryShareOf::Free => {
            format!("Room for the KV cache = {share} of what weights, activations and reserve leave.")
        }
    };
    let tokens = format!(
        "A replica's cache holds {} tokens: {} sequences of full length.",
        count(memory.kv_tokens),
        count(memory.max_concurrency.floor()),
    );
    let blocks = vec![
        Block::text(rule),
        Block::table("Memory of the fullest GPU", &["Part", "Bytes"], rows),
        Block::text(tokens),
    ];
    Block::fold("memory", "Memory", blocks)
}
