"""Fit the closed form of GEMMs on GPUs that are not NVIDIA's: parts `cdna` and `xe2` of static/catalog/constants.json.

    t = launch + a * bytes / bandwidth + b * FLOP / (sustained clock * peak) + c * k / 1000        (µs)

Rows are the fastest kernel of each shape in aiter's tuning runs on MI300X and MI355X, and vLLM's on Arc Pro B60. All powers of two of m have the same weight;
the fit minimises |ln(fitted / measured)|. Prints the constants of each format with their errors, and the errors
on each GPU when they are fitted without it.

Data: ROCm/aiter (MIT), ai-dynamo/aiconfigurator (Apache-2.0).

Usage: python training/closed.py [--data ../shared/data]
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scipy.optimize import minimize

from gpu_figures import CATALOG, column

FORMATS = {"bf16": (2, "bf16"), "fp8": (1, "fp8"), "fp8_block": (1, "fp8")}


def read(folder):
    """{part: {(format, gpu): (m, ln µs, and what each constant is multiplied by)}}"""
    tables = [("cdna", "gemm_second_source", "source", "aiter"), ("xe2", "gemm", "gpu", "arc-pro-b60")]
    return {part: rows(folder / f"kernels/{name}.parquet", key, value) for part, name, key, value in tables}


def rows(path, key, value):
    gpus = {gpu["id"]: gpu for gpu in json.loads(CATALOG.read_text())["gpus"]}
    table = pq.read_table(path)
    own, ids, dtypes = column(table, key) == value, column(table, "gpu"), column(table, "dtype")
    m, n, k, micros = (column(table, name).astype(float) for name in ("m", "n", "k", "latency_us"))
    found = {}
    for name, (size, math) in FORMATS.items():
        for gpu in set(ids[own]):
            taken = own & (ids == gpu) & (dtypes == name)
            if not taken.any():
                continue
            record = gpus[gpu]
            peak = record["sms"][0] * record["clock_mhz"][0] * record["tensor_flops_per_clock"][math][0]
            a, b, c, t = m[taken], n[taken], k[taken], micros[taken]
            reading = (b * c * size + a * c * size + a * b * 2) / (record["memory_gb_per_s"][0] * 1e3)
            multiplying = 2 * a * b * c / (peak * record["sustained_clock"][0])
            found[name, gpu] = np.array([a, np.log(t), np.ones_like(a), reading, multiplying, c / 1000])
    return found


def error(constants, rows):
    _, measured, *terms = rows
    return np.abs(np.log(np.dot(constants, terms)) - measured)


def fit(tables, start=(3, 1.3, 1.3, 0.9)):
    rows = np.concatenate(tables, axis=1)
    _, octave, count = np.unique(np.floor(np.log2(rows[0])), return_inverse=True, return_counts=True)

    def loss(logs):
        return np.average(error(np.exp(logs), rows), weights=1 / count[octave])

    return np.exp(minimize(loss, np.log(start), method="Nelder-Mead", options={"maxiter": 6000}).x)


def attention(folder):
    """Prints launch and factor of attention on Arc Pro B60: of prompts in the time of their FLOP, window or not, of decode in that of
    the bytes."""
    gpu = next(gpu for gpu in json.loads(CATALOG.read_text())["gpus"] if gpu["id"] == "arc-pro-b60")
    peak = gpu["sms"][0] * gpu["clock_mhz"][0] * gpu["tensor_flops_per_clock"]["bf16"][0] * gpu["sustained_clock"][0]
    for phase in ("prefill", "decode"):
        table = pq.read_table(folder / f"kernels/attention_{phase}.parquet")
        own = column(table, "gpu") == gpu["id"]
        formats, values = column(table, "kv_dtype")[own], {}
        for name in ("batch", "kv_len", "heads", "kv_heads", "head_dim", "window", "latency_us"):
            values[name] = column(table, name)[own].astype(float)
        batch, keys, heads, kv_heads, width, window, micros = values.values()
        for name, size in (("bf16", 2), ("fp8", 1)):
            if phase == "prefill":
                work = 2 * width * heads * batch * keys * (keys + 1) / peak
            else:
                seen = np.where(window > 0, np.minimum(window, keys), keys)
                work = batch * width * (seen * 2 * kv_heads * size + 4 * heads) / (gpu["memory_gb_per_s"][0] * 1e3)
            taken = formats == name

            def off(logs):
                return np.abs(np.log(np.exp(logs[0]) + np.exp(logs[1]) * work[taken]) - np.log(micros[taken]))

            found = minimize(lambda logs: off(logs).mean(), np.log([60, 1.2]), method="Nelder-Mead").x
            median = 100 * np.median(off(found))
            print(f"xe2_attention {phase} {name:5}", *np.exp(found).round(2), f"{taken.sum()} rows, median error {median:.0f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    folder = parser.parse_args().data
    attention(folder)
    for part, tables in read(folder).items():
        for name in FORMATS:
            own = {gpu: rows for (format_, gpu), rows in tables.items() if format_ == name}
            if not own:
                continue
            constants = fit(list(own.values()))
            print(f"{part} {name:10}", " ".join(f"{value:.2f}" for value in constants))
            for gpu, rows in own.items():
                others = [other for key, other in own.items() if key != gpu]
                left = f", without it {100 * np.median(error(fit(others), rows)):.0f}" if others else ""
                median = 100 * np.median(error(constants, rows))
                print(f"  {gpu:12} {len(rows[0]):6} rows, median error {median:.0f} %{left}")


if __name__ == "__main__":
    main()
