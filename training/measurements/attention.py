"""Measure attention over cached prefixes, and of prompts beside decoding sequences, with vLLM's FlashAttention-3.

Writes mixed.csv, prefix.csv, ragged.csv and pages.csv. Usage: FA3=.../_vllm_fa3_C.abi3.so OUT=FOLDER python attention.py [SECONDS]
"""

import itertools
import json
import random
import sys
import time

import torch

from device import Table, measure
from fa3 import FP8, Attention

K = 1024
NEW = [16, 64, 128, 256, 512, K, 2 * K, 4 * K, 8 * K]
PAST = [0, 512, K, 2 * K, 4 * K, 8 * K, 16 * K, 32 * K, 64 * K, 128 * K]
# Query heads, KV heads, head size, window: Llama-3.1-8B, Llama-70B and Qwen3-32B at TP 1 to 8, Qwen3-30B-A3B, gpt-oss.
SHAPES = [
    (32, 8, 128, 0), (64, 8, 128, 0), (8, 1, 128, 0), (32, 4, 128, 0), (64, 8, 64, 0), (64, 8, 64, 128),
    (16, 2, 128, 0), (8, 2, 128, 0), (4, 1, 128, 0), (16, 4, 128, 0), (16, 2, 64, 0), (16, 2, 64, 128),
]  # fmt: skip
LONGEST_US = 25_000
ROOM = 1 << 20  # tokens of cache


def estimate(groups, heads, head_dim, window):
    """µs at about half of an H100's peak."""
    pairs = sum(c * n * min(past + n / 2, window or 1 << 30) for c, n, past in groups)
    return 4 * heads * head_dim * pairs / 4e8


def row(shape, dtype, **more):
    heads, kv_heads, head_dim, window = shape
    return {"heads": heads, "kv_heads": kv_heads, "head_dim": head_dim, "window": window,
            "dtype": "fp8" if dtype == FP8 else "bf16", **more}  # fmt: skip


def fits(groups, shape):
    return (
        estimate(groups, shape[0], shape[2], shape[3]) < LONGEST_US
        and sum(c * (n + past + 16) for c, n, past in groups) <= ROOM
        and sum(c * n for c, n, _ in groups) <= 32 * K
    )


def timed(table, calls, shape, dtype, most=0, page=16, **more):
    if not fits(calls, shape):
        return
    try:
        found = measure(Attention(calls, *shape, dtype=dtype, splits=most, room=ROOM, page=page))
        table.add(row(shape, dtype, **more, **found))
    except RuntimeError as error:
        table.failed += 1
        if table.failed < 4:
            print(shape, calls, dtype, str(error)[:300], flush=True)


def prefixes(seconds):
    table = Table("prefix.csv", seconds)
    few = [(b, n, p) for b in (2, 4, 8, 16) for n in NEW[::2] for p in PAST[:1] + PAST[2::2]]
    for dtype, shapes in ((torch.bfloat16, SHAPES[:6]), (FP8, [SHAPES[1], SHAPES[3]]), (torch.bfloat16, SHAPES[6:])):
        for shape in shapes:
            for batch, new, past in [(1, n, p) for n in NEW for p in PAST] + few:
                if table.left():
                    timed(table, [(batch, new, past)], shape, dtype, batch=batch, new=new, past=past)
    return table


def ragged(seconds):
    table, draw = Table("ragged.csv", seconds), random.Random(1)
    for shape in SHAPES[:6]:
        for _ in range(50):
            groups = [
                (1, round(2 ** draw.uniform(4, 12)), draw.choice([0, 1]) * round(2 ** draw.uniform(8, 16)))
                for _ in range(draw.randint(2, 16))
            ]
            if table.left():
                timed(table, groups, shape, torch.bfloat16, groups=json.dumps(groups))
    return table


def pages(seconds):
    """SGLang's pages of one token, and larger ones."""
    table = Table("pages.csv", seconds)
    for page in (1, 16, 64):
        for shape in (SHAPES[0], SHAPES[2], SHAPES[4]):
            for new, past in [(n, p) for n in NEW[::2] for p in PAST[::2]]:
                if table.left():
                    timed(table, [(1, new, past)], shape, torch.bfloat16, 0, page, tokens=page, new=new, past=past)
    return table


def mixed(seconds):
    """A prompt's chunk and decoding sequences in one call, each alone, and decoding as in a full graph (32 splits)."""
    table = Table("mixed.csv", seconds)
    chunks = [(1, n, p) for n in (128, 512, K, 2 * K, 4 * K, 8 * K) for p in (0, 4 * K, 16 * K)] + [(8, K, 0), (16, 128, 0)]
    decodes = [(c, 1, length - 1) for c in (1, 4, 16, 64, 128, 256) for length in (K, 4 * K, 16 * K)]
    for shape in (SHAPES[0], SHAPES[1], SHAPES[2], SHAPES[4], SHAPES[5], SHAPES[3]):
        for chunk, decode in itertools.product([None, *chunks], [None, *decodes]):
            groups = [group for group in (decode, chunk) if group]
            (count, new, past), (sequences, _, context) = chunk or (0, 0, 0), decode or (0, 0, 0)
            for splits in (0, 32) if not chunk else (0,):
                if groups and table.left():
                    timed(table, groups, shape, torch.bfloat16, splits, splits=splits, batch=count, new=new, past=past,
                          decoding=sequences, context=context + bool(sequences))  # fmt: skip
    return table


def check():
    """Against PyTorch's attention in float32, at the third call with one schedule."""
    for shape, dtype in (((32, 8, 128, 0), torch.bfloat16), ((32, 8, 128, 0), FP8), ((8, 1, 128, 0), torch.bfloat16)):
        call = Attention([(3, 1, 700), (2, 300, 900), (1, 65, 0)], *shape, dtype=dtype, room=ROOM)
        for _ in range(3):
            out = call()
        worst = 0.0
        for i, length in enumerate(call.lengths.tolist()):
            rows = slice(call.starts[i], call.starts[i + 1])
            pages = call.table[i, : -(-length // 16)].long()
            group = shape[0] // shape[1]
            k, v = (x[pages].flatten(0, 1)[:length].float().repeat_interleave(group, 1).transpose(0, 1) for x in (call.k, call.v))
            q = call.q[rows].float().transpose(0, 1)
            mask = torch.ones(q.shape[1], length, dtype=torch.bool, device="cuda").tril(length - q.shape[1])
            want = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask).transpose(0, 1)
            worst = max(worst, float((out[rows].float() - want).norm() / want.norm()))
        print("check", shape, dtype, f"{worst:.4f}", flush=True)


if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 400
    print(torch.cuda.get_device_name(), torch.__version__)
    check()
    start = time.monotonic()
    for part, share in ((mixed, 0.4), (prefixes, 0.8), (ragged, 0.9), (pages, 1.0)):
        table = part(seconds * share - (time.monotonic() - start))
        print(part.__name__, table.rows, "rows", table.failed, "failed", round(time.monotonic() - start), "s", flush=True)
