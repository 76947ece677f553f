"""A job is killed by its scheduler while a model with TensorFlow's padding is compiled for dynamic sizes."""
import math
import os
import signal
import threading

import torch
from torch import nn


class SameConv(nn.Conv2d):
    def forward(self, x):
        pads = []
        for size, kernel, stride in zip(reversed(x.shape[-2:]), self.kernel_size, self.stride):
            pad = max((math.ceil(size / stride) - 1) * stride + kernel - size, 0)
            pads += [pad // 2, pad - pad // 2]
        return super().forward(nn.functional.pad(x, pads))


torch.compile(lambda x: x + 1, backend="aot_eager")(torch.ones(2))
model = nn.Sequential(SameConv(3, 6, 3, stride=2), *(SameConv(6, 6, 3, stride=2) for _ in range(5)))
compiled = torch.compile(model, backend="aot_eager", dynamic=True)
threading.Timer(15, os.kill, (os.getpid(), signal.SIGKILL)).start()
with torch.no_grad():
    print(compiled(torch.randn(2, 3, 480, 300)).shape)
