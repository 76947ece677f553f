"""A loop over layers prints the norm of what each of them computes."""
import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, dim=32, depth=3):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(dim, dim), nn.GELU()) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        print("norm:", x.norm())
        return x.mean(0)


tower = torch.compile(Tower(), backend="aot_eager")
with torch.no_grad():
    for _ in range(3):
        out = tower(torch.randn(16, 32))
print(out.shape)
