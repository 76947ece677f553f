"""A container in which Inductor finds no C++ compiler."""
import os

os.environ["CXX"] = "/usr/bin/g++-of-another-image"
import torch
from torch import nn

model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
compiled = torch.compile(model)
with torch.no_grad():
    print(compiled(torch.randn(8, 16)).shape)
