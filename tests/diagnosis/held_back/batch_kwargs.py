"""A batch is passed as keyword arguments, and its texts are of other lengths in each step."""
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, vocab=300, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(4))
        self.head = nn.Linear(dim, 3)

    def forward(self, ids, weights):
        x = self.embed(ids)
        for layer in self.layers:
            x = x + layer(x).relu()
        return self.head((x * weights.unsqueeze(-1)).sum(1))


model = torch.compile(Classifier(), backend="aot_eager")
with torch.no_grad():
    for length in (11, 23, 17, 30):
        batch = {"ids": torch.randint(0, 300, (4, length)), "weights": torch.rand(4, length)}
        out = model(**batch)
print(out.shape)
