"""The warm-up runs with gradients, the service without."""
import torch
from torch import nn

model = nn.Sequential(nn.Conv1d(2, 8, 3), nn.ReLU(), nn.Conv1d(8, 1, 3)).eval()
filtered = torch.compile(model, backend="aot_eager")
signal = torch.randn(3, 2, 50)
filtered(signal)
with torch.no_grad():
    for _ in range(3):
        out = filtered(signal)
print(out.shape)
