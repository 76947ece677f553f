"""Attention takes a short cut where queries and keys are equally many, which some calls have."""
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.q, self.k, self.out = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, queries, keys):
        scores = self.q(queries) @ self.k(keys).T
        if queries.shape[0] == keys.shape[0]:
            scores = scores + scores.T
        return self.out(scores.softmax(-1) @ keys)


attention = torch.compile(Attention(), backend="aot_eager", dynamic=True)
with torch.no_grad():
    for n, m in ((10, 18), (24, 24), (12, 30), (16, 16)):
        queries, keys = torch.randn(n, 32), torch.randn(m, 32)
        out = attention(queries, keys)
print(out.shape)
