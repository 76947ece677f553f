"""Queries and gallery have the same number of rows in the first calls, by chance."""
import torch
from torch import nn


class Retrieval(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.query, self.gallery = nn.Linear(dim, 8), nn.Linear(dim, 8)

    def forward(self, queries, gallery):
        scores = self.query(queries) @ self.gallery(gallery).T
        return scores.softmax(-1).amax(-1)


model = torch.compile(Retrieval(), backend="aot_eager", dynamic=True)
with torch.no_grad():
    model(torch.randn(16, 24), torch.randn(16, 24))
    model(torch.randn(16, 24), torch.randn(40, 24))
    out = model(torch.randn(12, 24), torch.randn(33, 24))
print(out.shape)
