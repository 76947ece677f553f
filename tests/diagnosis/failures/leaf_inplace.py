"""A parameter is clamped in place inside of the compiled step, with gradients on."""
import torch

scale = torch.nn.Parameter(torch.ones(6))


@torch.compile(backend="aot_eager", fullgraph=True)
def step(x):
    scale.clamp_(0.1, 2.0)
    return (x * scale).sum()


print(step(torch.randn(3, 6)))
