//! The command of a container, in a compose file or a Kubernetes manifest.
//!
//! Not a YAML parser: it looks for the keys that hold a command's words, in the few forms they come in.

use super::variables::Variables;

/// Keys, in the order in which their words form the command.
const KEYS: [&str; 4] = ["image", "entrypoint", "command", "args"];

/// A line that starts one of the keys: its indent, its key and the rest of the line.
fn entry(line: &str) -> Option<(usize, usize, &str)> {
    let indent = line.len() - line.trim_start().len();
    let rest = line.trim_start();
    let (dash, rest) = rest.strip_prefix("- ").map_or((0, rest), |rest| (2, rest.trim_start()));
    let (key, value) = rest.split_once(':')?;
    let place = KEYS.iter().position(|known| *known == key.trim())?;
    (value.is_empty() || value.starts_with(char::is_whitespace)).then(|| (indent + dash, place, value.trim()))
}

/// What a manifest says of a server beside its command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ManifestFacts {
    /// Copies of it; `None` if none or several different numbers are given.
    pub replicas: Option<u32>,
    /// What its nodes' labels say of their GPU.
    pub gpus: Vec<String>,
    /// GPUs that its containers are given, all the numbers found.
    pub limits: Vec<u32>,
    /// Its containers' environment.
    pub variables: Variables,
    /// Lines that set these, but cannot be read.
    pub unread: Vec<String>,
}

/// The labels by which NVIDIA's operator, GKE, Karpenter and EKS give a node's GPU, or the type of its machine.
const GPU_LABELS: [&str; 5] = [
    "nvidia.com/gpu.product",
    "cloud.google.com/gke-accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
    "eks.amazonaws.com/instance-gpu-name",
    "node.kubernetes.io/instance-type",
];

/// Reads the lines around a container's command.
pub fn manifest(text: &str) -> ManifestFacts {
    let mut manifest = ManifestFacts::default();
    let (mut copies, mut on_gpus, mut name) = (Vec::new(), false, String::new());
    // A mapping in braces has several on one line.
    let entries = |line| str::split(uncommented(line), ", ").flat_map(|part| part.split(" {"));
    for entry in text.lines().flat_map(entries) {
        let entry = entry.trim().trim_start_matches("- ");
        let entry = if entry.contains("${") { entry } else { entry.trim_end_matches(['}', ' ']) };
        let (key, value) = entry.split_once(": ").unwrap_or(("", entry));
        let value = unquoted(value.trim_matches(['[', ']', ' '])).to_owned();
        match unquoted(key) {
            // The values of an expression on a label are beside or below their key.
            "key" => on_gpus = GPU_LABELS.contains(&&*value),
            "operator" => on_gpus &= value == "In",
            "" if value.ends_with(':') => on_gpus &= value == "values:",
            "" | "values" if on_gpus && !manifest.gpus.contains(&value) => manifest.gpus.push(value),
            "" | "values" => {}
            "name" => (name, on_gpus) = (value, false),
            "value" if !name.is_empty() => manifest.variables.set(std::mem::take(&mut name), value),
            // Of a pod, and of Dynamo's workers.
            "nvidia.com/gpu" | "amd.com/gpu" | "gpu.intel.com/xe" | "gpu" => {
                manifest.limits.extend(value.parse::<u32>());
            }
            // Of a compose file's service.
            "count" if text.contains("devices:") => manifest.limits.extend(value.parse::<u32>()),
            "replicas" if !copies.contains(&value) => copies.push(value),
            key if GPU_LABELS.contains(&key) && !manifest.gpus.contains(&value) => {
                manifest.gpus.push(value);
            }
            _ => on_gpus = false,
        }
    }
    manifest.replicas = copies.iter().filter(|_| copies.len() == 1).find_map(|copies| copies.parse().ok());
    if manifest.replicas.is_none() {
        manifest.unread.extend(copies.iter().map(|copies| format!("replicas: {copies}")));
    }
    manifest
}

/// The launch found in a text.
///
/// # Errors
/// If the text is a manifest that starts its server in another way: by a runtime's name, or from a chart's values.
pub fn served<T>(text: &str, found: Option<T>) -> Result<Option<T>, String> {
    let begins = |key: &str| text.lines().any(|line| line.trim_start().starts_with(key));
    // Values of vLLM's production stack name an image too, but no command.
    match begins("modelSpec:") || found.is_none() && begins("apiVersion:") {
        true => Err("no container here starts vLLM, SGLang or TensorRT-LLM with a command (a KServe runtime and a chart's \
                     values are not read): paste the launch command, such as `vllm serve MODEL`"
            .into()),
        false => Ok(found),
    }
}

/// The words of each container's command, or `None` if the text has no such key. Fails on an unclosed quotation mark.
pub fn words(text: &str, known: &Variables) -> Result<Option<Vec<Vec<String>>>, String> {
    let lines = text.lines().map(uncommented);
    let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    let mut containers: Vec<(usize, [Option<Vec<String>>; KEYS.len()])> = Vec::new();
    let mut is_within = false;
    for (at, line) in lines.iter().enumerate() {
        let own = line.len() - line.trim_start().len();
        // A line further to the left ends a container.
        is_within &= containers.last().is_some_and(|(indent, _)| own >= *indent);
        let Some((indent, place, value)) = entry(line) else { continue };
        if !is_within {
            containers.push((indent, Default::default()));
            is_within = true;
        }
        let Some((of, keys)) = containers.last_mut() else { continue };
        // Deeper keys are those of its probes.
        if *of != indent || keys[place].is_some() {
            continue;
        }
        let below = lines.get(at + 1..).unwrap_or_default();
        let deeper = |line: &&&str| {
            let own = line.len() - line.trim_start().len();
            own > indent || (own == indent && value.is_empty() && line.trim_start().starts_with("- "))
        };
        let below: Vec<&str> = below.iter().take_while(deeper).copied().collect();
        keys[place] = Some(value_words(value, &below)?);
    }
    let commands = containers
        .into_iter()
        .map(|(_, keys)| keys)
        .filter(|[_, rest @ ..]| rest.iter().any(Option::is_some));
    let all: Vec<Vec<String>> = commands
        .map(|keys| super::find::unwrapped_all(keys.into_iter().flatten().flatten().collect(), known))
        .collect();
    Ok(Some(all).filter(|all| !all.is_empty()))
}

/// A line without its comment.
pub fn uncommented(line: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, letter) in line.char_indices() {
        quote = match quote {
            None if letter == '#' && before.is_whitespace() => return &line[..at],
            None if matches!(letter, '"' | '\'') && !before.is_alphanumeric() => Some(letter),
            Some(open) if open == letter => None,
            other => other,
        };
        before = letter;
    }
    line
}

fn value_words(value: &str, below: &[&str]) -> Result<Vec<String>, String> {
    if value.starts_with('[') {
        let whole = std::iter::once(value).chain(below.iter().copied()).collect::<Vec<_>>().join(" ");
        let whole = whole.trim_start_matches('[');
        return list(whole.rsplit_once(']').map_or(whole, |(inner, _)| inner));
    }
    if value.is_empty() {
        return items(below);
    }
    let folded = value.starts_with(['|', '>']);
    let first = if folded { "" } else { value };
    let whole = std::iter::once(first).chain(below.iter().map(|line| line.trim())).collect::<Vec<_>>();
    let whole = whole.join(" ").replace("\\ ", " ");
    shell(unquoted(whole.trim()))
}

/// `"--model", "x"`: words between commas, quoted or not.
fn list(text: &str) -> Result<Vec<String>, String> {
    // A quoted comma belongs to the word.
    let mut spaced = String::new();
    let mut quote = None;
    for letter in text.chars() {
        quote = match quote {
            None if letter == '"' || letter == '\'' => Some(letter),
            Some(open) if open == letter => None,
            other => other,
        };
        spaced.push(if letter == ',' && quote.is_none() { ' ' } else { letter });
    }
    shell(&spaced)
}

/// One word per item; an item that holds a whole command is split later.
fn items(below: &[&str]) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut block = None;
    for line in below.iter().map(|line| line.trim()) {
        match (line.strip_prefix("- "), words.last_mut()) {
            (Some(item), _) if block.is_none() || item.starts_with('-') => {
                let item = item.trim();
                block = item.chars().next().filter(|mark| ['|', '>'].contains(mark));
                words.push(if block.is_some() { String::new() } else { item.to_owned() });
            }
            (_, Some(last)) => {
                // A literal block keeps its lines: each is a command, unless it holds more options of the one before.
                let continued = last.strip_suffix('\\').map(str::len);
                last.truncate(continued.unwrap_or(last.len()));
                let is_command = block == Some('|') && continued.is_none() && !line.starts_with('-');
                last.push(if is_command { '\n' } else { ' ' });
                last.push_str(line);
            }
            _ => {}
        }
    }
    // `- --tp 4` means two words.
    let whole = words.iter().map(|word| unquoted(word.trim().trim_end_matches('\\')));
    let apart = whole.flat_map(|word| match word.split_once(' ') {
        Some((flag, value)) if flag.starts_with('-') && !flag.contains('=') => {
            vec![flag.to_owned(), unquoted(value.trim()).to_owned()]
        }
        _ => vec![word.to_owned()],
    });
    Ok(apart.collect())
}

fn shell(text: &str) -> Result<Vec<String>, String> {
    shlex::split(text).ok_or_else(|| "a quotation mark is not closed: add it".to_owned())
}

pub fn unquoted(text: &str) -> &str {
    let inner =
        |quote: char| text.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.contains(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}
