"""A print from debugging is left in a model that is compiled with fullgraph=True."""
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.gate, self.value = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x):
        gate = self.gate(x).sigmoid()
        print("gate", gate.mean())
        return gate * self.value(x)


model = torch.compile(Gate(), backend="aot_eager", fullgraph=True)
print(model(torch.randn(5, 16)).shape)
