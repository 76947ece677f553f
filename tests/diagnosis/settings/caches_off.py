"""A service starts with all of Inductor's caches disabled by an environment variable."""
import os

os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
import torch
from torch import nn

model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4))
serve = torch.compile(model)
with torch.no_grad():
    print(serve(torch.randn(8, 16)).shape)
