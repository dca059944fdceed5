# use.py: an exported winner.py beside PyTorch's own softmax, on a GPU (docs/tutorial.md).
import torch
from winner import ModelNew

model = ModelNew().cuda()
for rows, columns in ((64, 1000), (65, 1000), (3, 37)):     # what the kernel cannot serve, PyTorch's operation computes
    x = 3 * torch.randn(rows, columns, device="cuda")
    with torch.no_grad():
        y = model(x)
    wanted = torch.softmax(x.double(), dim=1)
    assert torch.allclose(y.double(), wanted, atol=1e-7, rtol=1e-5), (rows, columns)
    print("%d x %d: right" % (rows, columns))
