"""The number of valid rows is read from a tensor, and a branch asks whether there are enough."""
import torch
from torch import nn

torch._dynamo.config.capture_scalar_outputs = True
head = nn.Linear(16, 4)


def normalized(rows, counts):
    valid = counts[0].item()
    used = counts[1].item()
    if valid > used:
        rows = rows - rows.mean(0)
    return head(rows) / valid


compiled = torch.compile(normalized, backend="aot_eager", fullgraph=True)
with torch.no_grad():
    print(compiled(torch.randn(32, 16), torch.tensor([24, 8])).shape)
