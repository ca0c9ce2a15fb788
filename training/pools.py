"""Reads how workers of disaggregated runs were started from their public recipes into `pool_plan.json`.

    python training/pools.py RECIPES SWEEPS > training/pool_plan.json

RECIPES is a clone of NVIDIA/srt-slurm, SWEEPS one of SemiAnalysisAI/InferenceX (both Apache-2.0). All versions of the recipes are
read, and what is alike is written once: a record has what the labels of a run can be matched by (engine, GPU, format, lengths,
workers and their GPUs, clients) and what they do not say (the budget of a step, places, drafted tokens, overlap).
No measured time is read.
"""

import json
import subprocess
import sys

import yaml

def family(path):
    """The model of a checkpoint's path, as far as the runs need it."""
    name = path.lower()
    if "gpt" in name:
        return "gpt-oss"
    return "DeepSeek" if any(part in name for part in ("dsr1", "dsfp", "deepseek-r1", "deepseek-v3")) else path


GPUS = {"h100": "h100-sxm", "h200": "h200-sxm"}
DAYS = ("2026-01-28", "2026-02-01", "2026-02-03", "2026-02-05", "2026-02-26", "2026-03-05", "2026-03-25", "2026-04-28")


def git(repo, *arguments):
    return subprocess.run(["git", "-C", repo, *arguments], capture_output=True, text=True, check=True).stdout


def at(repo, day):
    return git(repo, "log", "--format=%h", f"--before={day}T23:59:59", "-1").strip()


def merged(base, change, index=None):
    """`base` with `change` in it; of its lists the entry at `index`."""
    if isinstance(change, dict):
        base = dict(base) if isinstance(base, dict) else {}
        for key, value in change.items():
            base[key] = merged(base.get(key), value, index)
        return base
    if index is not None and isinstance(change, list):
        return change[index]
    return change


def variants(recipe):
    if "base" not in recipe:
        yield recipe
        return
    base = recipe["base"]
    yield base
    for name, change in recipe.items():
        if name.startswith("override_"):
            yield merged(base, change)
        elif name.startswith("zip_override_"):
            for index in range(len(change.get("name", []))):
                yield merged(base, change, index)


def clients(benchmark):
    given = benchmark.get("concurrencies", [])
    if isinstance(given, str):
        given = given.split("x")
    return [int(one) for one in (given if isinstance(given, list) else [given])]


def of_sglang(config):
    get = lambda *names: next((config[name] for name in names if name in config), None)
    gpus = get("tp-size", "tensor-parallel-size", "tp") or 1
    ranks = (get("dp-size", "data-parallel-size", "dp") or 1) if get("enable-dp-attention") else 1
    ep = gpus if get("moe-a2a-backend") == "deepep" else get("ep-size", "expert-parallel-size", "ep") or 1
    # Both are totals over all ranks (`server_args.py`, `scheduler.py`).
    chunk, most = get("chunked-prefill-size"), get("max-running-requests")
    return {
        "gpus": gpus, "ranks": ranks, "ep": ep,
        "token_budget": max(1, chunk // ranks) if chunk and chunk > 0 else None,
        "prefill_tokens": get("max-prefill-tokens"),
        "max_seqs": max(1, most // ranks) if most else None,
        "memory_share": get("mem-fraction-static"),
        "kv_fp8": str(get("kv-cache-dtype") or "").startswith("fp8"),
        "overlap": not get("disable-overlap-schedule"),
        "drafted": get("speculative-num-draft-tokens") - 1 if get("speculative-num-draft-tokens") else 0,
        "receive_interval": get("scheduler-recv-interval") or 1,
    }


def of_trtllm(config):
    gpus = config.get("tensor_parallel_size", 1)
    cache = config.get("kv_cache_config") or {}
    return {
        "gpus": gpus,
        "ranks": gpus if config.get("enable_attention_dp") else 1,
        "ep": config.get("moe_expert_parallel_size", 1),
        "token_budget": config.get("max_num_tokens"),
        "max_seqs": config.get("max_batch_size"),
        "memory_share": cache.get("free_gpu_memory_fraction"),
        "kv_fp8": str(cache.get("dtype", "")).startswith("fp8"),
        "overlap": not config.get("disable_overlap_scheduler"),
        "drafted": (config.get("speculative_config") or {}).get("num_nextn_predict_layers") or 0,
    }


def of_vllm(config):
    get = lambda name: config.get(name)
    tp, dp = get("tensor-parallel-size") or 1, get("data-parallel-size") or 1
    return {
        "gpus": tp * dp, "ranks": dp, "ep": tp * dp if get("enable-expert-parallel") else 1,
        "token_budget": get("max-num-batched-tokens"),
        "max_seqs": get("max-num-seqs"),
        "memory_share": get("gpu-memory-utilization"),
        "kv_fp8": str(get("kv-cache-dtype") or "").startswith("fp8"),
        "overlap": True, "drafted": 0,
    }


READ = {"sglang": of_sglang, "trtllm": of_trtllm, "vllm": of_vllm}


def record(recipe):
    resources, backend, benchmark = (recipe.get(name) or {} for name in ("resources", "backend", "benchmark"))
    engine = backend.get("type", "sglang")
    config = backend.get(f"{engine}_config") or {}
    if engine not in READ or not resources.get("prefill_workers") or "prefill" not in config or not benchmark.get("isl"):
        return None
    pools = {}
    for pool in ("prefill", "decode"):
        pools[pool] = {"workers": resources[f"{pool}_workers"], **READ[engine](config[pool])}
    path = recipe["model"].get("path", "")
    # Some recipes of FP8 checkpoints name FP4.
    precision = "fp8" if "fp8" in path.lower() else str(recipe["model"].get("precision", ""))
    return {
        "engine": engine,
        "gpu": GPUS.get(resources["gpu_type"], resources["gpu_type"]),
        "precision": "nvfp4" if precision in ("fp4", "nvfp4") else precision,
        "model": family(path),
        "lengths": [benchmark["isl"], benchmark["osl"]],
        "clients": clients(benchmark),
        **pools,
    }


def recipes(repo):
    for day in DAYS:
        commit = at(repo, day)
        for path in git(repo, "ls-tree", "-r", "--name-only", commit).split("\n"):
            if path.startswith("recipes/") and path.endswith(".yaml"):
                try:
                    whole = yaml.safe_load(git(repo, "show", f"{commit}:{path}"))
                    yield from filter(None, map(record, variants(whole)))
                except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError, IndexError) as fault:
                    print(f"{day} {path}: {fault!r}", file=sys.stderr)


def sweeps(repo):
    """TensorRT-LLM on GB200 before the recipes: settings stood in the sweep itself."""
    for day in ("2025-12-10", "2026-01-10", "2026-01-20"):
        text = git(repo, "show", f"{at(repo, day)}:.github/configs/nvidia-master.yaml")
        for name, entry in yaml.safe_load(text).items():
            if entry.get("framework") != "dynamo-trt":
                continue
            for lengths in entry["seq-len-configs"]:
                for one in lengths["search-space"]:
                    said = {}
                    for pool in ("prefill", "decode"):
                        for setting in one[pool].get("additional-settings", []):
                            key, _, value = setting.partition("=")
                            said[key] = value
                    if "PREFILL_MAX_NUM_TOKENS" not in said:
                        continue
                    drafted = int(said.get("DECODE_MTP_SIZE", 0))
                    pools = {}
                    for pool, kind in (("prefill", "PREFILL"), ("decode", "DECODE")):
                        gpus = one[pool]["tp"]
                        pools[pool] = {
                            "workers": one[pool]["num-worker"], "gpus": gpus,
                            "ranks": gpus if one[pool]["dp-attn"] else 1, "ep": one[pool]["ep"],
                            "token_budget": int(said[f"{kind}_MAX_NUM_TOKENS"]),
                            "max_seqs": int(said[f"{kind}_MAX_BATCH_SIZE"]),
                            "memory_share": float(said["DECODE_GPU_MEM_FRACTION"]) if pool == "decode" else None,
                            "kv_fp8": True, "overlap": pool == "decode", "drafted": drafted,
                        }
                    yield {
                        "engine": "trtllm", "gpu": entry["runner"].split("-")[0],
                        "precision": "nvfp4" if entry["precision"] == "fp4" else entry["precision"],
                        "model": family(entry["model-prefix"]),
                        "lengths": [lengths["isl"], lengths["osl"]],
                        "clients": one["conc-list"], **pools,
                    }


def main(repo, of_sweeps):
    seen = {}
    for one in [*sweeps(of_sweeps), *recipes(repo)]:
        if one["model"] not in ("DeepSeek", "gpt-oss"):
            continue
        drop = lambda pool: {key: value for key, value in pool.items() if value is not None}
        one["prefill"], one["decode"] = drop(one["prefill"]), drop(one["decode"])
        seen.setdefault(json.dumps(one, sort_keys=True), one)
    source = "Recipes of NVIDIA/srt-slurm and sweeps of SemiAnalysisAI/InferenceX (both Apache-2.0), December 2025 to April 2026."
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in seen.values())
    print(f'{{"source":{json.dumps(source)},\n"recipes":[\n{lines}\n]}}')


if __name__ == "__main__":
    main(*sys.argv[1:])
