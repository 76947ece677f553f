"""A padding mask is passed as a keyword argument in some steps, and left out in the others."""
import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.score, self.value = nn.Linear(dim, 1), nn.Linear(dim, dim)

    def forward(self, x, *, mask=None):
        weights = self.score(x).squeeze(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, -1e9)
        return (weights.softmax(-1).unsqueeze(-1) * self.value(x)).sum(1)


pool = torch.compile(Pool(), backend="aot_eager")
every = torch.ones(4, 12, dtype=torch.bool)
with torch.no_grad():
    for step in range(6):
        x = torch.randn(4, 12, 32)
        out = pool(x, mask=every) if step % 2 else pool(x)
print(out.shape)
