"""A loss warns about clipped values each time it is called, with warnings.warn."""
import warnings

import torch
from torch import nn


class Clipped(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        y = self.head(x)
        warnings.warn("values are clipped to one")
        return y.clamp(-1, 1).sum(-1)


model = torch.compile(Clipped(), backend="aot_eager")
with torch.no_grad():
    for _ in range(2):
        print(model(torch.randn(5, 12)).shape)
