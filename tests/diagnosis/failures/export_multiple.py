"""An encoder that merges four frames of a log-mel spectrogram into one, exported for any length."""
import torch
from torch import nn
from torch.export import Dim, export


class FrameMerger(nn.Module):
    def __init__(self, mels=48, dim=96):
        super().__init__()
        self.norm = nn.LayerNorm(mels * 4)
        self.proj = nn.Linear(mels * 4, dim)

    def forward(self, frames):
        b, n, c = frames.shape
        merged = frames.view(b, n // 4, 4 * c)
        return self.proj(self.norm(merged))


model = FrameMerger().eval()
length = Dim("length", min=8, max=256)
program = export(model, (torch.randn(2, 64, 48),), dynamic_shapes={"frames": {1: length}})
print(program.graph_signature.user_outputs)
