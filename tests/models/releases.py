"""Operators about which releases of PyTorch ask differently."""
import torch
import torch.nn.functional as F


def pool(x):
    return F.max_pool2d(F.pad(x, [1, 2, 1, 2], "reflect"), 2)


def shuffle(x, n):
    y = F.pixel_shuffle(x, 2).unflatten(0, (-1, 2))
    return y.chunk(3, -1)[0], torch.linalg.svd(x.flatten(0, 2))[1], torch.arange(n * 0.6)


def norm(x, weight):
    return F.group_norm(x, 2, weight).unique(return_counts=True)


torch.manual_seed(0)
for f, args in ((pool, [torch.rand(2, 4, 9, 11, requires_grad=True)]),
                (shuffle, [torch.rand(4, 8, 6, 7), 9]),
                (norm, [torch.rand(3, 6, 5), torch.rand(6)])):
    try:
        torch.compile(f, backend="aot_eager", dynamic=True)(*args)
    except Exception as raised:
        print(type(raised), str(raised)[:300])
