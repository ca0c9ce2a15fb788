"""Fit the share of the memory bandwidth that each GPU's fastest kernels reach on cold data.

Over GEMMs of at most 16 rows (BF16), and over decode attention, that read more than four times the L2: the
99th percentile of compulsory bytes over time and peak bandwidth, the larger of the two. Measuring
loops leave smaller problems in the L2, so they say nothing about it.

Data: ai-dynamo/aiconfigurator (Copyright NVIDIA Corporation & Affiliates, Apache-2.0).

Usage: python training/cold.py [--data ../shared/data] [--write]
"""

import numpy as np
import pyarrow.parquet as pq

from gpu_figures import column, main

PERCENTILE = 99
BEYOND_L2 = 4
MOST_ROWS = 16
SOURCE = "fitted-cold"


def products(folder):
    """GPU, bytes and µs of each row."""
    table = pq.read_table(folder / "kernels/gemm.parquet", columns=["gpu", "dtype", "m", "n", "k", "latency_us"])
    m, n, k, micros = (column(table, name).astype(float) for name in ("m", "n", "k", "latency_us"))
    kept = (column(table, "dtype") == "bf16") & (m <= MOST_ROWS)
    return column(table, "gpu")[kept], (2 * (n * k + m * (n + k)))[kept], micros[kept]


def attention(folder):
    """The same: keys and values once."""
    sizes = ("batch", "kv_len", "kv_heads", "head_dim", "window", "latency_us")
    table = pq.read_table(folder / "kernels/attention_decode.parquet", columns=["gpu", "kv_dtype", *sizes])
    batch, length, heads, width, window, micros = (column(table, name).astype(float) for name in sizes)
    kept = window == 0
    element = np.where(column(table, "kv_dtype") == "fp8", 1, 2)
    return column(table, "gpu")[kept], (2 * batch * length * heads * width * element)[kept], micros[kept]


def fit(folder, gpus):
    """{gpu id: (share, source id, rows)}"""
    found = {}
    for ids, read, micros in (products(folder), attention(folder)):
        for gpu in gpus:
            rows = (ids == gpu["id"]) & (read > BEYOND_L2 * gpu["l2_bytes"][0])
            if not rows.any():
                continue
            share = np.percentile(read[rows] / (micros[rows] * 1e3 * gpu["memory_gb_per_s"][0]), PERCENTILE)
            before, _, count = found.get(gpu["id"], (0.0, SOURCE, 0))
            found[gpu["id"]] = (max(before, round(float(share), 2)), SOURCE, count + int(rows.sum()))
    return found


if __name__ == "__main__":
    main(__doc__, "cold_share", fit)
