"""Fit the closed form of products on AMD's matrix cores: part `cdna` of static/catalog/constants.json.

    t = launch + a * bytes / bandwidth + b * FLOP / (sustained clock * peak) + c * k / 1000        (µs)

Rows are the fastest kernel of each shape in aiter's tuning runs on MI300X and MI355X. Powers of two of m weigh alike;
what is minimised is |ln(fitted / measured)|. Prints the constants of each format with their errors, and the errors
on each GPU when they are fitted without it.

Data: ROCm/aiter (MIT).

Usage: python training/cdna.py [--data ../shared/data]
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
    """{(format, gpu): (m, k, µs of bytes, µs of FLOP, ln µs)}"""
    gpus = {gpu["id"]: gpu for gpu in json.loads(CATALOG.read_text())["gpus"]}
    table = pq.read_table(folder / "kernels/gemm_second_source.parquet")
    source, ids, dtypes = (column(table, name) for name in ("source", "gpu", "dtype"))
    m, n, k, micros = (column(table, name).astype(float) for name in ("m", "n", "k", "latency_us"))
    found = {}
    for name, (size, math) in FORMATS.items():
        for gpu in set(ids[source == "aiter"]):
            rows = (source == "aiter") & (ids == gpu) & (dtypes == name)
            if not rows.any():
                continue
            record = gpus[gpu]
            peak = record["sms"][0] * record["clock_mhz"][0] * record["tensor_flops_per_clock"][math][0]
            a, b, c, t = m[rows], n[rows], k[rows], micros[rows]
            reading = (b * c * size + a * c * size + a * b * 2) / (record["memory_gb_per_s"][0] * 1e3)
            multiplying = 2 * a * b * c / (peak * record["sustained_clock"][0])
            found[name, gpu] = np.array([a, c, reading, multiplying, np.log(t)])
    return found


def error(constants, rows):
    _, k, reading, multiplying, measured = rows
    launch, a, b, c = constants
    return np.abs(np.log(launch + a * reading + b * multiplying + c * k / 1000) - measured)


def fit(tables):
    rows = np.concatenate(tables, axis=1)
    _, octave, count = np.unique(np.floor(np.log2(rows[0])), return_inverse=True, return_counts=True)

    def loss(logs):
        return np.average(error(np.exp(logs), rows), weights=1 / count[octave])

    return np.exp(minimize(loss, np.log([3, 1.3, 1.3, 0.9]), method="Nelder-Mead", options={"maxiter": 6000}).x)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    tables = read(parser.parse_args().data)
    for name in FORMATS:
        own = {gpu: rows for (format_, gpu), rows in tables.items() if format_ == name}
        constants = fit(list(own.values()))
        print(f"{name:10}", " ".join(f"{value:.2f}" for value in constants))
        for gpu, rows in own.items():
            others = [other for key, other in own.items() if key != gpu]
            left = f", without it {100 * np.median(error(fit(others), rows)):.0f}" if others else ""
            print(f"  {gpu:8} {len(rows[0]):6} rows, median error {100 * np.median(error(constants, rows)):.0f} %{left}")


if __name__ == "__main__":
    main()
