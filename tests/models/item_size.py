"""A size that item() reads from an input, a number that item() computes, and a count that a check bounds."""
import torch

torch.manual_seed(0)
torch._dynamo.config.capture_scalar_outputs = True


@torch.compile(backend="aot_eager", dynamic=True, fullgraph=True)
def fill(x, count):
    rows = count.item()
    positive = (x > 0).sum().item()
    if rows < 9:
        x = x + 1
    return x.new_zeros(rows), x * positive


fill(torch.randn(5), torch.tensor(4))


@torch.compile(backend="aot_eager", dynamic=True, fullgraph=True)
def places(x):
    found = x.nonzero()
    torch._check(found.shape[0] >= 2)
    return found[: found.shape[0] // 2]


torch._dynamo.config.capture_dynamic_output_shape_ops = True
places(torch.ones(5))
