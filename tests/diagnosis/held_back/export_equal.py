"""Two inputs are exported with a Dim each, but the model adds them: the Dims have to be one."""
import torch
from torch import nn
from torch.export import Dim, export


class Fuse(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.left, self.right = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, image, depth):
        return (self.left(image) + self.right(depth)).relu()


rows, lines = Dim("rows", min=2, max=128), Dim("lines", min=2, max=128)
program = export(Fuse(), (torch.randn(10, 16), torch.randn(10, 16)),
                 dynamic_shapes={"image": {0: rows}, "depth": {0: lines}})
print(len(list(program.graph.nodes)))
