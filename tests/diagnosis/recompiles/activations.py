"""A search over activations passes each function to one compiled function."""
import torch
from torch import nn
from torch.nn import functional as F

linear = nn.Linear(16, 16)


def layer(x, activation):
    return activation(linear(x)) + x


compiled = torch.compile(layer, backend="aot_eager")
x = torch.randn(4, 16)
with torch.no_grad():
    for activation in (F.relu, F.gelu, F.silu, F.softplus, F.mish, F.elu):
        x = compiled(x, activation)
print(x.shape)
