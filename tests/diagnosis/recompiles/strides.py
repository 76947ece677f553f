"""Feature maps arrive channels-first from one branch and as a permuted view from another."""
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.fc = nn.LayerNorm(12), nn.Linear(12, 2)

    def forward(self, features):
        return self.fc(self.norm(features)).amax(1)


head = torch.compile(Head(), backend="aot_eager")
with torch.no_grad():
    for i in range(4):
        tokens = torch.randn(4, 9, 12)
        if i % 2:
            tokens = torch.randn(4, 12, 9).permute(0, 2, 1)
        out = head(tokens)
print(out.shape)
