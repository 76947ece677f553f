"""Attention whose heads are joined with view() after a transpose."""
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-1, -2) / 8).softmax(-1)
        joined = (weights @ v).transpose(1, 2).view(b, n, d)
        return self.out(joined)


attention = torch.compile(Attention(), backend="aot_eager", dynamic=True, fullgraph=True)
print(attention(torch.randn(3, 11, 32)).shape)
