"""A custom operator fails to compile, and suppress_errors hides it."""
import torch
from torch import nn

torch._dynamo.config.suppress_errors = True


@torch.library.custom_op("vision::equalize", mutates_args=())
def equalize(image: torch.Tensor) -> torch.Tensor:
    return (image - image.amin()) / (image.amax() - image.amin())


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, image):
        return self.conv(torch.ops.vision.equalize(image)).relu().mean((2, 3))


backbone = torch.compile(Backbone(), backend="aot_eager", fullgraph=False)
with torch.no_grad():
    for _ in range(2):
        out = backbone(torch.rand(2, 3, 12, 12))
print(out.shape)
