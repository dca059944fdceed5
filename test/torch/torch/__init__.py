"""A stand-in for PyTorch that computes nothing: tensors with shapes and addresses, and a record of what was asked.

Only what an exported file uses. `record` holds texts in the order of the calls; `state` what a test sets."""
import contextlib
import itertools

record = []
state = {"device": 0, "capability": (9, 0), "capturing": False, "grad": False, "precision": "highest", "devices": 2}


class dtype:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "torch." + self.name


float32, float64, float16, bfloat16 = dtype("float32"), dtype("float64"), dtype("float16"), dtype("bfloat16")
int32, uint32, uint8 = dtype("int32"), dtype("uint32"), dtype("uint8")


class device:
    def __init__(self, kind, index=None):
        self.type, _, number = kind.partition(":")
        self.index = index if index is not None else int(number or state["device"]) if self.type == "cuda" else None

    def __eq__(self, other):
        return (self.type, self.index) == (other.type, other.index)

    def __repr__(self):
        return self.type if self.index is None else "%s:%d" % (self.type, self.index)


class Storage:
    """An address of its own, a multiple of 256, with nothing there."""

    next = itertools.count(0x700000000000, 1 << 40)

    def __init__(self):
        self.start = next(Storage.next)


def prod(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n


class Tensor:
    def __init__(self, shape, dtype=float32, device=None, storage=None, at=0, name="?", contiguous=True):
        self.shape, self.dtype, self.device = tuple(shape), dtype, device or globals()["device"]("cpu")
        self.storage = storage or Storage()
        self.at, self.name, self.contiguous_, self.requires_grad = at, name, contiguous, False

    is_cuda = property(lambda self: self.device.type == "cuda")

    def data_ptr(self):
        return self.storage.start + self.at

    def dim(self):
        return len(self.shape)

    def numel(self):
        return prod(self.shape)

    def is_contiguous(self):
        return self.contiguous_

    def alias(self, **changes):
        t = Tensor(self.shape, self.dtype, self.device, self.storage, self.at, self.name)
        t.__dict__.update(changes)
        return t

    def detach(self):
        return self.alias()

    def clone(self):
        record.append("clone " + self.name)
        return Tensor(self.shape, self.dtype, self.device, name=self.name + "'")

    def view(self, to):
        return self.alias(dtype=to) if isinstance(to, dtype) else self.alias(shape=tuple(to))

    def t(self):
        return self.alias(name=self.name + ".t", shape=self.shape[::-1])

    def __getitem__(self, part):
        name = "%s[%d:%d]" % (self.name, part.start, part.stop)
        return self.alias(at=self.at + part.start, shape=(part.stop - part.start,), name=name)

    def zero_(self):
        record.append("zero " + self.name)
        return self


def empty(*shape, dtype=float32, device=None):
    shape = shape[0] if isinstance(shape[0], tuple) else shape
    return Tensor(shape, dtype, device, name="workspace" if dtype is uint8 else "output")


def zeros(*shape, dtype=float32, device=None):
    return Tensor(shape, dtype, globals()["device"](device) if isinstance(device, str) else device)


randn = rand = zeros


def tensor(value, dtype=float32):
    t = Tensor((), dtype)
    t.value = value
    return t


def mm(a, b, out):
    record.append("mm %s %s %s -> %s %s %s" % (a.name, list(a.shape), b.name, out.name, list(out.shape),
                                               state["precision"]))


def is_grad_enabled():
    return state["grad"]


@contextlib.contextmanager
def no_grad():
    before, state["grad"] = state["grad"], False
    yield
    state["grad"] = before


def get_float32_matmul_precision():
    return state["precision"]


def set_float32_matmul_precision(precision):
    state["precision"] = precision


class cuda:
    class Stream:
        cuda_stream = 0x5000

    @staticmethod
    def current_stream(device=None):
        return cuda.Stream

    @staticmethod
    def current_device():
        return state["device"]

    @staticmethod
    @contextlib.contextmanager
    def device(device):
        before, state["device"] = state["device"], device.index
        record.append("on %s" % device)
        yield
        state["device"] = before

    @staticmethod
    def get_device_capability(device=None):
        return state["capability"]

    @staticmethod
    def get_device_name(device=None):
        return "a GPU"

    @staticmethod
    def is_current_stream_capturing():
        return state["capturing"]


class _C:
    pass


from . import nn, utils  # noqa: E402, F401
