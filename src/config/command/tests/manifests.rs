//! Compose files and Kubernetes manifests.

use super::*;

#[test]
fn containers_are_read() {
    let kubernetes = "apiVersion: apps/v1\nspec:\n  containers:\n  - name: vllm\n    image: vllm/vllm-openai:v0.11.0\n    args:\n    - --model=Qwen/Qwen3-8B\n    - --tensor-parallel-size\n    - \"2\"\n    - --max-num-seqs 64\n    ports:\n    - containerPort: 8000\n";
    let shell = "containers:\n- name: vllm\n  image: vllm/vllm-openai:latest\n  command: [\"/bin/sh\", \"-c\"]\n  args:\n  - \"vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2 --max-num-seqs 64\"\n";
    let block = "containers:\n- name: vllm\n  command: [\"/bin/sh\", \"-c\"]\n  args:\n  - |\n    vllm serve Qwen/Qwen3-8B \\\n      --tensor-parallel-size 2 --max-num-seqs 64\n";
    let compose = "services:\n  llm:\n    image: vllm/vllm-openai:latest\n    command: >\n      --model Qwen/Qwen3-8B\n      --tensor-parallel-size 2\n      --max-num-seqs 64\n    ports:\n      - 8000:8000\n";
    let flow = "services:\n  llm:\n    image: vllm/vllm-openai\n    command: [\"--model\", \"Qwen/Qwen3-8B\",\n      \"--tensor-parallel-size\", \"2\", \"--max-num-seqs\", \"64\"]\n";
    let commented = "services:\n  llm:\n    image: vllm/vllm-openai  # it's ours\n    command: # the server\n      - --model=Qwen/Qwen3-8B # 8B\n      - --tensor-parallel-size\n      - \"2\" # GPUs\n      - \"--max-num-seqs\n        64\"\n";
    let second = "services:\n  proxy:\n    image: nginx\n    command: [nginx, -g, 'daemon off;']\n  llm:\n    image: vllm/vllm-openai\n    command: --model Qwen/Qwen3-8B -tp 2 --max-num-seqs 64\n";
    let init = "spec:\n  initContainers:\n  - name: get\n    image: busybox\n    command: [sh, -c, wait]\n  containers:\n  - args: [\"--model=Qwen/Qwen3-8B\", \"-tp\", \"2\", \"--max-num-seqs\", \"64\"]\n    image: vllm/vllm-openai:v0.11.0\n    livenessProbe:\n      exec:\n        command: [curl, localhost]\n";
    let idle = "spec:\n  containers:\n  - image: vllm/vllm-openai\n    command: [sleep, infinity]\n  - image: vllm/vllm-openai\n    args: [--model, Qwen/Qwen3-8B, --tensor-parallel-size=2, --max-num-seqs=64]\n";
    let script = "containers:\n- name: vllm\n  command: [\"/bin/sh\", \"-c\"]\n  args:\n  - |\n    MODEL=Qwen/Qwen3-8B\n    vllm serve $MODEL \\\n      -tp 2\n      --max-num-seqs 64\n";
    for text in [kubernetes, shell, block, script, compose, flow, commented, second, init, idle] {
        assert_eq!(link_of(text), "v=1&m=qwen3-8b&tp=2&ms=64", "{text}");
    }
}

#[test]
fn variables_of_a_container_are_listed() {
    let container = |variables: &str| {
        format!("containers:\n- image: vllm/vllm-openai\n  args: [--model, Qwen/Qwen3-8B]\n{variables}")
    };
    for (variables, listed) in [
        (
            "  env:\n  - name: VLLM_USE_V1\n    value: '0'\n  - name: HF_TOKEN\n    value: x\n",
            "`VLLM_USE_V1`",
        ),
        ("  environment:\n    - VLLM_USE_V1=0\n", "`VLLM_USE_V1=0`"),
    ] {
        let (_, issues) = read_link(&container(variables)).expect("a command");
        assert_eq!(issues, [format!("not recognised and ignored: {listed}")]);
    }
}

#[test]
fn replicas_and_nodes_of_a_manifest_are_read() {
    let deployment = |replicas: &str, node: &str| {
        format!(
            "kind: Deployment\nspec:\n  {replicas}\n  template:\n    spec:\n      nodeSelector:\n        {node}\n      containers:\n      - image: vllm/vllm-openai:v0.11.0\n        args: [\"--model=Qwen/Qwen3-8B\", \"-tp\", \"2\"]\n"
        )
    };
    let product = "nvidia.com/gpu.product: NVIDIA-L40S";
    for node in [product, "nodeSelector: {nvidia.com/gpu.product: NVIDIA-L40S, zone: a}"] {
        assert_eq!(link_of(&deployment("replicas: 3", node)), "v=1&m=qwen3-8b&g=l40s&n=6&tp=2");
    }
    let gke = "cloud.google.com/gke-accelerator: nvidia-l4";
    assert_eq!(link_of(&deployment("replicas: 3", gke)), "v=1&m=qwen3-8b&g=l4&n=6&tp=2");
    let compose = "services:\n  llm:\n    image: vllm/vllm-openai\n    command: --model Qwen/Qwen3-8B\n    deploy:\n      replicas: 2\n";
    assert_eq!(link_of(compose), "v=1&m=qwen3-8b&n=2");
    for (replicas, node, listed) in [
        ("replicas: ${N}", product, "`replicas: ${N}`"),
        ("replicas: 3\n  replicas: 4", product, "`replicas: 3`, `replicas: 4`"),
    ] {
        let (_, issues) = read_link(&deployment(replicas, node)).expect("a command");
        assert_eq!(issues, [format!("not recognised and ignored: {listed}")]);
    }
}

#[test]
fn the_gpu_of_the_nodes_is_taken_or_asked_for() {
    let server = |nodes: &str| {
        format!("spec:\n  nodeSelector:\n{nodes}  containers:\n  - command: [vllm, serve, Qwen/Qwen3-8B]\n")
    };
    for (label, gpu) in [
        ("nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3", "h100-sxm"),
        ("nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB", "a100-sxm-80gb"),
        ("nvidia.com/gpu.product: NVIDIA-H100-PCIe", "h100-pcie"),
        ("nvidia.com/gpu.product: Tesla-T4", "t4"),
        ("cloud.google.com/gke-accelerator: nvidia-h100-80gb", "h100-sxm"),
        ("eks.amazonaws.com/instance-gpu-name: h100", "h100-sxm"),
        ("karpenter.k8s.aws/instance-gpu-name: l40s", "l40s"),
        ("node.kubernetes.io/instance-type: g6e.12xlarge", "l40s"),
        // Nothing may answer for the form's GPU in place of these.
        ("nvidia.com/gpu.product: NVIDIA-A10G", "NVIDIA-A10G"),
        ("node.kubernetes.io/instance-type: g5.xlarge", "g5.xlarge"),
        ("karpenter.k8s.aws/instance-gpu-name: a100", "a100"),
    ] {
        let onto = Scenario { gpu: "h200-sxm".into(), ..Scenario::default() };
        let (read, _) = read(&server(&format!("    {label}\n")), &onto).expect("a command");
        assert_eq!(read.expect("a scenario").gpu, gpu, "{label}");
    }
    for values in ["values: [\"NVIDIA-L40S\"]", "values:\n          - NVIDIA-L40S"] {
        let text = format!(
            "spec:\n  affinity:\n    nodeAffinity:\n      matchExpressions:\n        - key: nvidia.com/gpu.product\n          operator: In\n          {values}\n  containers:\n  - command: [vllm, serve, Qwen/Qwen3-8B]\n"
        );
        assert_eq!(link_of(&text), "v=1&m=qwen3-8b&g=l40s", "{text}");
        assert_eq!(link_of(&text.replace("In\n", "NotIn\n")), "v=1&m=qwen3-8b");
    }
    let both = "    nvidia.com/gpu.product: NVIDIA-L4\n    node.kubernetes.io/instance-type: p5.48xlarge\n";
    let (none, issues) = read(&server(both), &Scenario::default()).expect("a command");
    assert!(none.is_none() && issues.iter().any(|issue| issue.field == Field::Gpu && issue.is_error()));
}

#[test]
fn gpus_that_a_container_is_given_are_compared() {
    let pod = |limit: &str| {
        format!(
            "kind: Deployment\nspec:\n  replicas: 2\n  template:\n    spec:\n      containers:\n      - image: vllm/vllm-openai\n        args: [--model, Qwen/Qwen3-8B, -tp, \"4\"]\n        resources:\n          {limit}\n"
        )
    };
    let said = |text: &str| {
        let (link, issues) = read_link(text).expect("a command");
        assert!(link.starts_with("v=1&m=qwen3-8b"), "{link}");
        issues.concat()
    };
    for same in ["limits: {nvidia.com/gpu: 4}", "# limits: {nvidia.com/gpu: 8}"] {
        assert_eq!(said(&pod(same)), "");
    }
    assert_eq!(said(&pod("limits:\n            nvidia.com/gpu: \"4\"  # one node")), "");
    let idle =
        "the container is given 8 GPUs, and the command uses 4: the others are idle, and not counted here";
    assert_eq!(said(&pod("limits:\n            nvidia.com/gpu: \"8\"")), idle);
    assert!(said(&pod("limits: {cpu: 8, amd.com/gpu: 2}")).contains("given 2 GPUs, and the command uses 4"));
    let compose = "services:\n  llm:\n    image: vllm/vllm-openai\n    command: --model Qwen/Qwen3-8B\n    deploy:\n      resources:\n        reservations:\n          devices:\n            - driver: nvidia\n              count: 1\n              capabilities: [gpu]\n";
    assert_eq!(said(compose), "");
    assert_eq!(said(&compose.replace("count: 1", "count: all")), "");
    assert!(said(&compose.replace("count: 1", "count: 2")).contains("given 2 GPUs"));
}

#[test]
fn a_container_has_its_environment() {
    let pod = |env: &str| {
        format!(
            "containers:\n- image: lmsysorg/sglang\n  command: [python3, -m, sglang.launch_server]\n  args: [--model-path, deepseek-ai/DeepSeek-R1, --tp, $(TP), --dp, \"8\", --enable-dp-attention]\n  env:\n  {env}\n"
        )
    };
    for env in ["- {name: TP, value: \"8\"}", "- name: TP\n    value: \"8\""] {
        assert_eq!(link_of(&pod(env)), "v=1&m=deepseek-r1&dp=8&e=sglang");
    }
    let (_, issues) = read_link(&pod("- name: TP")).expect("a command");
    assert_eq!(issues, ["`--tp` is `$(TP)`: expected a whole number"]);
    let shell = "containers:\n- env:\n  - name: TP\n    value: '2'\n  command: [sh, -c]\n  args:\n  - SEQS=64; vllm serve Qwen/Qwen3-8B -tp $TP --max-num-seqs ${SEQS:-8}\n";
    assert_eq!(link_of(shell), "v=1&m=qwen3-8b&tp=2&ms=64");
}

/// A Dynamo deployment of services, by name, replicas, GPUs, and arguments.
fn dynamo(services: &[(&str, u32, u32, &str)]) -> String {
    let service = |(name, replicas, gpus, arguments): &(&str, u32, u32, &str)| {
        format!(
            "    {name}:\n      replicas: {replicas}\n      resources:\n        limits:\n          gpu: \"{gpus}\"\n      extraPodSpec:\n        mainContainer:\n          command: [python3, -m, dynamo.vllm]\n          args: [--model, Qwen/Qwen3-8B, {arguments}]\n"
        )
    };
    let frontend = "    Frontend:\n      replicas: 1\n      extraPodSpec: {}\n";
    let services: String = services.iter().map(service).collect();
    format!(
        "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nspec:\n  services:\n{frontend}{services}"
    )
}

#[test]
fn pools_of_dynamo_are_read() {
    let decode = ("decode", 2, 2, "--tensor-parallel-size=2, --disaggregation-mode, decode");
    let prefill = ("prefill", 3, 1, "--disaggregation-mode, prefill, --kv-transfer-config, x");
    for services in [[decode, prefill], [prefill, decode]] {
        assert_eq!(link_of(&dynamo(&services)), "v=1&m=qwen3-8b&n=4&tp=2&pw=3");
    }
    assert_eq!(link_of(&dynamo(&[("worker", 2, 1, "--max-num-seqs, 64")])), "v=1&m=qwen3-8b&n=2&ms=64");
    let (_, issues) = read_link(&dynamo(&[decode, ("prefill", 1, 4, prefill.3)])).expect("a command");
    assert!(issues.len() == 1 && issues[0].contains("given 4 GPUs, and the command uses 1"), "{issues:?}");
    let (_, issues) = read_link(&dynamo(&[decode, decode])).expect("a command");
    assert!(issues.iter().any(|issue| issue.contains("several engines")), "{issues:?}");
}
