"""A detector of four input ranks and dtypes under a recompile limit that a colleague has set."""
import torch
from torch import nn

torch._dynamo.config.recompile_limit = 2
model = nn.Sequential(nn.Flatten(), nn.LazyLinear(12), nn.ReLU(), nn.Linear(12, 2))
model(torch.randn(1, 24))


@torch.compile(backend="aot_eager")
def detect(x):
    return model(x.float()).softmax(-1)


with torch.no_grad():
    for dtype in (torch.float32, torch.float64, torch.float16, torch.uint8):
        for _ in range(2):
            out = detect(torch.ones(6, 24).to(dtype))
print(out.shape)
