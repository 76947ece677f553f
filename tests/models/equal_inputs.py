"""Sizes that vmap's rules make numbers, inputs of one size that a guard makes equal after the calls that take them, gradients of inputs,
and a mask that requires a gradient.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import vmap

torch.manual_seed(0)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=True)


def norms(x):
    return F.layer_norm(x, (8,)), F.group_norm(x, 2, torch.ones(4), torch.ones(4))


def parts(x, index):
    return torch.cat([x, x]), x.gather(0, index), x.unfold(0, 2, 1)


def embed(inputs, attention_mask, table, positions):
    x = table[inputs] + positions[: inputs.shape[1]]
    mask = attention_mask[:, None, None, :].expand(-1, 1, inputs.shape[1], -1)
    return F.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None], attn_mask=mask.bool())


def biased(x, bias):
    return F.scaled_dot_product_attention(x, x, x, attn_mask=bias.permute(2, 0, 1)[None].contiguous())


def sizes(x, y):
    x, y = torch.broadcast_tensors(x, y)
    return F.interpolate((x + y)[None, None], scale_factor=2, mode="bicubic")


compiled(lambda x: torch.fft.ihfftn(x).abs())(torch.randn(5, 8))
compiled(vmap(norms))(torch.randn(5, 2, 4, 8))
compiled(vmap(parts))(torch.randn(5, 4, 7), torch.zeros(5, 4, 7, dtype=torch.long))

ids, mask = torch.zeros(2, 12, dtype=torch.long), torch.ones(2, 12)
for x in (ids, mask):
    torch._dynamo.mark_dynamic(x, 0)
    torch._dynamo.mark_dynamic(x, 1)
torch.compile(embed, backend="aot_eager")(ids, mask, torch.randn(9, 16), torch.randn(32, 16))

bias = nn.Parameter(torch.randn(6, 6, 2))
compiled(biased)(torch.randn(3, 2, 6, 16, requires_grad=True), bias).sum().backward()

x, y = torch.randn(5, 8), torch.randn(5, 8)
for z in (x, y):
    torch._dynamo.mark_dynamic(z, 0)
torch.compile(sizes, backend="aot_eager")(x, y)

weight = torch.randn(6, 4, requires_grad=True)
weight.grad = torch.ones_like(weight)
torch._dynamo.mark_dynamic(weight, 0)
compiled(lambda x, weight: (x @ weight).sum())(torch.randn(5, 6), weight).backward()
