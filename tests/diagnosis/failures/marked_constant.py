"""The sequence is marked dynamic, but a learned bias has a fixed number of rows."""
import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, tokens=20, dim=24):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(tokens, dim))
        self.norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 48), nn.GELU(), nn.Linear(48, dim))

    def forward(self, x):
        x = x + self.bias
        return x + self.mlp(self.norm(x))


mixer = torch.compile(Mixer(), backend="aot_eager")
x = torch.randn(4, 20, 24)
torch._dynamo.mark_dynamic(x, 1)
print(mixer(x).shape)
