"""Times SGLang's Triton attention: decoding and prompts, with latent keys (MLA) and plain ones.

`SGLANG` names an unpacked wheel of SGLang 0.5.7; only its Triton kernels are used, nothing else of it is imported.
Writes triton_decode.csv and triton_prefill.csv.
"""

import itertools
import math
import os
import statistics
import sys
import types
from pathlib import Path

import torch

from device import Table, cold, warm

FOLDER = Path(os.environ["SGLANG"]) / "sglang/srt/layers/attention/triton_ops"


def module(name, **content):
    """Stands in for a package of SGLang whose own file would import all of it."""
    made = types.ModuleType(name)
    made.__path__ = []
    made.__dict__.update(content)
    sys.modules[name] = made
    return made


for package in ("sglang", "sglang.srt", "sglang.srt.layers", "sglang.srt.layers.attention"):
    module(package)
module("sglang.srt.utils", is_hip=lambda: False, is_cuda=lambda: True)
module("sglang.srt.layers.attention.triton_ops").__path__ = [str(FOLDER)]
from sglang.srt.layers.attention.triton_ops.decode_attention import decode_attention_fwd
from sglang.srt.layers.attention.triton_ops.extend_attention import extend_attention_fwd

BF16 = {"dtype": torch.bfloat16, "device": "cuda"}
INT = {"dtype": torch.int32, "device": "cuda"}
SMS = torch.cuda.get_device_properties(0).multi_processor_count
MOST_SECONDS = 300  # For each table; all of it took less than one minute.
MOST_SPLITS = 8  # The default of --triton-attention-num-kv-splits.
LATENT = (576, 512)  # Elements of a latent key and of its value, which is the key's first part.
# Heads, heads of keys, elements of a key, of a value.
DECODING = [(heads, 1, *LATENT) for heads in (8, 20, 16, 128)]
DECODING += [(8, 8, 192, 128), (20, 20, 256, 256), (8, 1, 128, 128), (32, 8, 128, 128), (8, 8, 256, 256), (64, 8, 64, 64)]
PROMPTS = [(8, 8, 192, 128), (20, 20, 256, 256), (16, 16, 192, 128), (8, 1, *LATENT), (20, 1, *LATENT), (32, 8, 128, 128), (8, 1, 128, 128)]


def measure(call, repeats):
    """µs of a replayed graph of one call on the same tensors, and of a call with an empty L2."""
    call()
    times = {"warm_us": warm(call, 1, 5), "cold_us": cold(call, repeats)}
    return {name: round(statistics.median(of), 2) for name, of in times.items()}


def splits(batch, context, heads, kv_heads):
    """Parts that a sequence's keys are split in: SGLang's `get_num_kv_splits_triton` for equal lengths."""
    group = heads // kv_heads
    blocks = batch * (heads if group == 1 else math.ceil(heads / min(16, group)))
    most = min(math.ceil(int(SMS * max(math.log2(context / 64), 1.0)) / blocks), MOST_SPLITS)
    return math.ceil(context / math.ceil(context / most))


def cache(tokens, kv_heads, key, value):
    keys = torch.randn(tokens, kv_heads, key, **BF16)
    return keys, keys[..., :value] if (key, value) == LATENT else torch.randn(tokens, kv_heads, value, **BF16)


def starts(batch, length):
    return torch.arange(batch + 1, **INT) * length


def decoding(batch, context, heads, kv_heads, key, value):
    """A call in which each of `batch` sequences of `context` tokens gets its next token; checked against float32 where small."""
    keys, values = cache(batch * context, kv_heads, key, value)
    queries, out = torch.randn(batch, heads, key, **BF16), torch.empty(batch, heads, value, **BF16)
    order = torch.randperm(batch * context, device="cuda")
    parts = [torch.empty(batch, heads, MOST_SPLITS, *tail, device="cuda") for tail in ((value,), ())]
    count = torch.full((batch,), splits(batch, context, heads, kv_heads), **INT)
    arguments = (queries, keys, values, out, starts(batch, context), order, *parts, count, MOST_SPLITS, key**-0.5)

    def call():
        decode_attention_fwd(*arguments)

    call()
    if batch * context <= 8192:
        rows, group = order[:context], heads // kv_heads
        all_keys, all_values = (of[rows].float().repeat_interleave(group, 1) for of in (keys, values))
        weights = torch.softmax(torch.einsum("hd,nhd->hn", queries[0].float(), all_keys) * key**-0.5, -1)
        expected = torch.einsum("hn,nhd->hd", weights, all_values)
        assert (out[0].float() - expected).norm() < 0.02 * expected.norm(), (heads, kv_heads, batch, context)
    return call


def prompts(batch, new, past, heads, kv_heads, key, value):
    """A call in which each of `batch` sequences gets `new` tokens after `past` cached ones."""
    queries, out = torch.randn(batch * new, heads, key, **BF16), torch.empty(batch * new, heads, value, **BF16)
    keys, values = (torch.randn(batch * new, kv_heads, size, **BF16) for size in (key, value))
    held = max(1, batch * past)
    cached = torch.randn(held, kv_heads, key, **BF16)
    order = torch.randperm(held, device="cuda")
    tensors = (queries, keys, values, out, cached, cached[..., :value], starts(batch, new), starts(batch, past), order)

    def call():
        extend_attention_fwd(*tensors, None, True, None, new, key**-0.5)

    return call


def main():
    names = ("heads", "kv_heads", "key_dim", "value_dim")
    table = Table("triton_decode.csv", MOST_SECONDS)
    for shape, batch, context in itertools.product(DECODING, (1, 2, 4, 8, 16, 32, 64, 128), (512, 1024, 2048, 4096, 8192, 16384)):
        if batch * context * shape[1] * sum(shape[2:]) * 2 <= 8e9 and batch * context <= 1 << 19 and table.left():
            call = {"batch": batch, "context": context, "splits": splits(batch, context, *shape[:2])}
            table.add(dict(zip(names, shape)) | call | measure(decoding(batch, context, *shape), 5))
    table = Table("triton_prefill.csv", MOST_SECONDS)
    for shape, batch, new, past in itertools.product(PROMPTS, (1, 4), (16, 64, 128, 256, 512, 1024, 2048, 4096, 8192), (0, 2048, 8192)):
        if batch * (new + past) <= 1 << 16 and table.left():
            call = {"batch": batch, "new": new, "past": past}
            table.add(dict(zip(names, shape)) | call | measure(prompts(batch, new, past, *shape), 3))


if __name__ == "__main__":
    main()
