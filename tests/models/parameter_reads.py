"""Sizes of text that are read while a parameter is taken, and a parameter whose dtype is read before all inputs."""
import torch
import torch.nn as nn


class Token(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.words = nn.Parameter(torch.zeros(1, 1, 8)), nn.Embedding(9, 8)

    def forward(self, mask, ids):
        x = self.words(mask)
        return x + self.token.expand(ids.shape[0], ids.shape[1], -1)


class Weight(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.words, self.out = nn.Embedding(9, 8), nn.Linear(8, 8, bias=bias)

    def forward(self, mask, ids):
        dtype = self.out.weight.dtype
        x = self.words(mask)
        keep = ids.to(dtype)
        ones = torch.ones(ids.shape[0], ids.shape[1])
        return self.out(x * ones[:, :, None]), keep


mask, ids = torch.zeros(2, 12, dtype=torch.long), torch.ones(2, 12)
for tensor in (mask, ids):
    for dim in range(2):
        torch._dynamo.mark_dynamic(tensor, dim)
with torch.no_grad():
    for model in Token(), Weight(bias=False), Weight(bias=True):
        torch._dynamo.reset()
        torch.compile(model, backend="eager")(mask, ids)
