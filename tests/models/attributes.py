"""Tensors at fixed addresses, which are attributes of Dynamo's graphs, and a gradient of an input."""
import torch


class State:
    """Has a tensor that is an attribute, and one in a dictionary, as optimizers have them."""

    def __init__(self, n):
        self.p = torch.ones(n, 3)
        self.d = {"q": torch.ones(n, 3)}
        for tensor in self.p, self.d["q"]:
            torch._dynamo.mark_static_address(tensor, guard=True)


@torch.compile(backend="aot_eager", dynamic=True)
def step(x, y):
    return torch._foreach_add([x.p, x.d["q"]], [y.grad, y.grad])


for n in 5, 7:
    y = torch.ones(n, 3, requires_grad=True)
    y.grad = torch.ones(n, 3)
    step(State(n), y)
