"""The number of refinement rounds is an argument and the loop is unrolled for each number."""
import torch
from torch import nn

cell = nn.GRUCell(12, 12)


def refine(x, state, rounds):
    for _ in range(rounds):
        state = cell(x, state)
    return state


compiled = torch.compile(refine, backend="aot_eager")
x, state = torch.randn(4, 12), torch.zeros(4, 12)
with torch.no_grad():
    for rounds in (2, 3, 4, 5, 6, 7):
        state = compiled(x, state, rounds)
print(state.shape)
