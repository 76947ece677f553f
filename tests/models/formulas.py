"""Calls that a rule answers only by the calls within it: a score function that indexes by scalars, the gradient of trace(),
a size that C++ takes as a number, and compiled autograd over formulas of autograd and over AOTAutograd's backward.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch._dynamo import compiled_autograd
from torch.nn.attention.flex_attention import flex_attention

torch.manual_seed(0)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=True)


def biased(q, bias):
    return flex_attention(q, q, q, score_mod=lambda score, b, h, i, j: score + bias[h, i - j + 8])


def diagonal(x):
    return x.trace() + x.index_fill(1, torch.tensor([0]), 2.0).sum()


def powers(x):
    return torch.vander(x[:, 0], 3), torch.tensor_split(x, 3)


def loss(x):
    y = F.silu(x).softmax(-1) * x.sin() - x.sigmoid() / 2
    return torch.where(y > 0, y, y.exp()).mean(1).logsumexp(0)


compiled(biased)(torch.randn(2, 4, 9, 8), torch.randn(4, 20))
compiled(diagonal)(torch.randn(1, 5, requires_grad=True)).backward()
compiled(powers)(torch.randn(6, 5))
with compiled_autograd._enable(compiled):
    loss(torch.randn(3, 8) @ torch.randn(8, 4, requires_grad=True)).backward()
    compiled(nn.Linear(4, 3))(torch.randn(5, 4)).sum().backward()
