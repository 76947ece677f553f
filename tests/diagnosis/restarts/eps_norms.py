"""A convolution net of eight blocks; compiled with dynamic=True, so the eps of each norm becomes a symbol."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width, eps=1e-3)

    def forward(self, x):
        return x + self.norm(self.conv(x)).relu()


model = nn.Sequential(*(Block(6) for _ in range(8))).eval()
compiled = torch.compile(model, backend="aot_eager", dynamic=True)
with torch.no_grad():
    print(compiled(torch.randn(3, 6, 16, 20)).shape)
