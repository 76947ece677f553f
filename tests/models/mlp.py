"""Automatic dynamic shapes: the second batch size makes a symbol of it, and compiles again."""
import torch
import torch.nn as nn

torch.manual_seed(0)


class Mlp(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.inner = nn.Linear(width, 2 * width)
        self.outer = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.outer(torch.relu(self.inner(x)))


model = torch.compile(Mlp(), backend="aot_eager")
with torch.no_grad():
    for batch in (4, 6, 9):
        print(batch, tuple(model(torch.randn(batch, 16)).shape))
