"""Operators whose meta kernels some releases of PyTorch changed, with sizes, strides and steps that are symbols."""
import torch


def scatter(x, part, size, stride):
    return torch.as_strided_scatter(x, part, size, stride).diag(-2)


def steps(start, end, step):
    return torch.arange(start, end, step, dtype=torch.float32)


def signal(x):
    return torch.istft(torch.complex(x, x), 10, return_complex=False)


def copies(x, y, n):
    x[: n // 2].copy_(y)
    return x


torch.manual_seed(0)
for f, args in ((scatter, [torch.rand(4, 6), torch.rand(2, 2), (2, 2), (4, 1)]),
                (steps, [4, 4, -1]),
                (signal, [torch.rand(6, 7)]),
                (copies, [torch.rand(8, 6), torch.rand(4, 1), 9])):
    try:
        torch.compile(f, backend="aot_eager", dynamic=True)(*args)
    except Exception as raised:
        print(type(raised), str(raised)[:300])
