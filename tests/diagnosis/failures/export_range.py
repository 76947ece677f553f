"""A text classifier with learned positions, exported for longer texts than it has positions."""
import torch
from torch import nn
from torch.export import Dim, export


class TextClassifier(nn.Module):
    def __init__(self, vocab=500, dim=32, positions=48, classes=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.positions = nn.Parameter(torch.randn(positions, dim))
        self.layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids):
        x = self.embed(ids)
        x = x + self.positions.narrow(0, 0, ids.shape[1])
        return self.head(self.layer(x).mean(1))


model = TextClassifier()
tokens = Dim("tokens", min=4, max=128)
ids = torch.randint(0, 500, (3, 20))
program = export(model, (ids,), dynamic_shapes={"ids": {1: tokens}})
print(len(list(program.graph.nodes)))
