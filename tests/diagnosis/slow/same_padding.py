"""Convolutions padded as TensorFlow does, over images whose height and width are both dynamic."""
import math

import torch
from torch import nn


class SameConv(nn.Conv2d):
    def forward(self, x):
        pads = []
        for size, kernel, stride in zip(reversed(x.shape[-2:]), self.kernel_size, self.stride):
            pad = max((math.ceil(size / stride) - 1) * stride + kernel - size, 0)
            pads += [pad // 2, pad - pad // 2]
        return super().forward(nn.functional.pad(x, pads))


def stage(width):
    return nn.Sequential(SameConv(width, width, 3, stride=2), nn.SiLU(),
                         SameConv(width, width, 5), nn.SiLU())


model = nn.Sequential(SameConv(3, 6, 3, stride=2), *(stage(6) for _ in range(1))).eval()
compiled = torch.compile(model, backend="aot_eager", dynamic=True)
with torch.no_grad():
    print(compiled(torch.randn(2, 3, 120, 96)).shape)
