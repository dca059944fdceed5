"""Runs an exported file's ways of computing with the stand-in for PyTorch: scenarios.py FILE NAME. What is expected is
said here; a difference ends it with an error. test/cli/export_torch.bats makes the files and the environment, and
test/unit/cli/test_export_torch.c those of `launches`."""
import importlib.util
import os
import sys
import threading
import warnings

import torch
from torch.nn import FormulaUsed
from torch.utils import cpp_extension

spec = importlib.util.spec_from_file_location("exported", sys.argv[1])
exported = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exported)
M, N, K = (exported.LATHE_TUNED_SIZES + (None, None))[:3]
told = []
warnings.showwarning = lambda message, *rest: told.append(str(message))
warnings.simplefilter("always")


def same(got, wanted):
    assert got == wanted, "\n  got    %r\n  wanted %r" % (got, wanted)


def has(text, part):
    assert part in text, "\n  %r\n  lacks %r" % (text, part)


def raises(kind, part, f):
    try:
        f()
    except kind as e:
        has(str(e), part)
    else:
        raise AssertionError("no %s: %s" % (kind.__name__, part))


def taken():
    out = list(torch.record)
    torch.record.clear()
    return out


def model(index=0):
    m = exported.ModelNew(K, N, 3.0).cuda(index)
    m.matmul.weight.name, m.matmul.bias.name = "W", "b"
    return m


def x(rows=M, index=0, **changes):
    t = torch.Tensor((rows, K), device=torch.device("cuda", index), name="x")
    t.__dict__.update(changes)
    return t


def driver_log():
    with open(os.environ["FAKE_CUDA_LOG"]) as f:
        lines = f.read().splitlines()
    open(os.environ["FAKE_CUDA_LOG"], "w").close()
    return lines


def inputs():
    """What is refused, whatever computes."""
    m = model()
    raises(ValueError, "x is on cpu, expected a CUDA device", lambda: m(torch.Tensor((M, K))))
    raises(ValueError, "matmul.weight is on cuda:0, and x on cuda:1", lambda: m(x(index=1)))
    raises(TypeError, "x is torch.float16, expected torch.float32", lambda: m(x(dtype=torch.float16)))
    raises(ValueError, "x is not contiguous", lambda: m(x(contiguous_=False)))
    wanted = "expected x [M, K], matmul.weight [N, K], matmul.bias [N]"
    raises(ValueError, "%s; x is [%d]" % (wanted, K), lambda: m(x(shape=(K,))))
    raises(ValueError, "x is [%d, %d]" % (M, K + 1), lambda: m(x(shape=(M, K + 1))))
    same((taken(), told), ([], []))


def inline():
    m, inp = model(), x()
    os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0 9.0"  # what is written for sm_90a compiles for neither
    y = m(inp)
    same(os.environ.pop("TORCH_CUDA_ARCH_LIST"), "8.0 9.0")
    nvcc = "-gencode=arch=compute_90a,code=sm_90a -DLATHE_WORKSPACE_KEPT"
    run = "run 3 inputs 1 outputs (%d, %d, %d) (3.0,) 4096 bytes stream 5000"
    same(taken(), ["compile " + nvcc, "workspace %s" % ((M, N, K),), "zero workspace[256:320]", run % (M, N, K)])
    same((y.shape, y.dtype, str(y.device)), ((M, N), torch.float32, "cuda:0"))
    same(exported.lathe_module.pointers[:2],
         ([inp.data_ptr(), m.matmul.weight.data_ptr(), m.matmul.bias.data_ptr()], [y.data_ptr()]))
    m(x())
    same(taken(), [run % (M, N, K)])
    m(x(rows=M + 1))  # another batch: the launcher takes any size
    same(taken(), ["workspace %s" % ((M + 1, N, K),), "zero workspace[256:320]", run % (M + 1, N, K)])
    m(x())  # the memory was given to the other size meanwhile
    same(taken(), ["zero workspace[256:320]", run % (M, N, K)])
    same(told, [])
    torch.state["grad"] = True
    m(x()), m(x())
    same(taken(), [run % (M, N, K)] * 2)
    same(told, ["linear: the result has no gradient; run it under torch.no_grad()"])
    same(sorted(cpp_extension.given["functions"]), ["lathe_torch_error", "lathe_torch_run", "lathe_torch_workspace",
                                                    "lathe_torch_zero_once"])
    with open("given.cu", "w") as f:
        f.write("".join(cpp_extension.given["cuda_sources"]))
    with open("given.cpp", "w") as f:
        f.write("".join(cpp_extension.given["cpp_sources"]))


def unaligned():
    inp = x()
    inp.at = 4
    model()(inp)
    same(taken()[2:],
         ["clone x", "zero workspace[256:320]",
          "run 3 inputs 1 outputs (%d, %d, %d) (3.0,) 4096 bytes stream 5000" % (M, N, K)])
    assert exported.lathe_module.pointers[0][0] % 16 == 0


def refused():
    """Sizes that the launcher does not take are PyTorch's, and stay so."""
    m = model()
    m(x())
    extension = exported.lathe_module
    extension.error = 1
    taken()
    raises(FormulaUsed, "", lambda: m(x(rows=3)))
    same(taken()[-1], "linear")
    raises(FormulaUsed, "", lambda: m(x(rows=3)))
    same(taken(), ["linear"])
    extension.error, extension.nbytes = 0, -1
    raises(FormulaUsed, "", lambda: m(x(rows=4)))
    text = "linear: M=%d N=%d K=%d cannot be served by this configuration; PyTorch's own operations are used"
    same(told, [text % (r, N, K) for r in (3, 4)])
    extension.error = 700
    raises(RuntimeError, "linear: error 700", lambda: m(x()))


def capture():
    m = model()
    torch.state["capturing"] = True
    raises(RuntimeError, "must run once at this size before it is captured", lambda: m(x()))
    torch.state["capturing"] = False
    m(x())
    kept = exported.lathe_module.pointers[2]
    torch.state["capturing"] = True
    m(x())
    assert exported.lathe_module.pointers[2] != kept  # memory of the graph's own
    torch.state["capturing"] = False
    m(x())
    same(exported.lathe_module.pointers[2], kept)


def devices():
    m = model(1)
    m(x(index=1))
    has(taken(), "on cuda:1")
    same(torch.state["device"], 0)


def capability():
    torch.state["capability"] = (8, 0)
    m = model()
    raises(FormulaUsed, "", lambda: m(x()))
    raises(FormulaUsed, "", lambda: m(x(rows=3)))
    same(taken(), ["linear"] * 2)
    same(told, ["linear: tuned for compute capability 9.0, and a GPU has 8.0; PyTorch's own operations are used"])


def broken_compiler():
    os.environ.pop("TORCH_CUDA_ARCH_LIST", None)
    cpp_extension.given["fails"] = True
    model()(x())
    has(told[0], "linear: the source did not compile: Error building extension")
    same(len(told), 1)
    has(driver_log()[0], "cuModuleLoadData an ELF file")
    same(os.environ.get("TORCH_CUDA_ARCH_LIST"), None)


def no_cubin():
    inputs = [torch.Tensor(shape, device=torch.device("cuda", 0)) for shape in ((M, K), (N, K), (N,))]
    raises(FormulaUsed, "", lambda: exported.ModelNew()(*inputs))
    same(told, ["linear: there is no compiler (nvcc and ninja), and there is no cubin in this file: it was tuned on "
                "the host device; PyTorch's own operations are used"])


def no_driver():
    raises(FormulaUsed, "", lambda: model()(x()))
    same(len(told), 1)
    has(told[0], "there is no compiler (nvcc and ninja), and the cubin cannot be loaded (")


def cubin():
    """One launch, of a kernel whose parameters the log knows; workspace zeroed once."""
    m, inp = model(), x()
    y = m(inp)
    log = driver_log()
    shared = exported.json.loads(exported.LATHE_PLAN)["steps"][0]["shared"]
    larger = ["cuFuncSetAttribute linear_simt 8 %d" % shared] if shared > 48 * 1024 else []
    same(log[:-1], ["cuModuleLoadData an ELF file", "cuModuleGetFunction linear_simt"] + larger)
    pointers = [inp.data_ptr(), m.matmul.weight.data_ptr(), y.data_ptr()]
    memory = exported.lathe_workspaces[(0, 0x5000)][1].data_ptr()
    plan = exported.json.loads(exported.LATHE_PLAN)
    partial, tickets = plan["buffers"][4:6]
    sizes = [-(-4 * partial["count"] // 256) * 256, 4 * tickets["count"]]
    step = plan["steps"][0]
    wanted = "cuLaunchKernelEx linear_simt grid %d %d %d block %d %d %d shared %d stream 0x5000:" % (
        *step["grid"], *step["block"], step["shared"])
    wanted += "".join(" %#x" % p for p in pointers + [memory, memory + sizes[0]]) + " %d %d %d" % (M, N, K)
    same(log[-1], wanted + " %#x 3" % m.matmul.bias.data_ptr())
    same(taken(), ["zero workspace[%d:%d]" % (sizes[0], sum(sizes))])
    m(x())
    same([line.split()[0] for line in driver_log()], ["cuLaunchKernelEx"])
    same(taken(), [])
    thread = threading.Thread(target=lambda: m(x()))  # which has no context yet
    thread.start()
    thread.join()
    same([line.split()[0] for line in driver_log()], ["cuCtxSetCurrent", "cuLaunchKernelEx"])
    same(told, [])
    raises(FormulaUsed, "", lambda: m(x(rows=3)))
    same(told, ["linear: LATHE_TORCH_CUBIN is set, and the cubin serves M=%d N=%d K=%d only; PyTorch's own operations "
                "are used" % (M, N, K)])


def product():
    """A product by torch.mm in full float32, then a launch on what it wrote."""
    torch.state["precision"] = "high"
    m, inp = model(), x()
    m(inp)
    launches = [line for line in driver_log() if line.startswith("cuLaunchKernelEx")]
    same(len(launches), 1)
    done = taken()
    same(len(done), 1)
    has(done[0], "mm ")
    has(done[0], " highest")
    same(torch.state["precision"], "high")


def launches():
    """test/specs/launch.lua with all that a launch can say."""
    def call(t):
        y = exported.ModelNew()(t)
        return y, [line.partition(" ")[::2] for line in driver_log()]

    def tensor_map(t):
        box = "aligned 1 type 7 at %#x swizzle 3 promotion 3 others 0 0: 516/32/1 2000/64/1 pitch 2064"
        return ("cuTensorMapEncodeTiled", box % t.data_ptr())

    def launched(t, y):
        factor = exported.lathe_workspaces[(0, 0x5000)][1].data_ptr()
        scale = ("launch_scale grid 18 32 1 block 128 1 1 shared 9216 stream 0x5000: map of %#x, 15 map of %#x, 15 "
                 "%#x %#x 2000 516")
        attributes = " cluster 2 1 1 programmatic 1 window %#x 109000 0.5 2 1"
        return [("cuLaunchKernelEx", "launch_factor grid 1 1 1 block 32 1 1 shared 0 stream 0x5000: %#x" % factor),
                tensor_map(y), ("cuLaunchKernelEx", scale % (t.data_ptr(), y.data_ptr(), y.data_ptr(), factor)
                                + attributes % t.data_ptr())]

    t = torch.Tensor((M, N), device=torch.device("cuda", 0))
    y, log = call(t)
    same(log[:4], [("cuModuleLoadData", "an ELF file"), ("cuModuleGetFunction", "launch_factor"),
                   ("cuModuleGetFunction", "launch_scale"), ("cuCtxSetLimit", "6 108000")])
    first, then, last = launched(t, y)
    same(log[4:], [first, tensor_map(t), then, last])
    y, log = call(t)
    same(log, launched(t, y))  # the map of t is there already
    same(told, [])
    raises(RuntimeError, "boxes: this cannot be computed here, and the problem has no formula in PyTorch",
           lambda: exported.ModelNew()(torch.Tensor((M, N + 8), device=torch.device("cuda", 0))))


def said_formula():
    """examples/softmax, tuned on the host: what the specification's torch.formula says, where there is no compiler."""
    def softmax(t, dim):
        same(dim, 1)
        raise FormulaUsed

    torch.softmax = softmax
    t = torch.Tensor((M, N), device=torch.device("cuda", 0))
    raises(FormulaUsed, "", lambda: exported.ModelNew()(t))
    raises(FormulaUsed, "", lambda: exported.ModelNew().reference(t))
    has(told[0], "PyTorch's own operations are used")


def named_formula():
    """A specification whose names are Python's: its formula is of the same values."""
    class Given:
        def type(self, n, training):
            same((n, training), (M, -3.0))
            raise FormulaUsed

    def given(a, b, c, text, type, in_):
        same((a.name, b.name, c.name, text, type, in_), ("x", "b", "c", "type in", b, 0.5))
        return Given()

    torch.given = given
    tensors = [torch.Tensor((M,), device=torch.device("cuda", 0), name=name) for name in ("x", "b", "c")]
    model = exported.ModelNew(3.0)
    same(model.factor, 3.0)
    raises(FormulaUsed, "", lambda: model(*tensors))
    raises(FormulaUsed, "", lambda: model.reference(*tensors))


globals()[sys.argv[2]]()
