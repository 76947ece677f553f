"""A dynamic batch is exported, but the model reshapes with the batch size of its training."""
import torch
from torch import nn
from torch.export import Dim, export

BATCH = 8


class Pooler(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 12, 3, padding=1)
        self.fc = nn.Linear(12 * 16, 10)

    def forward(self, image):
        x = nn.functional.adaptive_avg_pool2d(self.conv(image).relu(), 4)
        x = x.reshape(BATCH, 12 * 16)
        return self.fc(x)


batch = Dim("batch", min=2, max=64)
program = export(Pooler(), (torch.randn(BATCH, 3, 32, 32),), dynamic_shapes={"image": {0: batch}})
print(program.graph_signature.user_outputs)
