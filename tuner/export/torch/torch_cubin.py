# The embedded cubin by the driver: declarations are CUDA's driver API (cuda.h). The plan says what is launched; what
# differs from call to call are addresses, the stream, and the scalars in the epilogue's struct.


class LatheDim(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class LatheWindow(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("ratio", ctypes.c_float), ("hit", ctypes.c_int),
                ("miss", ctypes.c_int)]


class LatheAttributeValue(ctypes.Union):
    _fields_ = [("pad", ctypes.c_char * 64), ("cluster", LatheDim), ("programmatic", ctypes.c_int),
                ("window", LatheWindow)]


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
    """A tensor map: how the tensor memory accelerator sees a buffer. Made again when the buffer has moved."""

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
            if step["kind"] == "launch":
                self.order.append(LatheLaunch(self.driver, self.module, plan, step))
            else:
                self.order.append(LatheProduct(plan, step, starts))

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
