"""Derive static/catalog/collectives.json: what it costs GPUs to exchange data.

One curve (size -> time) per GPU, collective, number of ranks and lane. An engine's all-reduce lane was
measured by calling the engine, which takes its own kernel up to its size limit and NCCL beyond; where
NCCL alone was faster at a size, the engine could have used it, so its curve is the lower of the two.
Beside the curves, two constants per link kind, lane and number of ranks for GPUs nobody measured:

    t = latency + wire bytes / (share * link bandwidth)

wire bytes being what each GPU must send: 2(n-1)/n of the tensor for all-reduce, (n-1)/n for
all-gather and all-to-all, all of it for send-recv.

Data: ai-dynamo/aiconfigurator (Copyright NVIDIA Corporation & Affiliates, Apache-2.0); for GPUs and
collectives it lacks, zksainx/pipeweave (Apache-2.0). Vidur's tables are left out: its A100s are not
fully joined by NVLink.

Usage: python training/collectives.py [--data ../shared/data]
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scipy.optimize import minimize

CATALOG = Path(__file__).parents[1] / "static/catalog"
# Reduce-scatter sends the same parts as all-gather, and its measured times are within 4 to 6 %: one curve serves both.
COLLECTIVES = ("all_reduce", "all_gather", "alltoall", "send_recv")
ENGINES = ("vllm", "sglang", "trtllm")
# Bytes at which curves are kept: dense where protocols change and curves bend.
SIZES = [2**e for e in (10, 12, 14, 16, *range(17, 27), 28, 30)]
# A point this much above both neighbours is an outlier of the measurement.
SPIKE = 1.5
# The secondary source measures other sizes; those within this factor of a kept size are averaged.
WINDOW = 1.2
SOURCES = {
    "aic": ("aiconfigurator: engines in CUDA graphs, NCCL", "https://github.com/ai-dynamo/aiconfigurator"),
    "pw": ("PipeWeave: H20, H800, RTX 6000 Ada, send-recv", "https://github.com/zksainx/pipeweave"),
    "xgmi-2": ("aiter pull request 801: vLLM's all-reduce on two MI300", "https://github.com/ROCm/aiter/pull/801"),
    "xgmi-4": ("vLLM pull request 19744: its all-reduce on four MI300", "https://github.com/vllm-project/vllm/pull/19744"),
    "xgmi-8": ("vLLM pull request 39080: its all-reduce on eight MI355X", "https://github.com/vllm-project/vllm/pull/39080"),
    "rccl": ("rccl-tests on eight MI300X, 8 MiB", "https://github.com/crickett-hpe/hpc-ai-envs/pull/30"),
    "xgmi": (
        "AMD: 310 to 330 GB/s of RCCL at best on eight MI300X, 326 of 448 GB/s between all pairs at once",
        "https://rocm.blogs.amd.com/software-tools-optimization/mi300x-rccl-xgmi/README.html",
    ),
}
# Times over AMD's links, as published: GB/s of the links among these ranks, and µs by KiB of the tensor. Engines call
# their own kernel for small tensors and the library (RCCL) for large ones.
XGMI = {
    "all_reduce/2": (64, {4: 7.07, 16: 7.53, 64: 7.66, 256: 11.45, 1024: 28.15, 4096: 93.79, 16384: 355.91}),
    "all_reduce/4": (192, {2: 7.18, 16: 7.26, 256: 14.39, 1024: 22.91, 2048: 36.64, 4096: 63.86, 8192: 118.31, 16384: 230.48}),
    "all_reduce/8": (537.6, {24: 6.3, 48: 6.7, 96: 7.6, 192: 10.0, 384: 13.1, 768: 16.0, 1536: 24.2}),
    "all_reduce_library/8": (448, {8192: 91.1, 2**20: 2**30 * 1.75 / 320e3}),
}
# GPUs and ranks whose curves are those of an unusual server; `src/kernels/collective/measured.rs` holds them suspect. Eight L40S exchange 2 GB/s each there and four 5, two 20; NVIDIA's own runs
# of Llama-3.1-70B (TensorRT-LLM 0.17) prefill 2,800 tokens/s, whose all-reduces alone are 13 and 11 GB/s.
UNUSUAL = {("l40s", 4), ("l40s", 8)}
# Share of the links' bandwidth reached when all pairs exchange at once; latencies are assumed to be those of NVLink.
XGMI_SHARE = 0.73


def monotone(points):
    """Sizes and log times without hiccups, made non-decreasing by pooling adjacent violators."""
    size, log = np.array([p[0] for p in points], float), np.log([p[1] for p in points])
    around = np.maximum(np.r_[log[1], log[:-1]], np.r_[log[1:], log[-1]])
    around[-1] = np.inf
    keep = log < around + np.log(SPIKE)
    pools = []
    for value in log[keep]:
        pools.append([value, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, m), (b, n) = pools.pop(), pools.pop()
            pools.append([(a * m + b * n) / (m + n), m + n])
    return size[keep], np.concatenate([np.full(n, v) for v, n in pools])


def at(curve, sizes):
    """Log times at `sizes`, log-log between points, constant below the first."""
    return np.interp(np.log(sizes), np.log(curve[0]), curve[1])


def read(folder):
    """{(gpu, collective, ranks, lane): (sizes, log µs)}, the first source that holds a key wins."""
    raw = defaultdict(list)
    for row in pq.read_table(folder / "kernels/collectives.parquet").to_pylist():
        key = row["gpu"], row["collective"], row["num_gpus"], row["engine"]
        raw[key].append((row["bytes"], row["latency_us"]))
    curves = {key: monotone(sorted(points)) for key, points in raw.items()}
    second = defaultdict(list)
    for row in pq.read_table(folder / "kernels/collectives_second_source.parquet").to_pylist():
        if row["source"] == "pipeweave":
            key = row["gpu"], row["collective"], row["num_gpus"], "nccl"
            second[key].append((row["bytes"], row["latency_us"]))
    for key, points in second.items():
        if key in curves:
            continue
        size, micros = np.array(points, float).T
        near = [(s, micros[(size > s / WINDOW) & (size < s * WINDOW)]) for s in SIZES]
        curves[key] = monotone([(s, float(np.median(found))) for s, found in near if len(found)])
    return {key: curve for key, curve in curves.items() if key[1] in COLLECTIVES}


def faster(curve, other):
    """The lower of two curves on the sizes of the first."""
    if other is None:
        return curve
    inside = curve[0] <= other[0][-1]
    lower = np.where(inside, np.minimum(curve[1], at(other, curve[0])), curve[1])
    return curve[0], np.minimum.accumulate(lower[::-1])[::-1]


def compact(curve):
    """µs at the kept sizes within the measured range, three significant digits."""
    kept = [s for s in SIZES if s <= curve[0][-1]]
    return [short(v) for v in np.exp(at(curve, kept))]


def short(value):
    value = float(f"{value:.3g}")
    return int(value) if value == int(value) else value


def wire_share(collective, ranks):
    """What each GPU must send, over the size of the tensor."""
    shares = {"all_reduce": 2 * (ranks - 1) / ranks, "all_gather": (ranks - 1) / ranks, "alltoall": (ranks - 1) / ranks, "send_recv": 1}
    return shares[collective]


def fit(rows):
    """((latency µs, share of the link), |log errors|) over rows of (wire µs at full rate, log µs)."""
    ideal, log = np.array(rows).T

    def model(p):
        return np.log(np.exp(p[0]) + ideal / np.exp(p[1]))

    def loss(p):
        return np.abs(model(p) - log).mean()

    found = minimize(loss, [log.min(), np.log(0.7)], method="Nelder-Mead", tol=1e-7)
    return np.exp(found.x), np.abs(model(found.x) - log)


def left_out(curves):
    """|log error| at each inner point when a curve is read without it."""
    errors = []
    for size, log in curves:
        for i in range(1, len(size) - 1):
            rest = np.delete(size, i), np.delete(log, i)
            errors.append(abs(at(rest, size[i]) - log[i]))
    return np.array(errors)


def has_lane(measured, gpu):
    """Whether some engine's all-reduce was measured on it."""
    return any(key[0] == gpu and key[3] in ENGINES for key in measured)


def kept_curves(measured, gpus):
    """{(gpu, collective, ranks, lane): curve} of what an engine uses; NCCL alone where it has no lane."""
    for (gpu, collective, ranks, lane), curve in sorted(measured.items()):
        nccl = measured.get((gpu, collective, ranks, "nccl"))
        own = all((gpu, collective, ranks, engine) in measured for engine in ENGINES)
        if gpu in gpus and (gpu, ranks) not in UNUSUAL and not (lane == "nccl" and own):
            yield (gpu, collective, ranks, lane), curve if lane == "nccl" else faster(curve, nccl)


def xgmi(nvlink):
    """{collective/ranks: [latency µs, share of the links]} of AMD's links."""
    found = {}
    for name, (latency, _) in nvlink.items():
        if not name.startswith("all_reduce"):
            found[name] = [latency, XGMI_SHARE]
    for name, (rate, points) in XGMI.items():
        share = wire_share("all_reduce", int(name.split("/")[1]))
        rows = [(share * kib * 1024 / (rate * 1e3), np.log(micros)) for kib, micros in points.items()]
        (latency, reached), error = fit(rows)
        found[name] = [short(latency), short(min(reached, 1.0))]
        print(f"xgmi   {name:21} {latency:6.1f} µs, {reached:.2f} of the links, off by {np.median(error):.2f}")
    return dict(sorted(found.items()))


def derive(folder):
    gpus = {gpu["id"]: gpu["link"] for gpu in json.loads((CATALOG / "gpus.json").read_text())["gpus"]}
    measured = read(folder)
    curves, pool = defaultdict(dict), defaultdict(list)
    for (gpu, collective, ranks, lane), curve in kept_curves(measured, gpus):
        micros = compact(curve)
        curves[gpu][f"{collective}/{ranks}/{lane}"] = micros
        # An all-reduce without the engine's kernel is not used for engines, except those without such a kernel here.
        if collective != "all_reduce" or lane != "nccl" or has_lane(measured, gpu):
            rate = gpus[gpu]["gb_per_s"][0] * 1e3
            ideal = [wire_share(collective, ranks) * size / rate for size in SIZES]
            pool[gpus[gpu]["kind"], f"{collective}/{ranks}"] += zip(ideal, np.log(micros))
    generic = defaultdict(dict)
    for (kind, name), rows in sorted(pool.items()):
        (latency, share), error = fit(rows)
        generic[kind][name] = [short(latency), short(min(share, 1.0))]
        print(f"{kind:7}{name:14} {latency:6.1f} µs, {share:.2f} of the link, off by {np.median(error):.2f}")
    # Not measured over PCIe: taken as half of an exchange between two.
    generic["pcie"]["send_recv/2"] = generic["pcie"]["all_gather/2"]
    generic["xgmi"] = xgmi(generic["nvlink"])
    errors = left_out(measured.values())
    print(f"a point left out: {np.median(errors):.3f} median, {np.percentile(errors, 90):.3f} p90")
    return curves, generic


def write(curves, generic):
    def line(value):
        return json.dumps(value, separators=(",", ":"))

    sources = {key: {"title": title, "url": url} for key, (title, url) in SOURCES.items()}
    blocks = []
    for gpu, found in curves.items():
        rows = ",\n".join(f" {line(key)}:{line(micros)}" for key, micros in found.items())
        blocks.append(f"{line(gpu)}:{{\n{rows}}}")
    head = f'{{"sources":{line(sources)},\n"sizes":{line(SIZES)},\n"generic":{line(generic)},\n"curves":{{\n'
    text = head + ",\n".join(blocks) + "\n}}\n"
    (CATALOG / "collectives.json").write_text(text)
    print(f"{sum(map(len, curves.values()))} curves, {len(text)} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    write(*derive(parser.parse_args().data))


if __name__ == "__main__":
    main()
