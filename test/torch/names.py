"""Runs what is generated of an exported file, names.py FILE, whatever its names: with a PyTorch of which everything is
there and nothing is computed. test/unit/cli/test_export_names.c makes the files."""
import importlib.util
import sys
import types


class Anything:
    """What all operations give."""

    def __init__(self, *shape):
        self.shape = shape

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args, **kwargs):
        return self

    def dim(self):
        return len(self.shape)

    def __float__(self):
        return 0.5


for operator in "add radd sub rsub mul rmul truediv rtruediv gt lt ge le getitem and or".split():
    setattr(Anything, "__%s__" % operator, lambda self, other: self)


class Module:
    def __init__(self):
        self.made = True


torch = types.ModuleType("torch")
torch.__getattr__ = lambda name: Anything()
torch.Tensor = Anything
torch.nn = types.ModuleType("torch.nn")
torch.nn.Module, torch.nn.functional = Module, Anything()
sys.modules["torch"], sys.modules["torch.nn"] = torch, torch.nn

spec = importlib.util.spec_from_file_location("exported", sys.argv[1])
exported = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exported)
M, N, K = exported.LATHE_TUNED_SIZES
shapes = {"X": (M, K), "W": (N, K), "V": (N, K), "R": (M, N)}
given = [Anything(*shapes.get(name, (N,))) for name, _ in exported.LATHE_INPUT_TYPES]
model = exported.ModelNew(*exported.LATHE_TUNED_SCALARS)
exported.ModelNew()
assert model.made
inputs, known, scalars = model.lathe_arguments(*given)
assert len(inputs) == len(given) and all(a is b for a, b in zip(inputs, given))
assert (known, scalars) == ((), exported.LATHE_TUNED_SCALARS), (known, scalars)
assert exported.lathe_sizes(*inputs, *known, *scalars) == (M, N, K)
assert exported.lathe_output_shapes(M, N, K, *scalars) == ((M, N),)
exported.lathe_formula(*inputs, M, N, K, *scalars)
model.reference(*given)
called = []
exported.lathe_run = lambda *args: called.append(args)
model.forward(*given)
assert called == [(inputs, known, scalars)]
assert len(exported.get_inputs()) == len(given) and exported.get_init_inputs() == list(exported.LATHE_TUNED_SCALARS)
