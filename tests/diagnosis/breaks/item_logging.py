"""The sparsity of a code is read with .item() for a log, in the middle of the step."""
import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Linear(20, 6), nn.Linear(6, 20)

    def forward(self, x):
        code = self.down(x).relu()
        sparsity = code.abs().mean().item()
        return self.up(code), sparsity


model = torch.compile(Autoencoder(), backend="aot_eager")
with torch.no_grad():
    for _ in range(3):
        out, sparsity = model(torch.randn(8, 20))
print(out.shape)
