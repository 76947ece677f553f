"""Fails: a branch on a size that only the data decide. Exits with 1 after PyTorch's error."""
import sys

import torch

torch.manual_seed(0)
torch._dynamo.config.capture_scalar_outputs = True


def keep_large(x):
    kept = (x.abs().mean(-1) > 0.5).sum().item()
    y = x[:kept]
    if y.shape[0] > 4:
        return y.softmax(0)
    return y + 1


try:
    torch.compile(keep_large, backend="aot_eager", dynamic=True, fullgraph=True)(torch.randn(9, 6))
except Exception as error:
    print(type(error).__name__, file=sys.stderr)
    sys.exit(1)
