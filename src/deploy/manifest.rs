//! Replicas behind a Service, and pools of prefill and decode under Dynamo.

use serde_json::{Value, json};

use super::yaml;
use crate::config::command::{EngineLaunch, launches};
use crate::config::{Arch, PrefillPool, Setup, catalog};
use crate::serving::run::{Commands, checkpoint_name, model_notes};

const PORT: u16 = 8000;

/// Shared memory for messages between the ranks of a replica.
const SHARED_MEMORY: &str = "16Gi";

pub fn replicas(setup: &Setup) -> Result<String, String> {
    one_machine(setup)?;
    let name = name(setup);
    let labels = json!({"app": name});
    let one = Setup { replicas: 1, ..setup.clone() };
    let container = json!({
        "name": "engine",
        "image": image(setup)?,
        "command": ["/bin/bash", "-c"],
        "args": [format!("{} \\\n  --host 0.0.0.0 \\\n  --port {PORT}", Commands::of(&one).launch.trim_end())],
        "ports": [{"containerPort": PORT}],
        // Loading the weights may take an hour.
        "readinessProbe": {"httpGet": {"path": "/health", "port": PORT}, "periodSeconds": 10, "failureThreshold": 360},
        "resources": {"limits": {resource(setup): setup.parallel.gpus()}},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
    });
    let volumes = json!([{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": SHARED_MEMORY}}]);
    let deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": setup.replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container], "volumes": volumes}},
        },
    });
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": labels, "ports": [{"port": PORT, "targetPort": PORT}]},
    });
    Ok(place(setup) + &yaml::print(&[deployment, service]))
}

pub fn pools(setup: &Setup, pool: &PrefillPool) -> Result<String, String> {
    one_machine(setup)?;
    one_machine(&pool.setup)?;
    let engine = &setup.engine;
    let dynamo = &launches().dynamo;
    let own = launches().of(&engine.id).and_then(|of| of.dynamo.as_ref()).ok_or_else(|| {
        let has = |of: &&EngineLaunch| of.dynamo.is_some();
        let others = launches().engines.iter().filter(has).filter_map(|of| catalog().engine(&of.engine));
        let others = others.map(|engine| engine.name.as_str()).collect::<Vec<_>>().join(" or ");
        format!("no manifest for prefill and decode pools of {}: use {others}", engine.name)
    })?;
    let image = dynamo.image.replace("{engine}", &engine.id).replace("{version}", &dynamo.version);
    let worker = |setup: &Setup, mode: &str| -> Result<Value, String> {
        // Dynamo's program replaces the engine's, so only the arguments from the model name on are kept.
        let alone = Setup { prefill: None, replicas: 1, ..setup.clone() };
        let launch = Commands::of(&alone).launch.replace("\\\n", " ");
        let words = shlex::split(&launch).ok_or("the launch command has an open quotation mark")?;
        let name = checkpoint_name(setup);
        let at = words.iter().position(|word| *word == name).ok_or("the command names no model")?;
        let mode_flag = ["--disaggregation-mode".to_owned(), mode.to_owned()];
        let args = [std::slice::from_ref(&own.model), &words[at..], &mode_flag, &own.transfer].concat();
        Ok(json!({
            "componentType": "worker",
            "subComponentType": mode,
            "replicas": setup.replicas,
            "resources": {"limits": {"gpu": setup.parallel.gpus().to_string()}},
            "sharedMemory": {"size": SHARED_MEMORY},
            "extraPodSpec": {"mainContainer": {
                "image": image, "command": ["python3", "-m", format!("dynamo.{}", engine.id)], "args": args,
            }},
        }))
    };
    let document = json!({
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": name(setup)},
        "spec": {"services": {
            "Frontend": {
                "componentType": "frontend", "replicas": 1, "extraPodSpec": {"mainContainer": {"image": image}},
            },
            "decode": worker(setup, "decode")?,
            "prefill": worker(&pool.setup, "prefill")?,
        }},
    });
    let version = format!(
        "# Dynamo {} ships its own version of {}; {} was predicted.\n",
        dynamo.version, engine.name, engine.version
    );
    Ok(model_notes(setup) + &version + &place(&pool.setup) + &place(setup) + &yaml::print(&[document]))
}

fn one_machine(setup: &Setup) -> Result<(), String> {
    match setup.nodes() {
        0 | 1 => Ok(()),
        nodes => Err(format!("no manifest for a replica over {nodes} nodes")),
    }
}

fn place(setup: &Setup) -> String {
    let (replicas, gpus, gpu) = (setup.replicas, setup.parallel.gpus(), &setup.gpu.name);
    format!("# {replicas} × {gpus} {gpu}: select the nodes by your cluster's GPU label.\n")
}

/// Lower-case letters, digits and dashes, at most 63.
fn name(setup: &Setup) -> String {
    let text = format!("{}-{}", setup.engine.id, setup.model.id.to_ascii_lowercase());
    let letters = text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
    letters.take(63).collect::<String>().trim_matches('-').to_owned()
}

fn resource(setup: &Setup) -> &'static str {
    match setup.gpu.arch {
        Arch::Xe2 => "gpu.intel.com/xe",
        arch if arch.is_amd() => "amd.com/gpu",
        _ => "nvidia.com/gpu",
    }
}

fn image(setup: &Setup) -> Result<String, String> {
    let version = &setup.engine.version;
    // The published images are of x86 servers with NVIDIA's GPUs.
    let usual = setup.gpu.arch.is_nvidia() && setup.gpu.host_bytes.is_none();
    match launches().of(&setup.engine.id).filter(|_| usual) {
        Some(of) => Ok(of.published_image.replace("{version}", version.text())),
        None => Err(format!("no image of {} {version} is known for {}", setup.engine.name, setup.gpu.name)),
    }
}
