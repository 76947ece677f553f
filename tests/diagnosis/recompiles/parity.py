"""A U-Net step that pads odd widths only."""
import torch
from torch import nn


class DownUp(nn.Module):
    def __init__(self, channels=6):
        super().__init__()
        self.down = nn.Conv1d(channels, channels, 2, stride=2)
        self.up = nn.ConvTranspose1d(channels, channels, 2, stride=2)

    def forward(self, x):
        width = x.shape[-1]
        if width % 2 == 1:
            x = nn.functional.pad(x, (0, 1))
        return self.up(self.down(x).relu())[..., :width]


net = torch.compile(DownUp(), backend="aot_eager", dynamic=True)
with torch.no_grad():
    for width in (30, 44, 31, 53):
        out = net(torch.randn(2, 6, width))
print(out.shape)
