//! The load that a benchmark beside the launch command sends.

use super::apply::CommandReader;
use super::flags::{Flag, of_words};
use crate::config::catalog::numbers::requests::constants;
use crate::config::{Field, Issue, Lengths, Load, Scenario, Shape, Slos, mean_of};
use crate::units::percent;

/// A benchmark whose load is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// `vllm bench serve`.
    Vllm,
    /// `benchmark_serving.py`, which became it.
    Script,
    /// `vllm bench throughput`, formerly `benchmark_throughput.py`, which queues all prompts in the engine itself.
    VllmOffline,
    /// `python -m sglang.bench_serving`.
    Sglang,
}

/// Flags of a benchmark that change no load.
const IDLE: &str = "backend endpoint dataset_path base_url host port model tokenizer served_model_name seed \
                    percentile_metrics metric_percentiles ignore_eos save_result result_filename \
                    trust_remote_code result_dir output_file warmup_requests";
/// Flags of the tokens of random prompts and outputs, and their inputs.
const LENGTHS: [(&[&str], Field); 2] = [
    (&["random_input_len", "random_input", "input_len"], Field::Isl),
    (&["random_output_len", "random_output", "output_len"], Field::Osl),
];

impl Client {
    /// The data set if none is named, and the tokens of random prompts and outputs.
    fn defaults(self) -> (&'static str, [f64; 2]) {
        match self {
            Self::Vllm | Self::VllmOffline => ("random", [1024.0, 128.0]),
            Self::Script => ("sharegpt", [1024.0, 128.0]),
            Self::Sglang => ("sharegpt", [1024.0, 1024.0]),
        }
    }

    /// What a `--random-range-ratio` says: the mean as a share of the length given, and the spread around it.
    fn range(self, ratio: f64) -> (f64, f64) {
        match self {
            // As much below as above. Scripts of early 2025, and those derived from them, take the other meaning, which alone
            // allows 1.
            Self::Vllm | Self::VllmOffline | Self::Script if ratio < 1.0 => (1.0, ratio),
            // From this share of the length to all of it.
            _ => {
                let least = ratio.clamp(0.0, 1.0);
                ((1.0 + least) / 2.0, (1.0 - least) / (1.0 + least))
            }
        }
    }
}

/// What a benchmark's flags say.
#[derive(Default)]
struct Sent<'a> {
    data_set: &'a str,
    /// Tokens of random prompts and outputs, where stated; a loop over several states none.
    lengths: [Option<Option<u32>>; 2],
    ratio: f64,
    prefix: u32,
    clients: Option<u32>,
    rate: Option<f64>,
    burstiness: Option<f64>,
    prompts: Option<u32>,
    slos: Option<Slos>,
    /// Whether it is a loop over several loads.
    sweeps_loads: bool,
}

impl CommandReader {
    /// The load that `client` sends with these arguments.
    pub fn bench(&mut self, scenario: &mut Scenario, client: Client, arguments: &[String]) {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (given, others) = of_words(&words);
        let (data_set, lengths) = client.defaults();
        let mut sent = Sent { data_set, ..Sent::default() };
        given.iter().for_each(|flag| self.sent(&mut sent, flag));
        self.unknown.extend(others.into_iter().map(str::to_owned));
        self.lengths(scenario, client, &sent, lengths);
        let workload = &mut scenario.workload;
        workload.slos = sent.slos.unwrap_or(workload.slos);
        let Sent { rate, clients, prompts, .. } = sent;
        let unstated = constants().at_rate as u32;
        // Clients alone are the load.
        workload.max_in_flight = clients.filter(|_| rate.is_some());
        match (rate, clients) {
            _ if sent.sweeps_loads => return,
            _ if client == Client::VllmOffline => {
                workload.load = Load::Offline(prompts.unwrap_or(unstated));
                workload.requests = None;
                return;
            }
            (Some(rate), _) => workload.arrive(rate, sent.burstiness.or(Some(1.0))),
            (None, Some(clients)) => workload.load = Load::Concurrency(clients),
            (None, None) => workload.load = Load::Burst(prompts.unwrap_or(unstated)),
        }
        match prompts.filter(|_| !matches!(workload.load, Load::Burst(_))) {
            None => workload.run_of(unstated),
            stated => workload.requests = stated,
        }
    }

    fn sent<'a>(&mut self, sent: &mut Sent<'a>, flag: &'a Flag) {
        let of_length = LENGTHS.iter().position(|(names, _)| names.contains(&&*flag.name));
        // The variable of a loop.
        if flag.value.as_deref().is_some_and(|value| value.contains('$')) {
            sent.sweeps_loads |= ["max_concurrency", "request_rate"].contains(&&*flag.name);
            if let Some(of) = of_length {
                sent.lengths[of] = Some(None);
            }
            return self.unknown(flag);
        }
        if let Some(of) = of_length {
            sent.lengths[of] = Some(self.whole(LENGTHS[of].1, flag));
            return;
        }
        match flag.name.as_str() {
            "random_prefix_len" => sent.prefix = self.whole(Field::Isl, flag).unwrap_or(0),
            "random_range_ratio" if flag.number().is_some() => sent.ratio = flag.number().unwrap_or(0.0),
            "max_concurrency" => sent.clients = self.whole(Field::Concurrency, flag),
            "num_prompts" | "num_prompt" => sent.prompts = self.whole(Field::Requests, flag),
            "burstiness" if flag.number().is_some() => sent.burstiness = flag.number(),
            "request_rate" if flag.number().is_some() => {
                sent.rate = flag.number().filter(|rate| rate.is_finite())
            }
            "goodput" if flag.value.as_deref().and_then(goodput).is_some() => {
                sent.slos = flag.value.as_deref().and_then(goodput);
            }
            "dataset_name" => sent.data_set = flag.value.as_deref().unwrap_or_default(),
            name if IDLE.split(' ').any(|idle| idle == name) => {}
            _ => self.unknown(flag),
        }
    }

    /// Sets the lengths of the data set, `random` being those of random ones unless stated.
    fn lengths(&mut self, scenario: &mut Scenario, client: Client, sent: &Sent<'_>, random: [f64; 2]) {
        let stated = sent.lengths.map(|stated| stated.map(|tokens| tokens.map(f64::from)));
        let (shape, spread, lengths) = match sent.data_set {
            "sharegpt" => {
                (Some(Shape::Sharegpt), 0.0, Shape::Sharegpt.tables().map(|table| Some(mean_of(table))))
            }
            "random" | "random-ids" => {
                let (share, spread) = client.range(sent.ratio);
                let mean = |of: usize| stated[of].unwrap_or(Some(random[of])).map(|tokens| tokens * share);
                (None, spread, [mean(0), mean(1)])
            }
            other => {
                self.unknown.push(format!("--dataset-name {other}"));
                (None, 0.0, stated.map(Option::flatten))
            }
        };
        if lengths == [None; 2] {
            return;
        }
        let widest = Field::Spread.input().number.map_or(1.0, |number| number.range.max);
        if spread > widest {
            let text = format!("lengths from 0 up are read as within {} of their mean", percent(widest));
            self.issues.push(Issue::note(Field::Spread, text));
        }
        let workload = &mut scenario.workload;
        let [prompt, output] = lengths.map(|tokens| tokens.map(f64::round));
        workload.set_mean_prompt(prompt);
        workload.set_mean_output(output);
        // What was chosen before was of other lengths.
        (workload.shape, workload.spread, workload.log_spread) = (shape, spread.min(widest), [0.0; 2]);
        workload.cached_share = 0.0;
        if let (1.., Lengths::Fixed(own)) = (sent.prefix, &workload.isl) {
            let all = own.saturating_add(sent.prefix);
            let share = f64::from(sent.prefix) / f64::from(all);
            (workload.cached_share, workload.isl) = (share, Lengths::Fixed(all));
        }
    }
}

/// The limits of `--goodput ttft:500 tpot:30`, in milliseconds.
fn goodput(text: &str) -> Option<Slos> {
    let mut slos = Slos::default();
    for pair in text.split_whitespace() {
        let (metric, limit) = pair.split_once(':')?;
        let limit = limit.parse().ok().filter(|limit: &f64| limit.is_finite());
        match metric {
            "ttft" => slos.ttft_ms = Some(limit?),
            "tpot" => slos.tpot_ms = Some(limit?),
            "e2el" => slos.e2e_ms = Some(limit?),
            _ => return None,
        }
    }
    Some(slos)
}

#[cfg(test)]
mod tests {
    use crate::config::{Issue, command, link};

    fn read(text: &str) -> (String, Vec<String>) {
        let (scenario, issues) = command::read(text, &Default::default()).expect("a command");
        let texts = issues.into_iter().filter(|issue| issue.severity != crate::config::Severity::Note);
        (
            scenario.map(|scenario| link::encode(&scenario)).unwrap_or_default(),
            texts.map(|issue: Issue| issue.text).collect(),
        )
    }

    #[test]
    fn limits_of_goodput_are_read() {
        let bench = "vllm bench serve --model Qwen/Qwen3-8B --max-concurrency 8 --goodput";
        let of = |limits: &str| read(&format!("vllm serve Qwen/Qwen3-8B\n{bench} {limits}"));
        let (link, issues) = of("ttft:500 tpot:30 e2el:9000");
        assert!(link.contains("&st=500&sp=30&se=9000") && issues.is_empty(), "{link} {issues:?}");
        assert!(of("itl:3").1[0].contains("--goodput itl:3"));
    }

    #[test]
    fn benchmarks_that_are_not_read_are_listed() {
        for bench in [
            "python benchmark_serving_multi_turn.py --num-clients 8",
            "python -m sglang.bench_offline_throughput --num-prompts 10",
            "genai-bench benchmark --num-concurrency 8",
            "evalscope perf --parallel 4",
        ] {
            let (_, issues) = read(&format!("vllm serve Qwen/Qwen3-8B\n{bench}"));
            assert!(issues.concat().contains(bench.split(' ').next_back().unwrap()), "{bench}: {issues:?}");
        }
        let (link, issues) = read(
            "trtllm-serve Qwen/Qwen3-8B\npython -m tensorrt_llm.serve.scripts.benchmark_serving --dataset-name random \
             --random-input-len 300 --random-output-len 50 --max-concurrency 256",
        );
        assert!(link.contains("isl=300&osl=50&c=256") && issues.is_empty(), "{link} {issues:?}");
    }
}
