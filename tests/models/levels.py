"""Functions that need values of tensors: .item() in a function three calls deep, and nonzero(); then a backward whose gradients
differ in layout. Recorded with symtape record --calls.
"""
import torch


def third(x):
    x = x.sin()
    total = x.sum().item()
    return x.cos() + total


def second(x):
    return third(x + 1) * 2


@torch.compile(backend="aot_eager")
def first(x):
    return second(x * 3).tanh()


@torch.compile(backend="aot_eager")
def select(x, most):
    rows = torch.nonzero(x[:, 0] < most)
    return x[rows[:, 0]].sum(0)


@torch.compile(backend="aot_eager")
def loss(x, w):
    return (x * w).relu()


for rows in (4, 4, 5, 6, 7):
    first(torch.full((rows, 8), 0.5))
x = torch.ones(10, 8).cumsum(0)
for most in (3, 4, 5, 9, 3):
    select(x, torch.tensor(most))
w = torch.ones(8, requires_grad=True)
for rows, turned in ((4, False), (4, True), (5, False), (6, False), (7, True)):
    gradient = torch.ones(8, rows).t() if turned else torch.ones(rows, 8)
    loss(torch.ones(rows, 8), w).backward(gradient)
