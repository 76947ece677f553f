"""torch.cond: the branches are graphs within the graph."""
import torch

torch.manual_seed(0)


def step(x, weight):
    def grow(x, weight):
        return (x @ weight).sin()

    def shrink(x, weight):
        return x.cos() @ weight.t()

    return torch.cond(x.sum() > 0, grow, shrink, (x, weight)) + x.shape[0]


compiled = torch.compile(step, backend="aot_eager", dynamic=True, fullgraph=True)
weight = torch.randn(8, 8)
with torch.no_grad():
    for rows in (3, 5):
        print(rows, tuple(compiled(torch.randn(rows, 8), weight).shape))
