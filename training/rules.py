"""Tests the rules about how runs were started that were read off runs instead of scripts.

    python3 training/rules.py --evaluate target/release/evaluate --data ../shared/data

Takes each rule out of `launches.json` in turn, so that the engine's documented defaults (or the script as it stands) hold instead, and
predicts all closed loops again, without calibration. Prints the median errors of the runs that change, with and without the rule, apart
for the models that it was read from and for all others, and by engine version. A rule that makes the others much worse goes.
"""

import argparse
import copy
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import launches

FACTS = Path(__file__).parent / "launches.json"
FILES = ("cases.jsonl", "more_closed_loops.jsonl")
METRICS = {"TTFT": "ttft_ms", "TPOT": "tpot_ms"}
# A run has changed if a figure of it differs by this share.
CHANGED = 0.002


def of_others(engine, *fields):
    """Takes fields from the settings of runs without a script."""

    def drop(facts):
        for field in fields:
            facts["others_by_engine"][engine].pop(field)

    return drop


def of_records(field):
    """Takes a field from the settings of every script."""

    def drop(facts):
        for record in facts["records"]:
            record["settings"].pop(field, None)

    return drop


def no_drafts(facts):
    facts["drafts"]["batches"] = []


# What is taken out, and a part of the names of the models that the rule was read from.
RULES = {
    "vLLM without a script: a token budget for one prompt and all clients": (of_others("vllm", "token_budget"), ["Qwen3-32B"]),
    "vLLM without a script: few distinct prompts": (of_others("vllm", "distinct_prompts"), ["Llama-3.1-8B"]),
    "vLLM without a script: a KV cache in the checkpoint's format": (of_others("vllm", "kv_cache"), ["Llama-3.1-8B"]),
    "TensorRT-LLM without a script: token budgets of NVIDIA's generator": (of_others("trtllm", "token_budget"), ["Qwen3-32B", "Qwen3-235B"]),
    "SGLang without a script: mixed chunks and short prefills": (of_others("sglang", "mixed_chunk", "max_prefill_tokens"), ["Llama-3.1-8B"]),
    "SGLang: prompts five times as long as drawn": (of_records("prompt_stretch"), ["DeepSeek"]),
    "SGLang: the first full prefill compiles": (of_records("cold_start"), ["DeepSeek"]),
    "drafts by the day of the run": (no_drafts, ["DeepSeek", "Qwen3.5"]),
}


def predicted(arguments, facts):
    """Cases by id, as `evaluate` finds them with these facts."""
    with tempfile.TemporaryDirectory() as folder:
        out, plan = Path(folder) / "cases", Path(folder) / "plan"
        command = [arguments.evaluate, "serving", "--per-case", out]
        for file in FILES:
            command += ["--cases", arguments.data / "e2e" / file]
        plan.write_text(launches.text(launches.resolve(facts)))
        command += ["--launches", plan]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {case["id"]: case for case in map(json.loads, out.read_text().splitlines())}


def physics(case, key):
    return (case.get("physics") or case["predicted"]).get(key)


def errors(cases, key):
    found = [abs(physics(case, key) / case["measured"][key] - 1) for case in cases if physics(case, key) and case["measured"].get(key)]
    return f"{100 * statistics.median(found):5.1f}" if found else "    –"


def line(name, ids, with_it, without):
    figures = [f"{metric} {errors((with_it[i] for i in ids), key)} → {errors((without[i] for i in ids), key)}" for metric, key in METRICS.items()]
    return f"  {name:44} {len(ids):4}   " + "   ".join(figures)


def differs(one, other):
    pairs = [(physics(one, key), physics(other, key)) for key in METRICS.values()]
    return any(a and b and abs(a / b - 1) > CHANGED for a, b in pairs)


def table(rule, read_from, with_it, without, versions):
    changed = [i for i in with_it if i in without and differs(with_it[i], without[i])]
    print(f"{rule}: {len(changed)} runs change; median errors in % with → without the rule, by the physics")

    def is_source(i):
        return any(name in with_it[i]["model"] for name in read_from)

    groups = {"models it was read from": [i for i in changed if is_source(i)], "all others": [i for i in changed if not is_source(i)]}
    for i in changed:
        groups.setdefault(with_it[i]["model"].split("/")[-1], []).append(i)
        groups.setdefault(f"{with_it[i]['engine']} {versions[i] or 'of unknown version'}", []).append(i)
    for name, ids in groups.items():
        if ids:
            print(line(name, ids, with_it, without))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--evaluate", type=Path, required=True, help="the built program")
    arguments.add_argument("--data", type=Path, default=Path("../shared/data"))
    arguments = arguments.parse_args()
    lines = (line for file in FILES for line in (arguments.data / "e2e" / file).read_text().splitlines())
    versions = {case["id"]: case.get("engine_version") for case in map(json.loads, lines)}
    facts = json.loads(FACTS.read_text())
    with_it = predicted(arguments, copy.deepcopy(facts))
    for rule, (take_out, read_from) in RULES.items():
        changed = copy.deepcopy(facts)
        take_out(changed)
        table(rule, read_from, with_it, predicted(arguments, changed), versions)


if __name__ == "__main__":
    main()
