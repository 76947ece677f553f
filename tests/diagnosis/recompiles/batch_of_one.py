"""A service that answers batches of any size, and now and then a single request."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 4))
serve = torch.compile(model, backend="aot_eager", dynamic=True)
with torch.no_grad():
    for requests in (6, 9, 1, 4, 1):
        out = serve(torch.randn(requests, 20))
print(out.shape)
