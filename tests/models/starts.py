"""Two starts of a program, which share the folder of Inductor's caches.

TORCHINDUCTOR_CACHE_DIR=CACHE TORCH_TRACE=COLD python starts.py 8 1
TORCHINDUCTOR_CACHE_DIR=CACHE TORCH_TRACE=WARM python starts.py 9 2

The first number is a size of the first call of `project`, the second one an attribute that is a constant in the graph of `Scale`;
`Squared` is no graph that AOTAutograd's cache keeps. Prints PyTorch's counters.
"""
import json
import sys

import torch
from torch._dynamo.utils import counters


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad * ctx.saved_tensors[0]


class Scale(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x.cos() * self.factor


class Squared(torch.nn.Module):
    def forward(self, x):
        return Square.apply(x).sum()


def project(x, weight):
    return (x @ weight).relu().sum(0)


rows, factor = int(sys.argv[1]), int(sys.argv[2])
projected = torch.compile(project)
for n in (rows, rows + 5):
    projected(torch.ones(n, 16), torch.ones(16, 16))
torch.compile(Scale(factor))(torch.ones(4))
torch.compile(Squared())(torch.ones(4, requires_grad=True)).backward()
print(json.dumps({"fx": {k: v for k, v in counters["inductor"].items() if k.startswith("fxgraph_cache")},
                  "aot": {k: v for k, v in counters["aot_autograd"].items() if k.startswith("autograd_cache")}}))
