"""Automatic dynamic shapes were switched off once, for another model."""
import torch
from torch import nn

torch._dynamo.config.automatic_dynamic_shapes = False


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(50, 16), nn.Linear(16, 7)

    def forward(self, ids):
        return self.out(self.embed(ids).cumsum(1).tanh())


tagger = torch.compile(Tagger(), backend="aot_eager")
with torch.no_grad():
    for length in (12, 15, 9, 20, 31, 18):
        out = tagger(torch.randint(0, 50, (4, length)))
print(out.shape)
