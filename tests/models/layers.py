"""Four transformer layers over sequences of any length: `layers.py` is before a change, `layers.py 2`
after it, which gives layer 2 a window of 8.

What there is to find between the two recordings: padding to whole windows "only when needed" guards
on a remainder, so that a third length compiles again.
"""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
WIDTH, HEADS, LAYERS = 32, 4, 4


class Layer(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.window = window

    def attention(self, x):
        q, k, v = (
            t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)
        )
        weights = (q @ k.transpose(-1, -2)).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))

    def windowed(self, x):
        length = x.shape[1]
        if length % self.window:
            x = F.pad(x, (0, 0, 0, self.window - length % self.window))
        windows = x.unflatten(1, (-1, self.window)).flatten(0, 1)
        y = self.attention(windows).reshape(x.shape)
        return y[:, :length]

    def forward(self, x):
        x = x + (self.windowed(x) if self.window else self.attention(x))
        return x + self.down(F.gelu(self.up(x)))


class Model(nn.Module):
    def __init__(self, windowed):
        super().__init__()
        self.layers = nn.ModuleList(Layer(8 if i == windowed else None) for i in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x.mean(1)


windowed = int(sys.argv[1]) if len(sys.argv) > 1 else None
model = torch.compile(Model(windowed).eval(), backend="aot_eager", dynamic=True)
with torch.no_grad():
    for batch, length in ((3, 21), (5, 30), (3, 24)):
        print(batch, length, tuple(model(torch.randn(batch, length, WIDTH)).shape))
