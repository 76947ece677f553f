"""Formats that C++ knows without asking for sizes, views that PyTorch's cache made, vmap's rules of layers, and floats that a guard makes
equal before a schema takes one of them.
"""
import torch
import torch.nn.functional as F
from torch.func import vmap

torch.manual_seed(0)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=True)


def channels_last(x, weight):
    x = F.avg_pool2d(x.permute(0, 3, 1, 2), 2)
    return F.conv2d(F.conv2d(x, weight), weight, stride=2)


def odd_columns(x):
    y = x.clone()
    y[:, 1::2] += 1
    return y


def diagonals(x):
    return x.clone().fill_diagonal_(0), torch.ones(5, 5, 5).fill_diagonal_(2), torch.ones(9, 3).fill_diagonal_(2, wrap=True)


def norms(x, weight):
    return F.batch_norm(x, None, None, weight, training=True), F.instance_norm(x), F.layer_norm(x, (x.shape[-1],), x[0, 0, 0])


def sampled(x, grid):
    return F.grid_sample(x, grid, align_corners=False)


def normalized(x, epsilon, other):
    if epsilon != other:
        return x
    return F.layer_norm(x, (4,), eps=epsilon)


def empty(x):
    return torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, True)


compiled(channels_last)(torch.randn(3, 12, 14, 4), torch.randn(4, 4, 1, 1))
compiled(odd_columns)(torch.randn(3, 8))
compiled(diagonals)(torch.randn(4, 6))
compiled(vmap(norms))(torch.randn(5, 2, 3, 6, 8), torch.randn(5, 3))
compiled(vmap(sampled, (0, None)))(torch.randn(5, 2, 3, 6, 8), torch.rand(2, 4, 4, 2))
compiled(normalized)(torch.randn(3, 4), 1e-5, 1e-5)
compiled(empty)(torch.randn(0))
