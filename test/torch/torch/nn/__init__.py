import torch


class Module:
    def __init__(self):
        self.buffers_ = {}

    def register_buffer(self, name, value, persistent=True):
        self.buffers_[name] = persistent
        setattr(self, name, value)

    def __call__(self, *args):
        return self.forward(*args)

    def cuda(self, index=0):
        for value in vars(self).values():
            if isinstance(value, Module):
                value.cuda(index)
            elif isinstance(value, torch.Tensor):
                value.device = torch.device("cuda", index)
        return self


def Parameter(t):
    t.requires_grad = True
    return t


class Linear(Module):
    def __init__(self, columns, rows, bias=True, dtype=torch.float32):
        super().__init__()
        self.weight = Parameter(torch.Tensor((rows, columns), dtype, name="weight"))
        self.bias = Parameter(torch.Tensor((rows,), dtype, name="bias")) if bias else None


class functional:
    @staticmethod
    def linear(x, w, b=None):
        torch.record.append("linear")
        raise FormulaUsed


class FormulaUsed(Exception):
    """The stand-in computes nothing: that a formula was asked for is all there is to see."""
