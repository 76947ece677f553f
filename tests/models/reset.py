"""torch._dynamo.reset() starts compile ids anew: 0/0 and 0/1 are given twice, to different compiles."""
import torch


@torch.compile(dynamic=True, backend="aot_eager")
def scale(x):
    return torch.relu(x) * x.shape[0]


@torch.compile(dynamic=True, backend="aot_eager")
def halves(x):
    if x.shape[0] % 2 == 0:
        return x[: x.shape[0] // 2].sum()
    return x.sum()


scale(torch.ones(3))
scale(torch.ones(1))
torch._dynamo.reset()
halves(torch.ones(8, 2))
halves(torch.ones(7, 2))
halves(torch.ones(1, 2))
