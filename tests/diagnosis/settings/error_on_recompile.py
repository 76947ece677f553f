"""A service must not recompile after its warm-up, and a request of another length comes."""
import torch
from torch import nn

model = nn.Sequential(nn.Embedding(80, 16), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 80))
serve = torch.compile(model, backend="aot_eager")
with torch.no_grad():
    serve(torch.randint(0, 80, (2, 16)))
    torch._dynamo.config.error_on_recompile = True
    print(serve(torch.randint(0, 80, (2, 21))).shape)
