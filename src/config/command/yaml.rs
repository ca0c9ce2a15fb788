//! The command of a container, in a compose file or a Kubernetes manifest.
//!
//! Not a YAML parser: it looks for the keys that hold a command's words, in the few forms they come in.

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
    let mut copies = Vec::new();
    // A mapping in braces has several on one line.
    let within =
        |line| str::split_once(line, ": {").map_or(line, |(_, inner)| inner.trim_end().trim_end_matches('}'));
    for entry in text.lines().flat_map(|line| within(line).split(", ")) {
        let Some((key, value)) = entry.trim().split_once(": ") else { continue };
        let value = unquoted(value.split(" #").next().unwrap_or_default().trim()).to_owned();
        match unquoted(key) {
            "replicas" if !copies.contains(&value) => copies.push(value),
            key if GPU_LABELS.contains(&key) && !manifest.gpus.contains(&value) => {
                manifest.gpus.push(value);
            }
            _ => {}
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

/// The words of the command, or `None` if the text has no such key. Fails on an unclosed quotation mark.
pub fn words(text: &str) -> Result<Option<Vec<String>>, String> {
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#')).collect();
    let mut of_keys: [Option<Vec<String>>; KEYS.len()] = Default::default();
    for (at, line) in lines.iter().enumerate() {
        let Some((indent, place, value)) = entry(line) else { continue };
        // Only the first container is read.
        if of_keys[place].is_some() {
            continue;
        }
        let below = lines.get(at + 1..).unwrap_or_default();
        let deeper = |line: &&&str| {
            let own = line.len() - line.trim_start().len();
            own > indent || (own == indent && value.is_empty() && line.trim_start().starts_with("- "))
        };
        let below: Vec<&str> = below.iter().take_while(deeper).copied().collect();
        of_keys[place] = Some(value_words(value, &below)?);
    }
    let [_, entrypoint, command, arguments] = &of_keys;
    if entrypoint.is_none() && command.is_none() && arguments.is_none() {
        return Ok(None);
    }
    Ok(Some(super::find::unwrapped_all(of_keys.into_iter().flatten().flatten().collect())))
}

fn value_words(value: &str, below: &[&str]) -> Result<Vec<String>, String> {
    if value.starts_with('[') {
        let whole = std::iter::once(value).chain(below.iter().copied()).collect::<Vec<_>>().join(" ");
        let inner = whole.trim_start_matches('[').split(']').next().unwrap_or_default().to_owned();
        return list(&inner);
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
    let mut block = false;
    for line in below.iter().map(|line| line.trim()) {
        match line.strip_prefix("- ") {
            Some(item) if !block || item.starts_with('-') => {
                block = item.trim().starts_with(['|', '>']);
                words.push(if block { String::new() } else { unquoted(item.trim()).to_owned() });
            }
            _ => {
                if let Some(last) = words.last_mut() {
                    last.push_str(line.trim_end_matches('\\'));
                    last.push(' ');
                }
            }
        }
    }
    // `- --tp 4` means two words.
    let apart = words.into_iter().flat_map(|word| match word.split_once(' ') {
        Some((flag, value)) if flag.starts_with('-') && !flag.contains('=') => {
            vec![flag.to_owned(), unquoted(value.trim()).to_owned()]
        }
        _ => vec![word],
    });
    Ok(apart.collect())
}

fn shell(text: &str) -> Result<Vec<String>, String> {
    shlex::split(text).ok_or_else(|| "a quotation mark is not closed: add it".to_owned())
}

fn unquoted(text: &str) -> &str {
    let inner =
        |quote: char| text.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.contains(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}
