"""A compiled function that is called within torch.autocast(): Dynamo's graph does not enter it."""
import torch
import torch.nn as nn

model = torch.compile(nn.Sequential(nn.Linear(8, 8), nn.GroupNorm(2, 8), nn.Linear(8, 4)), backend="aot_eager", dynamic=True)
with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
    model(torch.randn(3, 8)).softmax(-1)
