"""A batch is marked unbacked so that a batch of one needs no compile of its own; a branch asks for its size."""
import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.small, self.large = nn.Linear(16, 4), nn.Linear(16, 4)

    def forward(self, x):
        x = x.tanh()
        if x.shape[0] > 32:
            return self.large(x)
        return self.small(x)


scorer = torch.compile(Scorer(), backend="aot_eager", fullgraph=True)
x = torch.randn(12, 16)
torch._dynamo.decorators.mark_unbacked(x, 0)
print(scorer(x).shape)
