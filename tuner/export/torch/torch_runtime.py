# How it runs. This part is the same in every file; above it is what was tuned, below it what is computed.
#
# Three ways, in this order:
#   inline   the CUDA source, compiled once by torch.utils.cpp_extension: every size that the configuration can serve
#   cubin    the embedded cubin, launched through the driver, where there is no compiler: the size tuned, and no other
#   formula  PyTorch's own operations: what neither of them can serve; a warning says so, once for each reason
# Environment: LATHE_TORCH_CUBIN=1 takes the cubin even where there is a compiler.

LATHE_DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
                "i32": torch.int32, "u32": getattr(torch, "uint32", torch.int32), "u8": torch.uint8}
LATHE_BYTES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "u8": 1}
LATHE_INPUTS = tuple((name, LATHE_DTYPES[dtype]) for name, dtype in LATHE_INPUT_TYPES)
LATHE_OUTPUTS = tuple((name, LATHE_DTYPES[dtype]) for name, dtype in LATHE_OUTPUT_TYPES)
LATHE_INVALID_VALUE = 1  # both cudaErrorInvalidValue and CUDA_ERROR_INVALID_VALUE

lathe_lock = threading.RLock()
lathe_said = set()
lathe_engines = {}  # (device, sizes) -> what serves it; None: the formula
lathe_workspaces = {}  # (device, stream) -> (engine, memory)


def lathe_say(text):
    """A warning, the first time."""
    if text not in lathe_said:
        lathe_said.add(text)
        warnings.warn("%s: %s" % (LATHE_NAME, text), RuntimeWarning, stacklevel=2)


def lathe_ceil_div(a, b):
    return -(-a // b)


def lathe_is_pow2(a):
    return (a > 0) & ((a & (a - 1)) == 0)


def lathe_log2(a):
    return torch.log2(a.double()).round().long() if isinstance(a, torch.Tensor) else a.bit_length() - 1


def lathe_round(a):
    """To integers, halves away from 0."""
    if isinstance(a, torch.Tensor):
        whole = torch.trunc(a)
        return (whole + torch.sign(a) * (torch.abs(a - whole) >= 0.5)).long()
    return int(math.copysign(math.floor(abs(a) + 0.5), a))


def lathe_finish(value, z, dtype):
    """A formula's value as the output: of z's shape."""
    value = value if isinstance(value, torch.Tensor) else torch.full_like(z, value)
    return value.expand(z.shape).to(dtype).contiguous()


def lathe_bad_shapes(inputs, wanted):
    """What does not fit: wanted has the text of each input's shape."""
    found = ", ".join("%s is %s" % (name, list(t.shape)) for (name, _), t in zip(LATHE_INPUTS, inputs))
    raise ValueError("%s: expected %s; %s" % (LATHE_NAME, wanted, found))


def lathe_check(inputs):
    device = inputs[0].device
    for (name, dtype), t in zip(LATHE_INPUTS, inputs):
        if not t.is_cuda:
            raise ValueError("%s: %s is on %s, expected a CUDA device" % (LATHE_NAME, name, t.device))
        if t.device != device:
            raise ValueError("%s: %s is on %s, and %s on %s" % (LATHE_NAME, name, t.device, LATHE_INPUTS[0][0], device))
        if t.dtype != dtype:
            raise TypeError("%s: %s is %s, expected %s" % (LATHE_NAME, name, t.dtype, dtype))
        if not t.is_contiguous():
            raise ValueError("%s: %s is not contiguous; pass %s.contiguous()" % (LATHE_NAME, name, name))
    return device


def lathe_memory(engine, index, stream):
    """The workspace of a call: kept for the next one on this stream, but in a graph its own."""
    if not engine.bytes:
        return None
    capturing = torch.cuda.is_current_stream_capturing()
    held = lathe_workspaces.get((index, stream))
    if held is not None and held[0] is engine and not capturing:
        return held[1]
    memory = torch.empty(engine.bytes, dtype=torch.uint8, device=torch.device("cuda", index))
    for start, count in engine.zero_once:
        memory[start:start + count].zero_()
    if not capturing:
        lathe_workspaces[(index, stream)] = (engine, memory)
    return memory


# --- inline ---


def lathe_has_compiler():
    try:
        from torch.utils import cpp_extension
    except ImportError:
        return False
    home = cpp_extension.CUDA_HOME
    nvcc = home is not None and os.path.exists(os.path.join(home, "bin", "nvcc"))
    return nvcc and cpp_extension.is_ninja_available()


@contextlib.contextmanager
def lathe_arch_list():
    """load_inline compiles for the architectures of this list, or of the GPUs that it sees, whatever options it is
    given besides; and what is written for sm_90a does not compile for sm_90."""
    before = os.environ.get("TORCH_CUDA_ARCH_LIST")
    if LATHE_ARCH is not None:
        os.environ["TORCH_CUDA_ARCH_LIST"] = LATHE_ARCH
    try:
        yield
    finally:
        if before is not None:
            os.environ["TORCH_CUDA_ARCH_LIST"] = before
        elif LATHE_ARCH is not None:
            os.environ.pop("TORCH_CUDA_ARCH_LIST", None)


lathe_module = None  # the extension; or a text: why it cannot be had


def lathe_compile():
    """The extension, or why there is none. Compiled at most once in a process; torch keeps it for other processes."""
    global lathe_module
    with lathe_lock:
        if lathe_module is not None:
            return lathe_module
        if os.environ.get("LATHE_TORCH_CUBIN") == "1":
            lathe_module = "LATHE_TORCH_CUBIN is set"
        elif not lathe_has_compiler():
            lathe_module = "there is no compiler (nvcc and ninja)"
        if lathe_module is not None:
            return lathe_module
        from torch.utils import cpp_extension
        name = "lathe_%s_%s" % (LATHE_NAME, hashlib.sha256((LATHE_SOURCE + LATHE_BINDING).encode()).hexdigest()[:16])
        options = {}
        if "no_implicit_headers" in inspect.signature(cpp_extension.load_inline).parameters:
            options["no_implicit_headers"] = True  # the CUDA source needs none of torch's
        try:
            with lathe_arch_list():
                lathe_module = cpp_extension.load_inline(
                    name=name, cpp_sources=[LATHE_DECLARATIONS], cuda_sources=[LATHE_SOURCE + LATHE_BINDING],
                    functions=["lathe_torch_workspace", "lathe_torch_zero_once", "lathe_torch_run",
                               "lathe_torch_error"],
                    extra_cuda_cflags=["-DLATHE_WORKSPACE_KEPT"],
                    extra_ldflags=["-lcublas"] if LATHE_USES_CUBLAS else [], **options)
        except Exception as problem:  # whatever the fault, there are other ways
            lathe_module = "the source did not compile"
            lathe_say("%s: %s" % (lathe_module, str(problem).strip()[-2000:]))
        return lathe_module


class LatheInline:
    """The launcher of the exported source, at one size; with scalars of one value if LATHE_FIXED_SCALARS."""

    def __init__(self, module, sizes, scalars, nbytes):
        self.module, self.sizes, self.bytes = module, sizes, nbytes
        parts = module.lathe_torch_zero_once(sizes, scalars)
        self.zero_once = [part for part in zip(parts[::2], parts[1::2]) if part[1]]

    def run(self, inputs, outputs, scalars, memory, stream):
        """False: this size cannot be served."""
        error = self.module.lathe_torch_run(
            [t.data_ptr() for t in inputs], [t.data_ptr() for t in outputs], self.sizes, scalars,
            memory.data_ptr() if self.bytes else 0, self.bytes, stream)
        if error == LATHE_INVALID_VALUE:
            return False
        if error:
            raise RuntimeError("%s: %s" % (LATHE_NAME, self.module.lathe_torch_error(error)))
        return True


# --- one call ---


def lathe_cubin(sizes, scalars, no_source):
    """The engine of the embedded cubin; None: it cannot serve this, and why is said."""
    why = None
    if not LATHE_CUBIN:
        why = "there is no cubin in this file: " + LATHE_NO_CUBIN
    elif sizes != LATHE_TUNED_SIZES:
        why = "the cubin serves %s only" % lathe_size_text(LATHE_TUNED_SIZES)
    elif LATHE_FIXED_SCALARS and tuple(scalars) != LATHE_TUNED_SCALARS:
        why = "the cubin serves the scalars %s only" % (LATHE_TUNED_SCALARS,)
    if why is None:
        try:
            return LatheCubin()
        except (OSError, RuntimeError) as problem:
            why = "the cubin cannot be loaded (%s)" % problem
    lathe_say("%s, and %s; PyTorch's own operations are used" % (no_source, why))
    return None


def lathe_engine(device, sizes, scalars):
    capability = torch.cuda.get_device_capability(device)
    if LATHE_CAPABILITY is not None and capability != LATHE_CAPABILITY:
        lathe_say("tuned for compute capability %d.%d, and %s has %d.%d; PyTorch's own operations are used"
                  % (LATHE_CAPABILITY + (torch.cuda.get_device_name(device),) + capability))
        return None
    if torch.cuda.is_current_stream_capturing():
        raise RuntimeError("%s: the model must run once at this size before it is captured in a graph" % LATHE_NAME)
    module = lathe_compile()
    if isinstance(module, str):
        return lathe_cubin(sizes, scalars, module)
    nbytes = module.lathe_torch_workspace(sizes, scalars)
    if nbytes < 0:
        lathe_cannot(sizes)
        return None
    return LatheInline(module, sizes, scalars, nbytes)


def lathe_size_text(sizes):
    return " ".join("%s=%d" % pair for pair in zip(LATHE_DIMS, sizes))


def lathe_cannot(sizes):
    lathe_say("%s cannot be served by this configuration; PyTorch's own operations are used" % lathe_size_text(sizes))


def lathe_stream(device):
    """The current stream's handle. PyTorch's own way for generated code is quicker, where it is there."""
    quick = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return quick(device.index) if quick else torch.cuda.current_stream(device).cuda_stream


def lathe_on_device(device, inputs, sizes, scalars):
    """The outputs, or None where only the formula can. The device is the current one."""
    key = (device.index, sizes) if not LATHE_FIXED_SCALARS else (device.index, sizes, tuple(scalars))
    engine = lathe_engines.get(key, False)
    if engine is False:
        with lathe_lock:
            engine = lathe_engines[key] = lathe_engine(device, sizes, scalars)
    if engine is None:
        return None
    stream = lathe_stream(device)
    outputs = [torch.empty(shape, dtype=dtype, device=device)
               for (_, dtype), shape in zip(LATHE_OUTPUTS, lathe_output_shapes(*sizes, *scalars))]
    if any(t.data_ptr() % 16 for t in inputs):  # kernels move 16 bytes at a time
        inputs = [t.detach().clone() if t.data_ptr() % 16 else t for t in inputs]
    try:
        if engine.run(inputs, outputs, scalars, lathe_memory(engine, device.index, stream), stream):
            return outputs
    except RuntimeError:
        lathe_workspaces.pop((device.index, stream), None)  # it may not be zero where it must be
        raise
    lathe_engines[key] = None
    lathe_cannot(sizes)
    return None


def lathe_run(inputs, known, scalars):
    """inputs in the specification's order; known: the dimensions that no input has as an axis."""
    device = lathe_check(inputs)
    sizes = lathe_sizes(*inputs, *known, *scalars)
    if torch.is_grad_enabled() and any(t.requires_grad for t in inputs):
        lathe_say("the result has no gradient; run it under torch.no_grad()")
    if torch.cuda.current_device() == device.index:
        outputs = lathe_on_device(device, inputs, sizes, scalars)
    else:
        with torch.cuda.device(device):
            outputs = lathe_on_device(device, inputs, sizes, scalars)
    if outputs is None and lathe_formula is None:
        raise RuntimeError("%s: this cannot be computed here, and the problem has no formula in PyTorch" % LATHE_NAME)
    if outputs is None:
        with torch.no_grad():
            outputs = [lathe_formula(*inputs, *sizes, *scalars)]
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def lathe_reference(inputs, known, scalars):
    return lathe_formula(*inputs, *lathe_sizes(*inputs, *known, *scalars), *scalars)

