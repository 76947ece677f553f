"""Batches are dicts; some have an attention mask and some have not."""
import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, batch):
        x = self.fc(batch["features"])
        for name, mask in batch.items():
            if name.endswith("mask"):
                x = x * mask[..., None]
        return x.mean(1)


pool = torch.compile(Pool(), backend="aot_eager")
with torch.no_grad():
    for i in range(6):
        batch = {"features": torch.randn(4, 7, 16)}
        if i % 2:
            batch["padding_mask"] = torch.ones(4, 7)
        out = pool(batch)
print(out.shape)
