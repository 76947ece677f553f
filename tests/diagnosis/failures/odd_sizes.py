"""A U-Net's decoder meets an image whose height is odd: upsampling gives one row too few."""
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 3, 3, padding=1), nn.Conv2d(6, 3, 3, padding=1)

    def forward(self, x):
        low = F.max_pool2d(self.down(x), 2)
        high = F.interpolate(low, scale_factor=2)
        return self.up(torch.cat([x, high], 1))


net = torch.compile(Net(), backend="aot_eager")
with torch.no_grad():
    print(net(torch.randn(1, 3, 16, 16)).shape)
    print(net(torch.randn(1, 3, 17, 16)).shape)
