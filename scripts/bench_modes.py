"""What scripts/bench_kernelbench asks of `lathe tune`, compares, demands and prints, for each of its modes.

A record is what is kept of a problem: its winner and baselines, PyTorch's times, and ratios `NAME_cold` and
`NAME_sustained`, which a mode's table shows and its means are taken of.
"""
REGIMES = ["cold", "sustained"]


def ratio(a, b):
    return a / b if a and b else None


def number_text(value, form):
    return format(value, form) if value is not None else "-"


def pair(record, name, form):
    return " / ".join(number_text(record.get(f"{name}_{r}"), form) for r in REGIMES)


def times(what, form=".3f"):
    """The two times of a baseline or so, as one cell."""
    return " / ".join(number_text((what or {}).get(f"{r}_ms"), form) for r in REGIMES)


class Accurate:
    """float32 as accurate as SGEMM, against PyTorch eager; and 59 against TF32. What error a winner may have is the
    campaign's tolerance."""
    suffix = ""
    tune, dry_tune, settings, torch = [], [], [], {}
    ratios = ["times_eager", "times_sgemm", "of_tf32"]
    columns = [("error / SGEMM's", lambda r: number_text(r.get("times_sgemm_error"), ".2f")),
               ("eager ms", lambda r: times(r.get("eager"))),
               ("x eager", lambda r: pair(r, "times_eager", ".2f")),
               ("x SGEMM", lambda r: pair(r, "times_sgemm", ".2f")),
               ("/ TF32", lambda r: pair(r, "of_tf32", ".2f"))]
    legend = "eager, SGEMM and TF32 with the whole epilogue"

    EACH_EAGER = 3.7
    MEAN_EAGER = {"cold": 4.5, "sustained": 4.0}
    MOST_OF_TF32 = {59: {"cold": 1.13, "sustained": 1.25}}

    def compare(self, record, winner, base):
        sgemm, tf32 = base.get("sgemm", {}), base.get("sgemm_tf32", {})
        for r in REGIMES:
            ms = winner[f"{r}_ms"]
            record[f"times_eager_{r}"] = ratio((record["eager"] or {}).get(f"{r}_ms"), ms)
            record[f"times_sgemm_{r}"] = ratio(sgemm.get(f"{r}_ms"), ms)
            record[f"of_tf32_{r}"] = ratio(ms, tf32.get(f"{r}_ms"))
        record["times_sgemm_error"] = ratio(winner["error"], sgemm.get("error"))

    def misses(self, record):
        found = []
        for r in REGIMES:
            eager, of_tf32 = record[f"times_eager_{r}"], record[f"of_tf32_{r}"]
            most = self.MOST_OF_TF32.get(record["problem"], {}).get(r)
            if eager and eager < self.EACH_EAGER:
                found.append(f"{r}: {eager:.2f}x of eager < {self.EACH_EAGER}x")
            if most and of_tf32 and of_tf32 > most:
                found.append(f"{r}: {of_tf32:.2f} of TF32 > {most}")
        error, most = record["times_sgemm_error"], record["most_error"]
        if error and most and error > most:
            found.append(f"error {error:.2f} > {most:g}")
        return found

    def mean_misses(self, mean):
        return [f"{r}: {mean[f'times_eager_{r}']:.2f}x < {least}x" for r, least in self.MEAN_EAGER.items()
                if mean[f"times_eager_{r}"] and mean[f"times_eager_{r}"] < least]


class OfCublas:
    """Rates against cuBLAS, in the same format. libraries: baselines that compute the problem, of which the fastest
    counts; alone: cuBLAS without the epilogue, which does less."""
    ratios = ["times_eager", "of_cublas", "of_gemm"]
    columns = [("error", lambda r: number_text(r.get("winner", {}).get("error"), ".2e")),
               ("cuBLAS' error", lambda r: number_text((r.get("cublas") or {}).get("error"), ".2e")),
               ("eager ms", lambda r: times(r.get("eager"))),
               ("x eager", lambda r: pair(r, "times_eager", ".2f")),
               ("cuBLAS ms", lambda r: times(r.get("cublas"))),
               ("of cuBLAS' rate", lambda r: pair(r, "of_cublas", ".3f")),
               ("of its GEMM's alone", lambda r: pair(r, "of_gemm", ".3f"))]
    legend = ("cuBLAS with a plain epilogue kernel, and alone, which does less; eager with the whole epilogue, in the "
              "same format")

    def compare(self, record, winner, base):
        known = [base[name] for name in self.libraries if base.get(name, {}).get("cold_ms")]
        record["cublas"] = min(known, key=lambda b: b["cold_ms"]) if known else None
        for r in REGIMES:
            ms = winner[f"{r}_ms"]
            record[f"times_eager_{r}"] = ratio((record["eager"] or {}).get(f"{r}_ms"), ms)
            record[f"of_cublas_{r}"] = ratio((record["cublas"] or {}).get(f"{r}_ms"), ms)
            record[f"of_gemm_{r}"] = ratio(base.get(self.alone, {}).get(f"{r}_ms"), ms)

    def misses(self, record):
        found = [] if record["cublas"] else ["cuBLAS was not timed"]
        for r in REGIMES:
            of = record[f"of_cublas_{r}"]
            if of and of < self.least:
                found.append(f"{r}: {of:.3f} of cuBLAS' rate < {self.least}")
        return found

    def mean_misses(self, mean):
        return []


class Format(OfCublas):
    """float32 tensors, their products in one format, rounded once."""
    least = 0.95
    FORMATS = {"tf32": "tf32x1", "bf16": "bf16x1", "f16": "fp16x1"}
    # Rounding both matrices gives a relative Frobenius error of 2.8e-4 (tf32, f16) or 2.3e-3 (bf16), of which an
    # epilogue may make twice as much; tensor cores that take float32 as tf32 cut it, and that gives 7.5e-4. Elements:
    # five to six standard deviations of it, on the check values.
    FINE = "atol=1.25e-2,rtol=1.25e-2,frobenius=2e-3,times_sgemm_error=0"
    COARSE = "atol=1e-1,rtol=1e-1,frobenius=8e-3,times_sgemm_error=0"

    def __init__(self, name):
        self.suffix = f"-{name}"
        self.libraries, self.alone = [f"sgemm_{name}"], f"sgemm_{name}_alone"
        self.settings = []
        self.tune = self.arguments(name, self.FORMATS[name])
        self.dry_tune = self.arguments(name, "fp16x3" if name == "f16" else self.FORMATS[name])
        self.torch = {"tf32": True} if name == "tf32" else None     # it has no other such format

    def arguments(self, name, products):
        baselines = [word for b in ["sgemm"] + self.libraries + [self.alone] for word in ("--baseline", b)]
        return (["--where", f"FORMAT == '{products}'", "--tolerance", self.COARSE if name == "bf16" else self.FINE]
                + baselines)


class Tensors(OfCublas):
    """X, W, Y and what else there is, of 16 bits."""
    least = 0.9

    def __init__(self, name):
        self.suffix = f"-tensors-{name}"
        self.libraries, self.alone = ["gemm", "gemm_wide"], "gemm_alone"
        self.settings = ["--set", f"type={name}"]
        self.tune = self.dry_tune = []
        self.torch = {"dtype": {"f16": "float16", "bf16": "bfloat16"}[name]}
