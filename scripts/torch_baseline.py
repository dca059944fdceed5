#!/usr/bin/env python3
"""PyTorch's time for the linear problem, in both regimes, as JSON on stdout.

usage: torch_baseline.py [M N K] [--compile]
cold: median of launches 6..25 after 0.7 s idle, twice; sustained: median of the last 40 % of 2 s back to back, twice.
"""
import json
import statistics
import sys
import time

import torch


def events(f, launches):
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(launches + 1)]
    marks[0].record()
    for m in marks[1:]:
        f()
        m.record()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) for a, b in zip(marks, marks[1:])]


def cold(f):
    samples = []
    for _ in range(2):
        torch.cuda.synchronize()
        time.sleep(0.7)
        samples += events(f, 25)[5:]
    return statistics.median(samples)


def sustained(f):
    kept = []
    for _ in range(2):
        samples, start = [], time.time()
        while time.time() - start < 2:
            samples += events(f, 20)
        kept += samples[int(len(samples) * 0.6):]
    return statistics.median(kept)


def main():
    numbers = [int(a) for a in sys.argv[1:] if not a.startswith("-")]
    m, n, k = numbers if len(numbers) == 3 else (128, 32768, 32768)
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    model = torch.nn.Linear(k, n, device="cuda")
    x = torch.rand(m, k, device="cuda")

    def forward(v):
        z = model(v)
        return z * torch.sigmoid(z) * 2.0

    out = {"torch": torch.__version__, "device": torch.cuda.get_device_name(), "M": m, "N": n, "K": k}
    with torch.no_grad():
        variants = {"eager": forward, "compile": torch.compile(forward)}
        for name, f in variants.items():
            run = lambda: f(x)
            run()
            run()
            torch.cuda.synchronize()
            out[name] = {"cold_ms": cold(run), "sustained_ms": sustained(run)}
    print(json.dumps(out))


if __name__ == "__main__":
    main()
