"""Functions of which the printed graphs hide something: a tensor that is a list of sizes, tensors whose sizes change in place, a size that
the frame before a graph break read, what operators keep for their gradients, the backward of a function of the program's own.
"""
import torch
import torch.nn.functional as F
from torch.autograd import Function

torch._dynamo.config.capture_scalar_outputs = True


def lengths(x, sizes):
    a, b, c = torch.split(x, sizes.tolist())
    return a.sum(0) + b.sum(0), torch.cat([c, a])


def changed_in_place(x):
    z = x.clone()
    y = z + 1
    z.t_()
    return y, z.unsqueeze_(0)


def around_a_break(x, n):
    y = x.view(-1, n) * 2
    torch._dynamo.graph_break()
    z = y.reshape(x.shape[0], -1) + 1
    torch._dynamo.graph_break()
    return z.view(y.shape[0], -1) @ y[:, :1].expand(-1, 3)[: z.shape[1]]


def added(x, index, n):
    return torch.zeros(n).index_add(0, index, x)


def block(x):
    return torch.block_diag(x[0], x[1]), x.transpose(1, 2).unflatten(1, (2, -1))


def distances(p, q):
    return torch.cdist(p, q)


def padded(x):
    x = F.pad(x, (0, (16 - x.shape[0] % 16) % 16))
    y = x.view(x.shape[0] // 16, -1)
    return torch.cat([y, y]).view(2, -1)


class Convolution(Function):
    @staticmethod
    def forward(ctx, x, w, k):
        ctx.save_for_backward(w)
        ctx.k = k
        return F.conv1d(F.pad(x, (k - 1, 0)), w)

    @staticmethod
    def backward(ctx, gradient):
        w, = ctx.saved_tensors
        windows = F.conv_transpose1d(gradient, w)[..., ctx.k - 1:]
        return windows, torch.ones_like(w) * gradient.unfold(2, ctx.k, 1).sum(), None


def convolved(x, w):
    return Convolution.apply(x, w, w.shape[-1])


def run(function, *calls):
    compiled = torch.compile(function, backend="aot_eager", dynamic=True)
    for call in calls:
        compiled(*call)


R = torch.randn
run(lengths, (R(10, 4), torch.tensor([2, 3, 5])))
run(changed_in_place, (R(3, 4),))
run(around_a_break, (R(6, 4), 4))
run(added, (R(30), torch.randint(10, (30,)), 10))
run(block, (R(2, 5, 6, requires_grad=True),))
run(distances, (R(2, 20, 3), R(2, 24, 3)), (R(3, 30, 3), R(3, 25, 3)))
run(padded, (R(37),))
run(convolved, (R(2, 3, 20, requires_grad=True), R(4, 3, 3, requires_grad=True)), (R(3, 5, 25, requires_grad=True), R(4, 5, 5, requires_grad=True)))
