"""Everything that the model does happens in a function that torch.compile was told to leave alone."""
import torch
from torch import nn

layers = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 2))


@torch.compiler.disable
def compute(x):
    return layers(x).softmax(-1)


@torch.compile(backend="aot_eager")
def predict(x):
    return compute(x)


with torch.no_grad():
    for _ in range(3):
        out = predict(torch.randn(6, 10))
print(out.shape)
