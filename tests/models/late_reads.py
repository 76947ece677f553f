"""Text and its mask, whose size is read at a line without a call, between calls that take parameters for the first time; floats of a
module that functions of NumPy make constants.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.norm, self.out = nn.Embedding(9, 8), nn.LayerNorm(8), nn.Linear(8, 8)

    def forward(self, input_ids, attention_mask):
        positions = torch.arange(input_ids.shape[1])
        x = self.norm(self.words(input_ids))
        if len(attention_mask.shape) == 4:
            return x
        keep = attention_mask.bool()[:, None, None, :]
        x = self.out(x * (positions[:, None].float() + 1))[:, None]
        return F.scaled_dot_product_attention(x, x, x, attn_mask=keep.expand(-1, 1, input_ids.shape[1], -1))


class Scaled(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        bound = np.log(self.scale)
        return x * torch.empty(1).uniform_(-bound, bound).exp()


input_ids, attention_mask = torch.zeros(2, 12, dtype=torch.long), torch.ones(2, 12)
for tensor in (input_ids, attention_mask):
    for dim in range(2):
        torch._dynamo.mark_dynamic(tensor, dim)
with torch.no_grad():
    torch.compile(Text(), backend="aot_eager")(input_ids, attention_mask)
    for scale in 2.0, 2.5, 3.5:
        torch.compile(Scaled(scale), backend="aot_eager", dynamic=True)(torch.randn(3, 4))
