"""Fit the share of the boost clock each GPU holds in large matrix products.

Under the power limit a tensor-bound kernel runs below the clock its peak is quoted at. The share is
read off measured BF16 products: the 95th percentile of achieved over peak FLOP/s. It still holds the
loss of the kernel itself, so the clock's own share is at least this, while few products reach it. A
visitor may edit it; learned models never see it (they learn from times at whatever clock was held).

Data: ai-dynamo/aiconfigurator (Copyright NVIDIA Corporation & Affiliates, Apache-2.0); for GPUs it
lacks, microsoft/vidur (MIT), casys-kaist/LLMServingSim (MIT), microsoft/apex_plus (MIT).

Usage: python training/sustained.py [--data ../shared/data] [--write]
"""

import numpy as np
import pyarrow.parquet as pq

from gpu_figures import column, main

PERCENTILE = 95
# Table, least m, least n and k, source id. The secondary source stops at m = 2048 on some GPUs, where
# GEMMs of this depth are already bound by the tensor cores.
TABLES = [
    ("gemm.parquet", 4096, 4096, "fitted-gemm"),
    ("gemm_second_source.parquet", 1024, 2048, "fitted-gemm2"),
]


def peak_flops(gpu):
    """Dense BF16 FLOP/s at the boost clock; None where the tensor cores lack the format."""
    rate = gpu["tensor_flops_per_clock"]["bf16"][0]
    return rate and gpu["sms"][0] * gpu["clock_mhz"][0] * 1e6 * rate


def fit(folder, gpus):
    """{gpu id: (share, source id, rows)}; the first table that holds a GPU wins."""
    found = {}
    for name, least_m, least_nk, source in TABLES:
        table = pq.read_table(folder / "kernels" / name)
        m, n, k, micros = (column(table, c).astype(float) for c in ("m", "n", "k", "latency_us"))
        large = (column(table, "dtype") == "bf16") & (m >= least_m) & (n >= least_nk) & (k >= least_nk)
        ids = column(table, "gpu")
        for gpu in gpus:
            rows, peak = large & (ids == gpu["id"]), peak_flops(gpu)
            if gpu["id"] in found or not peak or not rows.any():
                continue
            achieved = 2 * m[rows] * n[rows] * k[rows] / (micros[rows] * 1e-6)
            share = min(1.0, np.percentile(achieved / peak, PERCENTILE))
            found[gpu["id"]] = (round(float(share), 3), source, int(rows.sum()))
    return found


if __name__ == "__main__":
    main(__doc__, "sustained_clock", fit)
