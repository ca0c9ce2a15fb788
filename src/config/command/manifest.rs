//! What a text says besides the launch command: replicas and GPU in a manifest, and the load of a benchmark.

use super::apply::OtherSettings;
use super::flags::{Flag, of_words};
use super::yaml::ManifestFacts;
use crate::config::names::of_node;
use crate::config::{Field, Issue, Lengths, Load, Scenario, Shape, SpecSheet, mean_of};

/// Number of requests in a benchmark that does not state one.
const PROMPTS: u32 = 1000;
/// Tokens of its random prompts and outputs.
const LENGTHS: [f64; 2] = [1024.0, 128.0];

/// Flags of a benchmark that change no load.
const IDLE: [&str; 15] = [
    "backend",
    "endpoint",
    "dataset_path",
    "base_url",
    "host",
    "port",
    "model",
    "tokenizer",
    "served_model_name",
    "seed",
    "percentile_metrics",
    "metric_percentiles",
    "ignore_eos",
    "save_result",
    "result_dir",
];

impl OtherSettings {
    /// Each replica of a manifest runs the command.
    pub fn apply_manifest(&mut self, scenario: &mut Scenario, manifest: &ManifestFacts) {
        scenario.replicas = scenario.replicas.saturating_mul(manifest.replicas.unwrap_or(1).max(1));
        let Some(label) = manifest.gpus.first() else { return };
        let named: Option<Vec<_>> = manifest.gpus.iter().map(|label| of_node(label)).collect();
        match named.as_deref() {
            Some([gpu, others @ ..]) if others.iter().all(|other| other.id == gpu.id) => {
                if gpu.id != scenario.gpu {
                    self.issues.push(Issue::note(Field::Gpu, format!("the nodes have {}", gpu.name)));
                    (scenario.gpu, scenario.spec) = (gpu.id.clone(), SpecSheet::default());
                }
            }
            _ if manifest.gpus.len() > 1 => {
                let text = format!(
                    "the manifest selects nodes with {}: keep one of them",
                    manifest.gpus.join(" and ")
                );
                self.issues.push(Issue::error(Field::Gpu, text));
            }
            // The form shows it, and what is wrong with it.
            _ => (scenario.gpu, scenario.spec) = (label.clone(), SpecSheet::default()),
        }
    }

    /// The load of `vllm bench serve`.
    pub fn bench(&mut self, scenario: &mut Scenario, words: &[String]) {
        if words.is_empty() {
            return;
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (mut clients, mut rate, mut prompts, mut burstiness, mut prefix) = (None, None, None, None, 0);
        let (mut prompt, mut output, mut spread, mut data_set, mut is_open) =
            (None, None, 0.0, "random", false);
        let (given, others) = of_words(&words);
        let workload = &mut scenario.workload;
        for flag in &given {
            match flag.name.as_str() {
                // Of a loop over several loads.
                name if flag.value.as_deref().is_some_and(|value| value.contains('$')) => {
                    match name {
                        "max_concurrency" | "request_rate" => is_open = true,
                        "random_input_len" | "input_len" => prompt = Some(None),
                        "random_output_len" | "output_len" => output = Some(None),
                        _ => {}
                    }
                    self.unknown(flag);
                }
                "random_input_len" | "input_len" => prompt = Some(self.whole(Field::Isl, flag)),
                "random_output_len" | "output_len" => output = Some(self.whole(Field::Osl, flag)),
                "random_prefix_len" => prefix = self.whole(Field::Isl, flag).unwrap_or(0),
                "random_range_ratio" if flag.number().is_some() => spread = flag.number().unwrap_or(0.0),
                "max_concurrency" => clients = self.whole(Field::Concurrency, flag),
                "num_prompts" => prompts = self.whole(Field::Requests, flag),
                "burstiness" if flag.number().is_some() => burstiness = flag.number(),
                "request_rate" => rate = flag.number().filter(|rate| rate.is_finite()),
                "dataset_name" => data_set = flag.value.as_deref().unwrap_or_default(),
                idle if IDLE.contains(&idle) => {}
                _ => self.unknown(flag),
            }
        }
        self.unknown.extend(others.into_iter().map(str::to_owned));
        let shape = (data_set == "sharegpt").then_some(Shape::Sharegpt);
        let implied = match (data_set, shape) {
            (_, Some(shape)) => shape.tables().map(|table| Some(mean_of(table).round())),
            ("random", _) => LENGTHS.map(Some),
            (other, _) => {
                self.unknown.push(format!("--dataset-name {other}"));
                [None; 2]
            }
        };
        let stated =
            |stated: Option<Option<u32>>, implied| stated.map_or(implied, |tokens| tokens.map(f64::from));
        let (prompt, output) = (stated(prompt, implied[0]), stated(output, implied[1]));
        if prompt.is_some() || output.is_some() {
            workload.set_mean_prompt(prompt);
            workload.set_mean_output(output);
            // What was chosen before was of other lengths.
            (workload.shape, workload.spread, workload.log_spread) = (shape, spread, [0.0; 2]);
        }
        if let (1.., Lengths::Fixed(own)) = (prefix, &workload.isl) {
            let all = own.saturating_add(prefix);
            (workload.cached_share, workload.isl) = (f64::from(prefix) / f64::from(all), Lengths::Fixed(all));
        }
        match (rate, clients) {
            _ if is_open => return,
            (Some(rate), clients) => {
                self.unknown.extend(
                    clients.map(|most| format!("--max-concurrency {most}` beside `--request-rate {rate}")),
                );
                workload.arrive(rate, burstiness.or(Some(1.0)));
            }
            (None, Some(clients)) => workload.load = Load::Concurrency(clients),
            (None, None) => workload.load = Load::Burst(prompts.unwrap_or(PROMPTS)),
        }
        match prompts.filter(|_| !matches!(workload.load, Load::Burst(_))) {
            None => workload.run_of(PROMPTS),
            stated => workload.requests = stated,
        }
    }

    /// A cache that is off finds nothing, whatever share was set before; one that is turned on may have nothing to
    /// find.
    pub fn prefixes(&mut self, scenario: &mut Scenario, given: &[Flag]) {
        let workload = &mut scenario.workload;
        // The last of them counts.
        let is_on = given.iter().rev().find_map(|flag| match flag.name.as_str() {
            "enable_prefix_caching" | "enable_block_reuse" => Some(flag.on()),
            "no_enable_prefix_caching" | "disable_radix_cache" => Some(!flag.on()),
            _ => None,
        });
        let of_sessions = workload.load.is_sessions() && workload.turns.history_cached > 0.0;
        let finds = workload.cached_share > 0.0 || of_sessions;
        if finds && is_on == Some(false) {
            workload.cached_share = 0.0;
            if of_sessions {
                workload.turns.history_cached = 0.0;
            }
            let text = "the command turns the prefix cache off: no part of a prompt is cached";
            self.issues.push(Issue::note(Field::CachedShare, text));
        }
        if !finds && given.iter().any(|flag| flag.name == "enable_prefix_caching") && is_on == Some(true) {
            let text = "no shared prefixes are assumed, so the prefix cache has no effect: enter the share of each \
                        prompt that it serves";
            self.issues.push(Issue::note(Field::CachedShare, text));
        }
    }
}
