//! What visitors paste for the model: files, a name or a command.

use super::measured::paste;
use super::model::import::import_files;
use super::names::settle;
use super::{Field, Issue, ModelChoice, Scenario, command};
use crate::config::names::last_part;

/// Reads a `config.json`, optionally followed by `hf_quant_config.json`, a published name, or a launch command; of a
/// benchmark's command alone, the load.
/// Everything else stays as on the `form`.
///
/// If there is no scenario, the issues hold at least one error.
pub fn read(text: &str, form: Scenario) -> (Option<Scenario>, Vec<Issue>) {
    if let Some(read) = command::read(text, &form) {
        return read;
    }
    if let Some(what) = measures(text, &form) {
        if what == COMMAND
            && let Some((scenario, mut issues)) = command::read_load(text, &form)
        {
            let text = "only the load of the benchmark is read";
            issues.push(Issue::note(Field::Load, text));
            return (Some(scenario), issues);
        }
        let text = format!("this looks like {what}, not like a model: {PLACE}");
        return (None, vec![Issue::error(Field::Model, text)]);
    }
    let name = text.trim();
    if name.is_empty() {
        let text = "the text is empty: give a config.json, a name or a launch command";
        return (None, vec![Issue::error(Field::Model, text)]);
    }
    if name.contains(['{', '[', '"', '\n']) {
        let (model, mut issues) = import_files(text);
        match &model {
            // `check` repeats the notes of a model.
            Some(model) => {
                issues.retain(|issue| model.notes_in(model.weights).all(|note| *note != issue.text))
            }
            // Only the reasons for the refusal: the form keeps its own model.
            None => issues.retain(Issue::is_error),
        }
        let scenario = |model| Scenario { model: ModelChoice::Custom(Box::new(model)), ..form };
        return (model.map(scenario), issues);
    }
    // The format in the name, or the published one, unless the link with that name gives one.
    let weights = form.weights.filter(|_| form.model.id() == name);
    let mut scenario = Scenario { model: ModelChoice::Catalog(name.to_owned()), weights, ..form };
    let issues = settle(&mut scenario);
    let sound = !issues.iter().any(Issue::is_error);
    (sound.then_some(scenario), issues)
}

const PLACE: &str = "paste a benchmark's result under Your measured runs";

/// A benchmark's command, not its result.
const COMMAND: &str = "a benchmark's command";

/// Words that start a benchmark, in the order of its command.
pub(super) const BENCHMARKS: [&[&str]; 19] = [
    &["vllm", "bench"],
    &["benchmark_serving.py"],
    &["tensorrt_llm.serve.scripts.benchmark_serving"],
    &["benchmark_serving_multi_turn.py"],
    &["benchmark_latency.py"],
    &["benchmark_throughput.py"],
    &["sglang.bench_serving"],
    &["sglang.bench_offline_throughput"],
    &["sglang.bench_one_batch"],
    &["sglang.bench_one_batch_server"],
    &["trtllm-bench"],
    &["genai-perf"],
    &["aiperf"],
    &["guidellm"],
    &["inference-perf"],
    &["genai-bench"],
    &["token_benchmark_ray.py"],
    &["evalscope", "perf"],
    &["llmperf"],
];

/// What kind of text measures a server rather than describing a model: a benchmark's command or its output.
fn measures(text: &str, form: &Scenario) -> Option<&'static str> {
    let words: Vec<&str> = text.split_whitespace().map(last_part).collect();
    let begins = |command: &[&str]| words.windows(command.len()).any(|part| part == command);
    let (runs, _) = paste::runs(text, form);
    match runs.is_empty() {
        false => Some("a benchmark's result"),
        true if BENCHMARKS.iter().any(|command| begins(command))
            && words.iter().any(|word| word.starts_with("--")) =>
        {
            Some(COMMAND)
        }
        true => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Dtype, Severity, link};

    fn of(text: &str) -> (String, Vec<String>) {
        let (form, _) = link::decode("m=llama-3.1-8b&g=h200-sxm&tp=2&w=fp8&isl=77");
        let (scenario, issues) = read(text, form.scenario);
        let texts = issues.into_iter().filter(|issue| issue.severity != Severity::Note);
        (
            scenario.map(|scenario| link::encode(&scenario)).unwrap_or_default(),
            texts.map(|issue| issue.text).collect(),
        )
    }

    const CONFIG: &str = r#"{"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072}"#;

    #[test]
    fn each_kind_of_pasted_text_is_recognised() {
        assert_eq!(of("Qwen/Qwen3-8B-AWQ\n").0, "v=1&m=qwen3-8b&g=h200-sxm&tp=2&w=int4&isl=77");
        assert_eq!(of("vllm serve Qwen/Qwen3-8B -pp 2").0, "v=1&m=qwen3-8b&g=h200-sxm&pp=2&isl=77");
        let (form, _) = link::decode("m=Qwen/Qwen3-8B-AWQ&w=fp8");
        let (scenario, _) = read("Qwen/Qwen3-8B-AWQ", form.scenario);
        assert_eq!(scenario.map(|scenario| link::encode(&scenario)).as_deref(), Some("v=1&m=qwen3-8b&w=fp8"));
        assert!(of("some/Model-7B").1[0].contains("no model `some/Model-7B`"));
        assert!(of(" ").1[0].starts_with("the text is empty") && of("").1[0].contains("a name"));
        assert!(of("\"model_type\": \"llama\"").1[0].contains("JSON"));
        let (link, issues) = of(CONFIG);
        assert!(link.contains("&x=") && issues.is_empty(), "{issues:?}");
    }

    #[test]
    fn what_the_check_says_is_not_said_twice_and_a_refused_config_has_only_errors() {
        let noted = CONFIG.replace(r#""llama""#, r#""olmo2""#);
        let (scenario, issues) = read(&noted, Scenario::default());
        let scenario = scenario.unwrap_or_else(|| panic!("{issues:?}"));
        let own = import_files(&noted).0.expect("a model").notes;
        let (_, checked) = crate::config::check(&scenario, crate::config::catalog::catalog());
        for note in &own {
            assert!(issues.iter().all(|issue| issue.text != *note), "{issues:?}");
            assert!(checked.iter().any(|issue| issue.text == *note), "{checked:?}");
        }
        assert!(!own.is_empty());
        let twice = CONFIG
            .replace(r#""num_attention_heads": 32"#, r#""num_attention_heads": 30, "hidden_size": 4096"#);
        assert!(import_files(&twice).1.iter().any(|issue| !issue.is_error()));
        let (refused, issues) = read(&twice, Scenario::default());
        assert!(refused.is_none() && !issues.is_empty() && issues.iter().all(Issue::is_error), "{issues:?}");
    }

    #[test]
    fn a_benchmark_is_no_model_and_is_sent_to_its_place() {
        for text in [
            "============ Serving Benchmark Result ============\nMean TTFT (ms):  123.4\nMean TPOT (ms):  12.3\n",
            r#"{"mean_ttft_ms": 123.4, "mean_tpot_ms": 12.3, "max_concurrency": 16}"#,
            "concurrency,mean_ttft_ms\n16,123.4\n",
            "vllm bench latency --model Qwen/Qwen3-8B --batch-size 4",
            "guidellm benchmark --rate 4",
        ] {
            let (link, issues) = of(text);
            assert!(link.is_empty() && issues.len() == 1 && issues[0].contains(PLACE), "{text}: {issues:?}");
        }
    }

    #[test]
    fn a_benchmark_alone_changes_the_load() {
        let text = "vllm bench serve --model Qwen/Qwen3-8B --random-input-len 2000 --request-rate 4 --max-concurrency 32";
        let (link, issues) = of(text);
        assert_eq!(link, "v=1&g=h200-sxm&tp=2&w=fp8&isl=2000&osl=128&r=4&mc=32&np=1000");
        assert!(issues.is_empty(), "{issues:?}");
    }

    #[test]
    fn both_files_of_a_checkpoint_are_read() {
        let record = r#"{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}}"#;
        for text in [format!("{CONFIG}\n{record}"), format!("{record}\n\n{CONFIG}")] {
            let (scenario, issues) = read(&text, Scenario::default());
            let scenario = scenario.unwrap_or_else(|| panic!("{issues:?}"));
            assert_eq!(scenario.model.record().map(|model| model.weights), Some(Dtype::Nvfp4));
        }
        let (scenario, issues) = read(&format!("{CONFIG} {record} {{}}"), Scenario::default());
        assert!(scenario.is_none() && issues[0].text.starts_with("hf_quant_config.json: "), "{issues:?}");
    }
}
