"""Measure power and clocks beside time: products, attention, copies and layers of models, each run for SECONDS after a pause.

A short benchmark times a kernel in its first 20 ms; a loaded server runs it for hours under the power limit. Writes power.csv (a row
for each kernel), samples.csv (what NVML said every 10 ms) and host.csv (launches one by one against replays of a graph).
Usage: FA3=.../_vllm_fa3_C.abi3.so OUT=FOLDER python power.py [SECONDS_IN_ALL]
"""

import statistics
import sys
import threading
import time

import pynvml
import torch

from device import Table
from fa3 import FP8, Attention

SECONDS, PAUSE = 2.0, 0.6
INSTANT = 186  # NVML_FI_DEV_POWER_INSTANT
pynvml.nvmlInit()
NVML = pynvml.nvmlDeviceGetHandleByIndex(0)


def reading():
    field = pynvml.nvmlDeviceGetFieldValues(NVML, [INSTANT])[0]
    return {
        "instant_w": field.value.uiVal / 1e3 if field.nvmlReturn == 0 else "",
        "average_w": pynvml.nvmlDeviceGetPowerUsage(NVML) / 1e3,
        "energy_j": pynvml.nvmlDeviceGetTotalEnergyConsumption(NVML) / 1e3,
        "sm_mhz": pynvml.nvmlDeviceGetClockInfo(NVML, pynvml.NVML_CLOCK_SM),
        "memory_mhz": pynvml.nvmlDeviceGetClockInfo(NVML, pynvml.NVML_CLOCK_MEM),
        "reasons": pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(NVML),
        "celsius": pynvml.nvmlDeviceGetTemperature(NVML, 0),
    }


class Sampler(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.rows, self.on = [], True

    def run(self):
        while self.on:
            self.rows.append({"at": time.monotonic(), **reading()})
            time.sleep(0.01)


def rotating(make, bytes_each):
    """Products with weights of their own, enough of them that none is found in L2."""
    calls = [make() for _ in range(max(1, min(64, int(3e8 / bytes_each))))]
    state = [0]

    def call():
        state[0] += 1
        calls[state[0] % len(calls)]()

    return call


def bf16(m, n, k):
    a, out = (torch.randn(m, x, device="cuda", dtype=torch.bfloat16) for x in (k, n))

    def make():
        b = torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
        return lambda: torch.matmul(a, b.t(), out=out)

    return rotating(make, 2 * n * k)


def fp8(m, n, k):
    a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16).to(FP8)
    rows, columns = torch.ones(m, 1, device="cuda"), torch.ones(1, n, device="cuda")

    def make():
        b = torch.randn(n, k, device="cuda", dtype=torch.bfloat16).to(FP8)
        return lambda: torch._scaled_mm(a, b.t(), rows, columns, out_dtype=torch.bfloat16, use_fast_accum=True)

    return rotating(make, n * k)


def copy(size):
    a, b = (torch.randn(size // 4, device="cuda") for _ in range(2))
    return lambda: b.copy_(a)


def layers(attention, shapes, m, product, count=8):
    """Layers of a model at m tokens: products, and attention after the first of each layer."""
    products = [product(m, *shape) for shape in shapes]
    x = torch.randn(m, 8192, device="cuda", dtype=torch.bfloat16)

    def call():
        for _ in range(count):
            products[0]()
            attention()
            for each in products[1:]:
                each()
            for _ in range(2):
                torch.nn.functional.rms_norm(x, x.shape[-1:])

    return call


def cases():
    for m, n, k in [(8192, 8192, 8192), (4096, 4096, 4096), (16384, 16384, 8192)]:
        yield "bf16", f"{m}x{n}x{k}", bf16(m, n, k), 2 * m * n * k, 2 * (m * n + n * k + m * k)
    for m in (16, 64, 128, 256, 512, 1024, 2048, 4096, 8192):
        n, k = 28672, 4096
        yield "bf16", f"{m}x{n}x{k}", bf16(m, n, k), 2 * m * n * k, 2 * (m * n + n * k + m * k)
    for m, n, k in [(2048, 6144, 4096), (2048, 4096, 4096), (256, 6144, 4096), (64, 6144, 4096), (2048, 57344, 8192), (8192, 57344, 8192)]:
        yield "bf16", f"{m}x{n}x{k}", bf16(m, n, k), 2 * m * n * k, 2 * (m * n + n * k + m * k)
    for m in (16, 64, 128, 256, 1024, 2048, 8192):
        n, k = 28672, 4096
        yield "fp8", f"{m}x{n}x{k}", fp8(m, n, k), 2 * m * n * k, 2 * m * n + n * k + m * k
    for m, n, k in [(8192, 8192, 8192), (2048, 6144, 4096), (8192, 57344, 8192)]:
        yield "fp8", f"{m}x{n}x{k}", fp8(m, n, k), 2 * m * n * k, 2 * m * n + n * k + m * k
    for sequences, length in [(64, 4096), (16, 16384), (256, 1024), (4, 1024), (1, 131072)]:
        for dtype, size in ((torch.bfloat16, 2), (FP8, 1)):
            call = Attention([(sequences, 1, length - 1)], 32, 8, 128, dtype=dtype, splits=32)
            tokens = sequences * length
            yield f"decode_{'fp8' if size == 1 else 'bf16'}", f"{sequences}x{length}", call, 4 * 32 * 128 * tokens, 2 * 8 * 128 * size * tokens
    for new, past in [(8192, 0), (2048, 16384), (1024, 0)]:
        pairs = new * past + new * (new + 1) / 2
        yield "prefill_bf16", f"{new}+{past}", Attention([(1, new, past)], 32, 8, 128), 4 * 32 * 128 * pairs, 4 * 32 * 128 * new + 4 * 8 * 128 * (new + past)
    for size in (1 << 30, 1 << 26, 1 << 22):
        yield "copy", f"{size >> 20}MiB", copy(size), 0, 2 * size
    llama = [(6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336)]
    seventy = [(2560, 8192), (8192, 2048), (14336, 8192), (8192, 7168)]
    for name, shapes, heads, m, groups, product in [
        ("8b_bf16", llama, (32, 8, 128), 8192, [(4, 2048, 0)], bf16),
        ("8b_bf16", llama, (32, 8, 128), 2048, [(2, 1024, 0)], bf16),
        ("8b_bf16", llama, (32, 8, 128), 64, [(64, 1, 2047)], bf16),
        ("8b_bf16", llama, (32, 8, 128), 256, [(256, 1, 2047)], bf16),
        ("8b_fp8", llama, (32, 8, 128), 8192, [(4, 2048, 0)], fp8),
        ("8b_fp8", llama, (32, 8, 128), 64, [(64, 1, 2047)], fp8),
        ("70b_tp4_bf16", seventy, (16, 2, 128), 8192, [(4, 2048, 0)], bf16),
        ("70b_tp4_fp8", seventy, (16, 2, 128), 8192, [(4, 2048, 0)], fp8),
        ("70b_tp4_fp8", seventy, (16, 2, 128), 64, [(64, 1, 4095)], fp8),
    ]:
        yield "layers_" + name, str(m), layers(Attention(groups, *heads), shapes, m, product), 0, 0


def spell(fn):
    """Run for SECONDS in blocks of about 2 ms, two of them queued; [(end of block since the start, µs a call)]."""
    for _ in range(3):
        fn()
    torch.cuda.synchronize()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(3):
        fn()
    end.record()
    torch.cuda.synchronize()
    inner = max(1, min(200, int(2000 / (start.elapsed_time(end) * 1e3 / 3))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(inner):
            fn()
    torch.cuda.synchronize()
    time.sleep(PAUSE)
    began, marks = time.monotonic(), [torch.cuda.Event(enable_timing=True)]
    marks[0].record()
    while time.monotonic() - began < SECONDS:
        graph.replay()
        marks.append(torch.cuda.Event(enable_timing=True))
        marks[-1].record()
        if len(marks) > 4:
            marks[-4].synchronize()
    torch.cuda.synchronize()
    ended = time.monotonic()
    at = [marks[0].elapsed_time(mark) for mark in marks]
    return began, ended, [(b, (b - a) * 1e3 / inner) for a, b in zip(at, at[1:])]


def middle(values):
    return statistics.median(values) if values else ""


def kernels(seconds):
    table, sampler = Table("power.csv", seconds), Sampler()
    sampler.start()
    torch.cuda.synchronize()
    time.sleep(3)
    table_of_samples = Table("samples.csv", 1e9)
    idle = [row for row in sampler.rows if row["at"] > sampler.rows[-1]["at"] - 1]
    print("idle", middle([row["average_w"] for row in idle]), "W", idle[-1], "limit", pynvml.nvmlDeviceGetPowerManagementLimit(NVML))
    for kind, shape, call, flop, size in cases():
        if not table.left():
            break
        try:
            began, ended, blocks = spell(call)
        except RuntimeError as error:
            print(kind, shape, str(error)[:300], flush=True)
            continue
        def of(low, high):
            times = [us for at, us in blocks if low <= at < high]
            return round(middle(times), 2) if times else ""

        while not sampler.rows or sampler.rows[-1]["at"] < ended:
            time.sleep(0.005)
        inside = [row for row in sampler.rows if began <= row["at"] <= ended]
        late = [row for row in inside if row["at"] > began + SECONDS / 2]
        span = late[-1]["at"] - late[0]["at"]
        table.add({
            "kind": kind, "shape": shape, "flop": int(flop), "bytes": int(size),
            "us_5ms": of(0, 5), "us_20ms": of(5, 20), "us_100ms": of(20, 100), "us_500ms": of(100, 500),
            "us_1s": of(500, 1000), "us_end": of(1000, 1e9),
            "energy_w": round((late[-1]["energy_j"] - late[0]["energy_j"]) / span, 1),
            "instant_w": middle([row["instant_w"] for row in late]), "average_w": middle([row["average_w"] for row in late[len(late) // 2:]]),
            "sm_mhz_first": middle([row["sm_mhz"] for row in inside if row["at"] < began + 0.03]),
            "sm_mhz": middle([row["sm_mhz"] for row in late]), "memory_mhz": middle([row["memory_mhz"] for row in late]),
            "reasons": max(row["reasons"] for row in late), "celsius": late[-1]["celsius"],
        })  # fmt: skip
        for row in inside:
            table_of_samples.add({"kind": kind, "shape": shape, **row, "at": round(row["at"] - began, 4)})
    sampler.on = False
    print("power", table.rows, "rows", flush=True)


def host():
    """µs of the host for a launch, and of a replayed graph for each of its kernels, at kernels of almost no work."""
    table = Table("host.csv", 60)
    x = torch.zeros(1024, device="cuda")
    a, b = (torch.randn(16, 1024, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    attention = Attention([(1, 1, 127)], 32, 8, 128)
    for name, call in (("add", lambda: x.add_(1)), ("matmul", lambda: a @ b.t()), ("attention", attention)):
        call()
        for count in (100, 400, 1600):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(count):
                    call()
            row = {"kernel": name, "launches": count}
            for mode, run in (("eager", lambda: [call() for _ in range(count)]), ("graph", graph.replay)):
                enqueue, whole, device = [], [], []
                for _ in range(8):
                    torch.cuda.synchronize()
                    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                    begin = time.perf_counter()
                    start.record()
                    run()
                    end.record()
                    enqueue.append(time.perf_counter() - begin)
                    torch.cuda.synchronize()
                    whole.append(time.perf_counter() - begin)
                    device.append(start.elapsed_time(end))
                row |= {f"{mode}_host_us": round(middle(enqueue[2:]) * 1e6, 1), f"{mode}_whole_us": round(middle(whole[2:]) * 1e6, 1),
                        f"{mode}_device_us": round(middle(device[2:]) * 1e3, 1)}  # fmt: skip
            table.add(row)


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), torch.__version__)
    host()
    kernels(float(sys.argv[1]) if len(sys.argv) > 1 else 240)
