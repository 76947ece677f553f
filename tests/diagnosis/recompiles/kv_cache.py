"""Greedy decoding: the keys and values of all tokens so far are passed, one more in each call."""
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab=40, dim=32):
        super().__init__()
        self.embed, self.head = nn.Embedding(vocab, dim), nn.Linear(dim, vocab)
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, token, keys, values):
        q, k, v = self.qkv(self.embed(token)).chunk(3, -1)
        keys, values = torch.cat([keys, k], 1), torch.cat([values, v], 1)
        out = nn.functional.scaled_dot_product_attention(q, keys, values)
        return self.head(out).argmax(-1), keys, values


decoder = torch.compile(Decoder(), backend="aot_eager")
token = torch.zeros(2, 1, dtype=torch.long)
keys, values = torch.randn(2, 5, 32), torch.randn(2, 5, 32)
with torch.no_grad():
    for _ in range(12):
        token, keys, values = decoder(token, keys, values)
print(keys.shape)
