"""vLLM's FlashAttention-3, called as vLLM calls it.

`FA3` names the shared object of the kernels, as in vLLM's wheel (`vllm/vllm_flash_attn/_vllm_fa3_C.abi3.so`; Apache-2.0), built
for the PyTorch that is installed. Nothing else of vLLM is needed.
"""

import os

import torch

torch.ops.load_library(os.environ["FA3"])
PAGE = 16  # vLLM's default block size, in tokens.
FP8 = torch.float8_e4m3fn
_pools = {}


def pool(kv_heads, head_dim, dtype, tokens, page):
    """Random keys and values of at least so many tokens, in vLLM's layout, and a random order of their pages."""
    key = (kv_heads, head_dim, dtype, page)
    if key not in _pools or _pools[key][0].shape[0] * page < tokens:
        _pools.clear()
        torch.cuda.empty_cache()
        pages = -(-tokens // page)
        cache = torch.empty(pages, 2, page, kv_heads, head_dim, dtype=dtype, device="cuda")
        for part in cache.split(4096):
            part.copy_(torch.randn(part.shape, dtype=torch.bfloat16, device="cuda"))
        _pools[key] = cache, torch.randperm(pages, device="cuda", dtype=torch.int32)
    return _pools[key]


class Attention:
    """One causal call over `groups` of (sequences, new tokens, cached tokens); keys of all tokens are in the paged cache."""

    def __init__(self, groups, heads, kv_heads, head_dim, window=0, dtype=torch.bfloat16, splits=0, room=0, page=PAGE):
        new = [n for count, n, _ in groups for _ in range(count)]
        lengths = [n + past for count, n, past in groups for _ in range(count)]
        pages = [-(-length // page) for length in lengths]
        cache, order = pool(kv_heads, head_dim, dtype, max(room, sum(pages) * page), page)
        table = torch.zeros(len(new), max(pages), dtype=torch.int32)
        order, start = order.cpu(), 0
        for row, count in zip(table, pages):
            row[:count] = order[start : start + count]
            start += count
        self.table, self.k, self.v = table.cuda(), cache[:, 0], cache[:, 1]
        starts = torch.tensor([0, *new]).cumsum(0)
        self.starts = starts.to(torch.int32).cuda()
        self.lengths = torch.tensor(lengths, dtype=torch.int32).cuda()
        self.q = torch.randn(sum(new), heads, head_dim, dtype=torch.bfloat16, device="cuda").to(dtype)
        self.out = torch.empty(sum(new), heads, head_dim, dtype=torch.bfloat16, device="cuda")
        self.scale = torch.ones(1, device="cuda").expand(len(new), kv_heads) if dtype == FP8 else None
        self.sinks = torch.randn(heads, dtype=torch.bfloat16, device="cuda") if head_dim == 64 else None
        self.window = (window - 1, 0) if window else (-1, -1)
        self.max_new, self.max_length, self.splits = max(new), max(lengths), splits
        # Once a step in vLLM, for all layers; models with two kinds of layers do without.
        self.schedule = None if head_dim == 64 else torch.ops._vllm_fa3_C.get_scheduler_metadata(
            len(new), self.max_new, self.max_length, heads, kv_heads, head_dim, head_dim, dtype, self.lengths,
            self.starts, None, None, None, None, page, 0, True, *self.window, False, splits, None, 0,
        )  # fmt: skip

    def __call__(self):
        return torch.ops._vllm_fa3_C.fwd(
            self.q, self.k, self.v, None, None, None, self.out, self.starts, None, None, None, self.lengths,
            self.max_new, self.max_length, self.table, None, None, None, None, None, self.scale, self.scale, self.scale,
            self.q.shape[-1] ** -0.5, True, *self.window, 0.0, True, self.schedule, self.splits, None, 0, self.sinks,
            1, 0, None,
        )[0]  # fmt: skip
