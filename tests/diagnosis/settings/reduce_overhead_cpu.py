"""mode="reduce-overhead" is asked for, but the model is on the CPU."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
fast = torch.compile(model, mode="reduce-overhead")
with torch.no_grad():
    for _ in range(3):
        out = fast(torch.randn(8, 16))
print(out.shape)
