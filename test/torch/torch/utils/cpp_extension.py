"""The compiler that is there or not; load_inline gives an extension that answers as the test says. As PyTorch's it adds
options for each architecture of TORCH_CUDA_ARCH_LIST, by default the GPU's, to those it is given."""
import os

import torch

CUDA_HOME = os.environ.get("FAKE_CUDA_HOME")
given = {}


def is_ninja_available():
    return CUDA_HOME is not None


class Extension:
    nbytes, error = 4096, 0

    def lathe_torch_workspace(self, sizes, scalars):
        torch.record.append("workspace %s" % (tuple(sizes),))
        return self.nbytes

    def lathe_torch_zero_once(self, sizes, scalars):
        return [0, 0, 256, 64]  # a buffer that is not there, and one that is

    def lathe_torch_run(self, inputs, outputs, sizes, scalars, workspace, nbytes, stream):
        torch.record.append("run %d inputs %d outputs %s %s %d bytes stream %x" % (
            len(inputs), len(outputs), tuple(sizes), tuple(scalars), nbytes, stream))
        self.pointers = (inputs, outputs, workspace)
        return self.error

    def lathe_torch_error(self, error):
        return "error %d" % error


def load_inline(name, cpp_sources, cuda_sources, functions, extra_cuda_cflags, extra_ldflags,
                no_implicit_headers=False):
    given.update(locals())
    archs = [arch.replace(".", "") for arch in os.environ.get("TORCH_CUDA_ARCH_LIST", "9.0").split()]
    flags = ["-gencode=arch=compute_%s,code=sm_%s" % (arch, arch) for arch in archs] + extra_cuda_cflags
    torch.record.append("compile %s" % " ".join(flags + extra_ldflags))
    if "fails" in given:
        raise RuntimeError("Error building extension")
    return Extension()
