"""Some batches come out of the preprocessing as float64."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)
features = nn.Sequential(nn.Linear(10, 20), nn.Tanh(), nn.Linear(20, 3))


def embed(batch):
    centred = batch - batch.mean(0)
    return features(centred.float())


compiled = torch.compile(embed, backend="aot_eager")
with torch.no_grad():
    for i in range(6):
        raw = rng.normal(size=(12, 10))
        batch = torch.from_numpy(raw) if i % 2 else torch.from_numpy(raw.astype(np.float32))
        out = compiled(batch)
print(out.shape)
