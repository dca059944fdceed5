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
            lathe_module = cpp_extension.load_inline(
                name=name, cpp_sources=[LATHE_DECLARATIONS], cuda_sources=[LATHE_SOURCE + LATHE_BINDING],
                functions=["lathe_torch_workspace", "lathe_torch_zero_once", "lathe_torch_run", "lathe_torch_error"],
                extra_cuda_cflags=["-DLATHE_WORKSPACE_KEPT"] + list(LATHE_NVCC_OPTIONS), extra_ldflags=["-lcublas"] if LATHE_USES_CUBLAS else [],
                **options)
        except Exception as problem:  # whatever the fault, there are other ways
            lathe_module = "the source did not compile"
            lathe_say("%s: %s" % (lathe_module, str(problem).strip()[-2000:]))
        return lathe_module


class LatheInline:
    """The launcher of the exported source, at one size."""

    def __init__(self, module, sizes, nbytes):
        self.module, self.sizes, self.bytes = module, sizes, nbytes
        parts = module.lathe_torch_zero_once(sizes)
        self.zero_once = [part for part in zip(parts[::2], parts[1::2]) if part[1]]

    def run(self, inputs, outputs, scalars, memory, stream):
        """False: this size cannot be served."""
        error = self.module.lathe_torch_run([t.data_ptr() for t in inputs], [t.data_ptr() for t in outputs],
                                            self.sizes, scalars, memory.data_ptr() if self.bytes else 0, self.bytes, stream)
        if error == LATHE_INVALID_VALUE:
            return False
        if error:
            raise RuntimeError("%s: %s" % (LATHE_NAME, self.module.lathe_torch_error(error)))
        return True


# --- cubin: declarations are CUDA's driver API (cuda.h) ---


class LatheDim(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class LatheWindow(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("ratio", ctypes.c_float), ("hit", ctypes.c_int),
                ("miss", ctypes.c_int)]


class LatheAttributeValue(ctypes.Union):
    _fields_ = [("pad", ctypes.c_char * 64), ("cluster", LatheDim), ("programmatic", ctypes.c_int), ("window", LatheWindow)]


class LatheAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", LatheAttributeValue)]


class LatheConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LatheAttribute)), ("count", ctypes.c_uint)]


LATHE_MAX_SHARED, LATHE_NON_PORTABLE_CLUSTER = 8, 14  # CU_FUNC_ATTRIBUTE_...
LATHE_ACCESS_POLICY_WINDOW, LATHE_CLUSTER, LATHE_PROGRAMMATIC = 1, 4, 6  # CU_LAUNCH_ATTRIBUTE_...
LATHE_MAX_PERSISTING, LATHE_MAX_WINDOW = 108, 109  # CU_DEVICE_ATTRIBUTE_...
LATHE_LIMIT_PERSISTING = 6  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE
LATHE_PROPERTIES = {"normal": 0, "streaming": 1, "persisting": 2}  # CU_ACCESS_PROPERTY_...
LATHE_MAP_TYPES = {"u8": 0, "u32": 2, "i32": 3, "f16": 6, "f32": 7, "f64": 8, "bf16": 9}  # CU_TENSOR_MAP_DATA_TYPE_...
LATHE_MAP_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}  # CU_TENSOR_MAP_SWIZZLE_...
LATHE_MAP_PROMOTIONS = {0: 0, 64: 1, 128: 2, 256: 3}  # CU_TENSOR_MAP_L2_PROMOTION_...
LATHE_FORMATS = {"buffer": "<Q", "i32": "<i", "i64": "<q", "f32": "<f", "f64": "<d"}


class LatheDriver:
    """The driver, and PyTorch's context of the current device."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.cuda.cuLaunchKernelEx.argtypes = [ctypes.c_void_p] * 4
        self.context = ctypes.c_void_p()
        torch.zeros(1, device="cuda")  # makes it, and current
        self.call("cuCtxGetCurrent", ctypes.byref(self.context))

    def attribute(self, number):
        device, value = ctypes.c_int(), ctypes.c_int()
        self.call("cuCtxGetDevice", ctypes.byref(device))
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, device)
        return value.value

    def enter(self):
        """In a thread that has not called CUDA yet, no context is current."""
        current = ctypes.c_void_p()
        self.call("cuCtxGetCurrent", ctypes.byref(current))
        if not current:
            self.call("cuCtxSetCurrent", self.context)

    def call(self, name, *args):
        code = getattr(self.cuda, name)(*args)
        if code:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(code, ctypes.byref(text))
            raise RuntimeError("%s: %s: %s" % (LATHE_NAME, name, (text.value or b"error %d" % code).decode()))


class LatheMap:
    """A tensor map: how the tensor memory accelerator sees a buffer. Made again when the buffer is at another address."""

    def __init__(self, driver, arg, dtype):
        self.driver, self.index, self.at, self.rank = driver, arg["buffer"], None, len(arg["shape"])
        self.memory = ctypes.create_string_buffer(128 + 64)
        self.address = -(-ctypes.addressof(self.memory) // 64) * 64
        if not self.rank:
            return  # of a buffer that is not there: zeros
        extents, strides = arg["shape"][::-1], []  # the driver's first axis is the innermost
        for extent in extents:
            strides.append((strides[-1] if strides else LATHE_BYTES[dtype]) * extent)
        self.extents = (ctypes.c_uint64 * self.rank)(*extents)
        self.strides = (ctypes.c_uint64 * self.rank)(*strides)
        self.box = (ctypes.c_uint32 * self.rank)(*arg["box"][::-1])
        self.ones = (ctypes.c_uint32 * self.rank)(*[1] * self.rank)
        self.kinds = (LATHE_MAP_TYPES[dtype], LATHE_MAP_SWIZZLES[arg["swizzle"]], LATHE_MAP_PROMOTIONS[arg["l2"]])

    def move(self, at):
        if at == self.at or not self.rank:
            return
        dtype, swizzle, promotion = self.kinds
        self.driver.call("cuTensorMapEncodeTiled", ctypes.c_void_p(self.address), dtype, self.rank, ctypes.c_void_p(at),
                         self.extents, self.strides, self.box, self.ones, 0, swizzle, promotion, 0)
        self.at = at


class LatheLaunch:
    """One launch of the plan: its arguments stand in buffers of their own, into which each call writes what differs."""

    def __init__(self, driver, module, plan, step):
        self.driver, self.step, self.plan = driver, step, plan
        self.function = ctypes.c_void_p()
        driver.call("cuModuleGetFunction", ctypes.byref(self.function), module, step["function"].encode())
        if step["shared"] > 48 * 1024:
            driver.call("cuFuncSetAttribute", self.function, LATHE_MAX_SHARED, step["shared"])
        self.pointers, self.scalars = [], []  # (memory, offset, index)
        self.maps, self.memories = [], []
        addresses = [self.add(arg) for arg in step["args"]]
        self.args = (ctypes.c_void_p * max(len(addresses), 1))(*addresses)
        self.config = LatheConfig(shared=step["shared"])
        self.config.grid[:], self.config.block[:] = step["grid"], step["block"]
        self.add_attributes()

    def add(self, arg):
        """Where the argument stands."""
        if arg["kind"] == "tensor_map":
            self.maps.append(LatheMap(self.driver, arg, self.plan["buffers"][arg["buffer"]]["dtype"]))
            return self.maps[-1].address
        fields = arg["fields"] if arg["kind"] == "struct" else [arg]
        memory, at = ctypes.create_string_buffer(8 * len(fields) + 8), 0
        for i, field in enumerate(fields):
            form = LATHE_FORMATS[field["kind"]]
            size = struct.calcsize(form)
            at = -(-at // size) * size
            if field["kind"] == "buffer":
                self.pointers.append((memory, at, field["buffer"]))
            elif arg["kind"] == "struct" and LATHE_EPILOGUE[i] is not None:
                self.scalars.append((memory, at, LATHE_EPILOGUE[i]))
            else:
                struct.pack_into(form, memory, at, field["i" if "i" in field else "f"])
            at += size
        self.memories.append(memory)
        return ctypes.addressof(memory)

    def add_attributes(self):
        cluster, window = self.step["cluster"], self.step["l2_window"]
        attributes = []
        if cluster[0]:
            if cluster[0] * cluster[1] * cluster[2] > 8:
                self.driver.call("cuFuncSetAttribute", self.function, LATHE_NON_PORTABLE_CLUSTER, 1)
            attributes.append(LatheAttribute(id=LATHE_CLUSTER))
            attributes[-1].value.cluster = LatheDim(*cluster)
        if self.step["programmatic"]:
            attributes.append(LatheAttribute(id=LATHE_PROGRAMMATIC))
            attributes[-1].value.programmatic = 1
        self.window = None
        if window:
            self.window = window["buffer"]
            buffer = self.plan["buffers"][self.window]
            size = min(buffer["count"] * LATHE_BYTES[buffer["dtype"]], self.driver.attribute(LATHE_MAX_WINDOW))
            attributes.append(LatheAttribute(id=LATHE_ACCESS_POLICY_WINDOW))
            attributes[-1].value.window = LatheWindow(None, size, window["ratio"], LATHE_PROPERTIES[window["hit"]],
                                                      LATHE_PROPERTIES[window["miss"]])
            if window["hit"] == "persisting":
                self.driver.call("cuCtxSetLimit", LATHE_LIMIT_PERSISTING,
                                 ctypes.c_size_t(self.driver.attribute(LATHE_MAX_PERSISTING)))
            if size == 0:
                self.window = attributes.pop() and None
        self.attributes = (LatheAttribute * max(len(attributes), 1))(*attributes)
        self.config.attributes, self.config.count = self.attributes, len(attributes)

    def run(self, addresses, scalars, stream):
        for memory, at, index in self.pointers:
            struct.pack_into("<Q", memory, at, addresses[index])
        for memory, at, index in self.scalars:
            struct.pack_into("<f", memory, at, scalars[index])
        for tensor_map in self.maps:
            tensor_map.move(addresses[tensor_map.index])
        if self.window is not None:
            self.attributes[self.config.count - 1].value.window.base = addresses[self.window]
        self.config.stream = stream
        self.driver.call("cuLaunchKernelEx", ctypes.addressof(self.config), self.function, self.args, None)


class LatheProduct:
    """One matrix product of the plan, by torch.mm: cuBLAS, with the number format that the plan says."""

    def __init__(self, plan, step, starts):
        self.step, self.starts = step, starts
        self.buffers = plan["buffers"]

    def matrix(self, index, tensors, memory):
        buffer = self.buffers[index]
        if index < len(tensors):
            return tensors[index].detach().view(buffer["shape"])
        dtype = LATHE_DTYPES[buffer["dtype"]]
        start, count = self.starts[index]
        return memory[start:start + count].view(dtype).view(buffer["shape"])

    def run(self, tensors, memory):
        a, b, c = (self.matrix(self.step[k], tensors, memory) for k in "abc")
        a, b = a.t() if self.step["trans_a"] else a, b.t() if self.step["trans_b"] else b
        before = torch.get_float32_matmul_precision()
        try:
            torch.set_float32_matmul_precision("high" if self.step["compute"] == "tf32" else "highest")
            torch.mm(a, b, out=c)
        finally:
            torch.set_float32_matmul_precision(before)


class LatheCubin:
    """The plan at the size tuned, launched from the cubin in the context of one device."""

    def __init__(self):
        plan = json.loads(LATHE_PLAN)
        self.driver, self.module, self.order = LatheDriver(), ctypes.c_void_p(), []
        self.image = base64.b64decode(LATHE_CUBIN)
        self.driver.call("cuModuleLoadData", ctypes.byref(self.module), self.image)
        self.bytes, starts, self.zero_once, self.zero_each = 0, {}, [], []
        for i, buffer in enumerate(plan["buffers"]):
            if buffer["role"] != "workspace":
                continue
            size = buffer["count"] * LATHE_BYTES[buffer["dtype"]]
            starts[i] = (self.bytes, size)
            if size and buffer["zero"] == "once":
                self.zero_once.append(starts[i])
            elif size and buffer["zero"] == "each":
                self.zero_each.append(starts[i])
            self.bytes += -(-size // 256) * 256
        self.starts, self.tensors = starts, [b["role"] for b in plan["buffers"][:plan["ntensors"]]]
        for step in plan["steps"]:
            launch = step["kind"] == "launch"
            self.order.append(LatheLaunch(self.driver, self.module, plan, step) if launch else LatheProduct(plan, step, starts))

    def run(self, inputs, outputs, scalars, memory, stream):
        given = {"input": iter(inputs), "output": iter(outputs)}
        tensors = [next(given[role]) for role in self.tensors]
        base = memory.data_ptr() if self.bytes else 0
        addresses = [t.data_ptr() for t in tensors]
        addresses += [base + start if size else 0 for start, size in self.starts.values()]
        with lathe_lock, torch.no_grad():
            self.driver.enter()
            for start, size in self.zero_each:
                memory[start:start + size].zero_()
            for step in self.order:
                if isinstance(step, LatheLaunch):
                    step.run(addresses, scalars, stream)
                else:
                    step.run(tensors, memory)
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
    nbytes = module.lathe_torch_workspace(sizes)
    if nbytes < 0:
        lathe_cannot(sizes)
        return None
    return LatheInline(module, sizes, nbytes)


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
    if engine.run(inputs, outputs, scalars, lathe_memory(engine, device.index, stream), stream):
        return outputs
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


# What is computed.
