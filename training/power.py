"""Fits what GPUs draw, and prints how well: watts of kernels, and of served dense models.

    P = min(limit, idle + busy(family) + memory * u_m + compute * u_c)

in shares of the power limit, u_m and u_c being compulsory bytes over what the peak bandwidth moves and FLOP over what the
dense peak multiplies meanwhile. `idle`, `memory` and `compute` are figures of a GPU, `busy` of a family of kernels.

Readings of kernels (`power/`, by aiconfigurator) are means of samples 100 ms apart, from the moment a test starts, of what the
driver averages over up to a second. Tests of short kernels last 20 to 300 ms: they read what ran before. So shares are fitted on
kernels of MIN_SETTLED_US and more, whose tests last a second, with a loss that outliers hardly move.
"""

import argparse
import json
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from families import CATALOG, RECORDS

ROOT = Path(__file__).parents[1]
# Those with tables of watts.
FAMILIES = [family for family, record in RECORDS.items() if record["tables"]]
# The lowest reading in tests of short kernels, as a share of the limit; H100 has the chip of H200. B200's is fitted, because
# some served runs on it mostly wait for the host.
IDLE_SHARE = {"h200-sxm": 0.18, "gb200": 0.175, "h100-sxm": 0.18}
MIN_SETTLED_US = 300.0
# The driver keeps the mean slightly below the limit.
MEAN_SHARE_AT_LIMIT = 0.985
# Below this, memory and tensor cores leave some of the limit for the other power of a kernel.
MAX_SHARE_WITH_ROOM = 0.7
DENSE = {"Qwen/Qwen3-14B": (14.77e9, 40, 8, 128), "Qwen/Qwen3-32B": (32.76e9, 64, 8, 128),
         "meta-llama/Llama-3.1-405B-Instruct": (405.85e9, 126, 8, 128)}
PROMPT = {"gpqa": 233, "lm-arena-chat": 672}
# Share of the peak bandwidth at which attention reads the cache.
CACHE_RATE = 0.8


def kernels(exporter, data):
    """{family: columns} of the calls measured with watts."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for family in FAMILIES:
            out = Path(folder) / family
            subprocess.run([exporter, "--family", family, "--power", "--data", data, "--out", out], check=True)
            with open(out, "rb") as file:
                (length,) = struct.unpack("<I", file.read(4))
                header = json.loads(file.read(length))
                table = np.fromfile(file, "<f4").reshape(header["rows"], -1).astype(float)
            rows = dict(zip(header["columns"], table.T))
            rows["gpu"] = np.array(header["gpus"])[rows["gpu"].astype(int)]
            found[family] = rows
    return found


def catalog():
    gpus = json.loads((ROOT / "static/catalog/gpus.json").read_text())["gpus"]
    return {gpu["id"]: gpu for gpu in gpus}


def utilisation(rows, gpus):
    """Memory, tensor cores, and watts over the limit, with the idle share."""
    at = lambda name: np.array([gpus[gpu][name][0] for gpu in rows["gpu"]])
    memory = rows["bytes"] / (at("memory_gb_per_s") * 1e3 * rows["micros"])
    idle = at("idle_power")
    return memory, rows["compute_us"] / rows["micros"], rows["watts"] / at("power_w"), idle


def robust(columns, target, base):
    """Least Cauchy loss of min(MEAN_SHARE_AT_LIMIT, base + columns @ shares) on the logarithm, by iterated weights over a grid's best."""
    shares, scale = np.full(columns.shape[1], 0.8), 0.05
    loss = lambda s: np.log1p((np.log(np.minimum(MEAN_SHARE_AT_LIMIT, base + columns @ s) / target) / scale) ** 2).sum()
    step = 0.4
    while step > 0.004:
        tried = [np.maximum(shares + step * way, 0.0) for way in (*np.eye(len(shares)), *-np.eye(len(shares)))]
        best = min(tried, key=loss)
        if loss(best) < loss(shares):
            shares = best
        else:
            step /= 2
    return shares


def errors(predicted, measured):
    off = np.abs(predicted / measured - 1)
    return f"mean {100 * off.mean():5.1f} %, median {100 * np.median(off):5.1f} %, P80 {100 * np.quantile(off, 0.8):5.1f} %"


def report_kernels(tables, gpus):
    rows = tables["gemm"]
    memory, compute, share, idle = utilisation(rows, gpus)
    own = {gpu: np.array([gpus[gpu][name][0] for name in ("memory_power", "compute_power")]) for gpu in np.unique(rows["gpu"])}
    for gpu in own:
        take = (rows["gpu"] == gpu) & (rows["micros"] > MIN_SETTLED_US / 2)
        fitted = robust(np.stack([memory, compute], 1)[take], share[take], idle[take])
        print(f"{gpu:10} memory {fitted[0]:.2f} compute {fitted[1]:.2f} by {take.sum()} long products")
    for family, rows in tables.items():
        memory, compute, share, idle = utilisation(rows, gpus)

        def predict(shares, busy):
            pairs = np.array([shares[gpu] for gpu in rows["gpu"]])
            return np.minimum(MEAN_SHARE_AT_LIMIT, idle + busy + pairs[:, 0] * memory + pairs[:, 1] * compute)

        settled = rows["micros"] > MIN_SETTLED_US
        shapes = np.random.default_rng(0).permutation(np.unique(rows["shape"]))
        held = np.isin(rows["shape"], shapes[: max(1, len(shapes) // 5)])

        def busy_of(shares, chosen):
            left = (share - predict(shares, 0.0))[chosen & settled & (predict(shares, 0.0) < MAX_SHARE_WITH_ROOM)]
            return max(0.0, float(np.median(left))) if len(left) > 40 else 0.0

        busy = busy_of(own, ~held)
        print(f"{family:18} busy {busy:.2f}; shapes held out: settled {errors(predict(own, busy)[held & settled], share[held & settled])}"
              if (held & settled).any() else f"{family:18} no settled rows held out")
        print(f"{'':18} all rows {errors(predict(own, busy)[held], share[held])}")
        for gpu in np.unique(rows["gpu"]):
            others = [shares for other, shares in own.items() if other != gpu]
            left = {**own, gpu: np.mean(others, 0)}
            rest = rows["gpu"] != gpu
            if rest.any() and (~rest & settled).any():
                found = predict(left, busy_of(own, rest))[~rest & settled]
                print(f"{'':18} {gpu} left out, settled: {errors(found, share[~rest & settled])}")


def served(path, gpus, busy):
    """Of dense models: memory and compute utilisation, what attention draws beside, and watts over the limit."""
    found = []
    for case in map(json.loads, path.read_text().splitlines()):
        if case["model"] not in DENSE or case["task"] not in PROMPT:
            continue
        parameters, layers, heads, width = DENSE[case["model"]]
        gpu, prompt, count = gpus[case["gpu"]], PROMPT[case["task"]], case["gpus"]
        edges, counts = (np.array(case["output_length_histogram"][name], float) for name in ("bins", "counts"))
        middle = (edges[1:] + edges[:-1]) / 2
        context = prompt + (counts * middle**2).sum() / (counts * middle).sum() / 2
        rate, bandwidth = case["throughput_tok_s"], gpu["memory_gb_per_s"][0] * 1e9
        peak = gpu["sms"][0] * gpu["clock_mhz"][0] * 1e6 * gpu["tensor_flops_per_clock"]["bf16"][0]
        steps = rate / case["batch"]
        cache = steps * 4 * layers * heads * width * context * case["batch"] / count / bandwidth
        memory = steps * 2 * parameters / count / bandwidth + cache
        compute = rate * (1 + prompt / case["osl"]) * 2 * parameters / count / peak
        share = case["avg_power_w_per_gpu"] / gpu["power_w"][0]
        found.append((case["model"], case["gpu"], memory, compute, busy * cache / CACHE_RATE, share))
    return found


def report_served(cases):
    model, gpu = (np.array([case[i] for case in cases]) for i in (0, 1))
    memory, compute, beside, share = (np.array([case[i] for case in cases]) for i in (2, 3, 4, 5))
    known = np.array([own in IDLE_SHARE for own in gpu])
    idle = np.array([IDLE_SHARE.get(own, 0.0) for own in gpu])
    columns = np.stack([memory, compute, ~known], 1).astype(float)
    fit = lambda rows: robust(columns[rows], share[rows], (beside + idle)[rows])
    predict = lambda shares: np.minimum(MEAN_SHARE_AT_LIMIT, beside + idle + columns @ shares)
    for own in np.unique(gpu):
        rows = gpu == own
        shares = fit(rows)
        least = IDLE_SHARE.get(own, shares[2])
        print(f"{own:10} idle {least:.2f} memory {shares[0]:.2f} compute {shares[1]:.2f}: {errors(predict(shares)[rows], share[rows])}")
        for left in np.unique(model[rows]):
            out = rows & (model == left)
            if (rows & ~out).any():
                print(f"{'':10} without {left}: {errors(predict(fit(rows & ~out))[out], share[out])}")
        other = predict(np.array([*fit(~rows)[:2], shares[2]]))
        print(f"{'':10} by the other GPU: {errors(other[rows], share[rows])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--exporter", default=str(ROOT / "target/release/export_features"))
    options = parser.parse_args()
    gpus = catalog()
    report_kernels(kernels(options.exporter, options.data), gpus)
    constants = json.loads(CATALOG.read_text())["constants"]["power_of_kernels"]
    report_served(served(options.data / "e2e/energy.jsonl", gpus, constants["attention_decode"]["value"]))


if __name__ == "__main__":
    main()
