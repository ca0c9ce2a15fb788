"""Fit the closed form of experts on AMD's CDNA: part `aiter_experts` of static/catalog/constants.json.

    t = launch + a * weights / bandwidth + b * FLOP / (sustained clock * peak) + c * rows / bandwidth        (µs)

weights are the bytes of all experts visited, FLOP those of tokens padded to tiles of 32 for each expert, and rows the bytes of each
expert's tokens and columns in BF16. Rows are the fastest kernels of each shape in aiter's tuning runs: both GEMMs, without sorting and
quantising the tokens, which were routed at random. A time that stands for several numbers of tokens of a shape was copied by the
tuner, and is left out.

Prints the constants of each format with their errors, and the errors on models that they were not fitted on (models of the same width and
experts per token are left out together). Those of MI300X in block-scaled FP8 are not in the catalog: see experiments.md, 2026-11-27.

Data: ROCm/aiter (MIT), not part of ../shared.

Usage: python training/aiter_experts.py AITER_CHECKOUT
"""

import argparse
import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.stats import binom

from closed import error, fit
from gpu_figures import CATALOG

# By the number of compute units, as aiter tells its GPUs apart. MI308X, the third, is left out: most of its rows are copies.
GPUS = {"304": "mi300x", "256": "mi355x"}
# By the scaling, the format of the tokens and that of the weights: bytes of a weight, and the format it is multiplied in.
FORMATS = {
    ("No", "bfloat16", "bfloat16"): ("bf16", 2, "bf16"),
    ("per_Token", "float8", "float8"): ("fp8", 1, "fp8"),
    ("per_1x128", "float8", "float8"): ("fp8_block", 1, "fp8"),
    ("per_1x32", "bfloat16", "float4"): ("mxfp4", 0.5 + 1 / 32, "bf16"),
    ("per_1x32", "float8", "float4"): ("mxfp4_mxfp8", 0.5 + 1 / 32, "fp8"),
}
TILE = 32
START = (20, 0.8, 1.5, 4)


def tuned(folder):
    """The fastest time of each call: {(format, GPU, (hidden, inter, topk, experts), tokens): µs}"""
    fastest = {}
    for path in sorted(folder.rglob("*tuned_fmoe*.csv")):
        for row in csv.DictReader(path.open()):
            if "us1" not in row or row["cu_num"] not in GPUS or row["use_g1u1"] != "1":
                continue
            scaling = row["q_type"].removeprefix("QuantType.")
            tokens, weights = (row[key].removeprefix("torch.").split("_")[0] for key in ("q_dtype_a", "q_dtype_w"))
            format_ = FORMATS.get((scaling, tokens, weights))
            micros = float(row["us"]) or float(row["us1"]) + float(row["us2"])
            if format_ is None or micros <= 0:
                continue
            shape = tuple(int(row[key]) for key in ("model_dim", "inter_dim", "topk", "expert"))
            call = (format_, GPUS[row["cu_num"]], shape, int(row["token"]))
            fastest[call] = min(micros, fastest.get(call, micros))
    stands = Counter((*call[:3], micros) for call, micros in fastest.items())
    return {call: micros for call, micros in fastest.items() if stands[(*call[:3], micros)] == 1}


def padded(tokens, topk, experts):
    """Rows of a layer with each expert's tokens padded to whole tiles."""
    counts = np.arange(tokens + 1)
    return experts * np.dot(binom.pmf(counts, tokens, topk / experts), np.ceil(counts / TILE) * TILE)


def terms(call, micros, gpus):
    (_, size, math), gpu, (hidden, inter, topk, experts), tokens = call
    record = gpus[gpu]
    peak = record["sms"][0] * record["clock_mhz"][0] * record["tensor_flops_per_clock"][math][0] * record["sustained_clock"][0]
    bandwidth, weights = record["memory_gb_per_s"][0] * 1e3, 3 * hidden * inter
    visited = experts * (1 - (1 - topk / experts) ** tokens)
    reading = visited * weights * size / bandwidth
    multiplying = 2 * padded(tokens, topk, experts) * weights / peak
    rows = tokens * topk * (hidden + inter) * 2 / bandwidth
    return [tokens, np.log(micros), 1, reading, multiplying, rows]


def report(name, calls, gpus):
    rows = np.array([terms(call, micros, gpus) for call, micros in calls.items()]).T
    models = np.array([f"{shape[0]} {shape[2]}" for _, _, shape, _ in calls])
    constants = fit([rows], START)
    found = error(constants, rows)
    print(f"{name:18}", " ".join(f"{value:.2f}" for value in constants), end="  ")
    print(f"{len(calls)} rows, median error {100 * np.median(found):.0f} %, mean {100 * found.mean():.0f}", end="")
    if len(set(models)) > 1:
        for model in set(models):
            others = models != model
            found[~others] = error(fit([rows[:, others]], START), rows[:, ~others])
        print(f"; of {len(set(models))} models left out {100 * np.median(found):.0f}, mean {100 * found.mean():.0f}", end="")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("aiter", type=Path, help="a checkout of ROCm/aiter")
    calls = tuned(parser.parse_args().aiter)
    gpus = {gpu["id"]: gpu for gpu in json.loads(CATALOG.read_text())["gpus"]}
    for (name, _, _), gpu in sorted({call[:2] for call in calls}):
        own = {call: micros for call, micros in calls.items() if (call[0][0], call[1]) == (name, gpu)}
        report(f"{gpu} {name}", own, gpus)
    report("both bf16", {call: micros for call, micros in calls.items() if call[0][0] == "bf16"}, gpus)


if __name__ == "__main__":
    main()
