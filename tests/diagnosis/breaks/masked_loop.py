"""A pooling step over the valid tokens of each text in a Python loop."""
import torch
from torch import nn

proj = nn.Linear(8, 8)


def pool(x, mask):
    rows = []
    for text, valid in zip(x, mask):
        rows.append(proj(text[valid]).mean(0))
    return torch.stack(rows)


compiled = torch.compile(pool, backend="aot_eager")
torch.manual_seed(0)
with torch.no_grad():
    out = compiled(torch.randn(4, 10, 8), torch.rand(4, 10) > 0.4)
print(out.shape)
