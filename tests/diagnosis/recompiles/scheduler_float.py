"""A sampler passes its noise level as a Python float; a branch on it makes it a constant."""
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 32), nn.SiLU(), nn.Linear(32, 8))


def denoise(x, sigma):
    scale = 1.0 / (1.0 + sigma * sigma) ** 0.5
    if sigma > 0.5:
        return x - sigma * net(x * scale)
    return x - 0.5 * sigma * net(x * scale)


compiled = torch.compile(denoise, backend="aot_eager")
x = torch.randn(4, 8)
with torch.no_grad():
    for step in range(12):
        x = compiled(x, 1.0 - 0.07 * step)
print(x.shape)
