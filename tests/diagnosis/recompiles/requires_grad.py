"""Adversarial steps pass an input that requires grad, ordinary steps one that does not."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
compiled = torch.compile(model, backend="aot_eager")
labels = torch.randint(0, 2, (6,))
for step in range(4):
    x = torch.randn(6, 10)
    if step % 2:
        x = x.requires_grad_()
    loss = nn.functional.cross_entropy(compiled(x), labels)
    loss.backward()
print(loss.shape)
