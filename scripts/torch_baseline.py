#!/usr/bin/env python3
"""PyTorch's time for a problem of kernels/kernelbench, in both regimes, as JSON on stdout.

usage: torch_baseline.py [NUMBER M N K] [--compile]      (default: 59 128 32768 32768)
cold: median of launches 6..25 after 0.7 s idle, twice; sustained: median of the last 40 % of 2 s back to back, twice.
Float32 without TF32; scripts/bench_kernelbench, which uses it as a module, can have it otherwise.
"""
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F

# Number: what follows the linear layer, of its output z and the problem's own parameter p. The steps are those of the
# problem's model, each a launch: how many they are is what eager mode takes its time for.
ACTIVATIONS = {
    9: lambda z, p: torch.relu((z - 2.0) * 1.5),
    12: lambda z, p: F.leaky_relu(z * 2.0, 0.1),
    29: lambda z, p: F.mish(F.mish(z)),
    40: lambda z, p: add_to_copy(z, 0.5),
    53: lambda z, p: F.gelu(F.hardtanh(z * 0.5, -2, 2)),
    59: lambda z, p: z * torch.sigmoid(z) * 2.0,
    63: lambda z, p: torch.relu(z) / 2.0,
    68: lambda z, p: torch.min(z, p) - p,
    70: lambda z, p: torch.sigmoid(z) * 2.0 + z,
    76: lambda z, p: torch.relu(z + p),
    81: lambda z, p: torch.clamp(torch.tanh(torch.clamp(z * torch.sigmoid(z) / 2.0, -1.0, 1.0)), -1.0, 1.0),
    86: lambda z, p: F.gelu(z / 10.0),
    95: lambda z, p: F.hardtanh(F.gelu(torch.tanh(swish(z + p))), -1, 1),
}


def swish(v):
    return torch.sigmoid(v) * v


def add_to_copy(z, factor):
    copy = z.clone()
    return z * factor + copy


def make(number, m, n, k, **kind):
    """forward, x: the problem's model and an input; kind: their device and dtype"""
    torch.manual_seed(0)
    linear = torch.nn.Linear(k, n, bias=number != 76, **kind)
    own = torch.tensor(2.0, **kind) if number == 68 else torch.randn(n, **kind)
    activation = ACTIVATIONS[number]
    return lambda v: activation(linear(v), own), torch.rand(m, k, **kind)


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


def measure(number, m, n, k, compiled=False, dtype="float32", tf32=False):
    """{"eager": {"cold_ms", "sustained_ms"}}, and "compile" if wanted; frees the GPU's memory."""
    torch.backends.cuda.matmul.allow_tf32 = tf32
    forward, x = make(number, m, n, k, device="cuda", dtype=getattr(torch, dtype))
    out = {}
    with torch.no_grad():
        for name, f in {"eager": forward, "compile": torch.compile(forward) if compiled else None}.items():
            if f is not None:
                f(x)
                f(x)
                torch.cuda.synchronize()
                out[name] = {"cold_ms": cold(lambda: f(x)), "sustained_ms": sustained(lambda: f(x))}
    del forward, x, f
    torch.cuda.empty_cache()
    return out


def main():
    numbers = [int(a) for a in sys.argv[1:] if not a.startswith("-")] or [59, 128, 32768, 32768]
    if len(numbers) != 4 or numbers[0] not in ACTIVATIONS:
        sys.exit(__doc__)
    number, m, n, k = numbers
    out = {"torch": torch.__version__, "device": torch.cuda.get_device_name(), "problem": number}
    out.update({"M": m, "N": n, "K": k})
    out.update(measure(number, m, n, k, "--compile" in sys.argv))
    print(json.dumps(out))


if __name__ == "__main__":
    main()
