"""A pass of the user's own over the graph without a uuid, so that FX graphs are not cached."""
import torch
from torch import nn


def count_nodes(graph):
    print("nodes", len(graph.nodes))


torch._inductor.config.post_grad_custom_post_pass = count_nodes
model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4))
compiled = torch.compile(model)
with torch.no_grad():
    print(compiled(torch.randn(8, 16)).shape)
