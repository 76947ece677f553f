"""An encoder with window attention over sequences of any length.

What there is to find in its recording: the temperature, a float attribute, is traced as a symbol,
then specialized, and everything traced before that is thrown away (a restart); padding to whole
windows "only when needed" guards on a remainder, so a length that is a multiple of the window
compiles again (a recompile).
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
WIDTH, HEADS, WINDOW = 32, 4, 8


class WindowAttention(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.temperature = temperature

    def forward(self, x):
        length = x.shape[1]
        if length % WINDOW:
            x = F.pad(x, (0, 0, 0, WINDOW - length % WINDOW))
        windows = x.unflatten(1, (-1, WINDOW))
        q, k, v = (
            t.unflatten(-1, (HEADS, -1)).transpose(2, 3) for t in self.qkv(windows).chunk(3, -1)
        )
        weights = (q @ k.transpose(-1, -2) / self.temperature).softmax(-1)
        y = self.out((weights @ v).transpose(2, 3).flatten(3))
        return y.flatten(1, 2)[:, :length]


class Block(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = WindowAttention(temperature)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Encoder(nn.Module):
    def __init__(self, blocks=3):
        super().__init__()
        self.blocks = nn.ModuleList(Block(2.0 + i / 4) for i in range(blocks))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x.mean(1)


model = torch.compile(Encoder().eval(), backend="aot_eager", dynamic=True)
with torch.no_grad():
    for batch, length in ((3, 21), (5, 30), (3, 24)):
        print(batch, length, tuple(model(torch.randn(batch, length, WIDTH)).shape))
