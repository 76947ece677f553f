"""A print makes two graphs of one; a Python counter compiles the second again at every step."""
import torch

torch.manual_seed(0)
state = {"step": 0}


def normalise(x):
    y = x - x.mean(-1, keepdim=True)
    print("rows", x.shape[0])
    state["step"] += 1
    return y / y.std(-1, keepdim=True) * state["step"]


compiled = torch.compile(normalise, backend="aot_eager", dynamic=True)
for rows in (4, 7, 5):
    compiled(torch.randn(rows, 12))
