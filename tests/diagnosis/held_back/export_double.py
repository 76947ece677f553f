"""A stereo signal is exported with a Dim for each channel and one for both, which is twice as long."""
import torch
from torch import nn
from torch.export import Dim, export


class Mixer(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.mix = nn.Linear(dim, dim)

    def forward(self, channel, both):
        return self.mix(torch.cat((channel, channel)) * both)


length = Dim("length", min=2, max=64)
total = Dim("total", min=4, max=128)
program = export(Mixer(), (torch.randn(9, 12), torch.randn(18, 12)),
                 dynamic_shapes={"channel": {0: length}, "both": {0: total}})
print(len(list(program.graph.nodes)))
