"""What the measuring scripts share: timing by CUDA events, and CSV files."""

import csv
import os
import statistics
import time
from pathlib import Path

import torch

OUT = Path(os.environ.get("OUT", "."))
# Read between two calls so that nothing of the first is left in L2; 4 to 5 times the cache of H100.
_flush = torch.zeros(64 << 20, dtype=torch.float32, device="cuda")


def cold(call, repeats):
    """µs of each call with an empty L2; launches are queued behind the reading of the flushed buffer."""
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(repeats)]
    for start, end in events:
        _flush.sum()
        start.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(end) * 1e3 for start, end in events]


def warm(call, inner, repeats):
    """µs per call of each replay of a graph of `inner` calls on the same tensors."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(inner):
            call()
    times = []
    for _ in range(repeats + 1):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        times.append((start, end))
    torch.cuda.synchronize()
    return [start.elapsed_time(end) * 1e3 / inner for start, end in times[1:]]


def measure(call):
    """Medians and spreads (largest over least) of a call's times, cold and warm."""
    call()
    first = statistics.median(cold(call, 3))
    repeats = 9 if first < 2000 else 5 if first < 8000 else 3
    apart = cold(call, repeats)
    inner = max(1, min(10, int(2000 / first)))
    again = warm(call, inner, repeats)
    return {
        "cold_us": round(statistics.median(apart), 2),
        "cold_spread": round(max(apart) / min(apart), 3),
        "warm_us": round(statistics.median(again), 2),
        "warm_spread": round(max(again) / min(again), 3),
    }


class Table:
    """A CSV file written row by row, until the time is up."""

    def __init__(self, name, seconds):
        self.file = open(OUT / name, "w", newline="")
        self.writer, self.rows, self.end, self.failed = None, 0, time.monotonic() + seconds, 0

    def left(self):
        return time.monotonic() < self.end

    def add(self, row):
        if self.writer is None:
            self.writer = csv.DictWriter(self.file, row.keys(), lineterminator="\n")
            self.writer.writeheader()
        self.writer.writerow(row)
        self.file.flush()
        self.rows += 1
