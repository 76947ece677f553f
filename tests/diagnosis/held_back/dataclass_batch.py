"""A dataclass holds the points of a cloud, of which there are more or fewer in each call."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Cloud:
    points: torch.Tensor
    scale: torch.Tensor


class PointNet(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.first, self.second = nn.Linear(3, dim), nn.Linear(dim, dim)

    def forward(self, cloud):
        x = self.first(cloud.points * cloud.scale).relu()
        return self.second(x).amax(0)


net = torch.compile(PointNet(), backend="aot_eager")
with torch.no_grad():
    for n in (50, 64, 80, 31):
        cloud = Cloud(torch.randn(n, 3), torch.ones(3))
        out = net(cloud)
print(out.shape)
