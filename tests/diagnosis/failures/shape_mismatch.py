"""A language model whose loss weights are shifted by one token, the logits are not."""
import torch
from torch import nn


class WeightedLoss(nn.Module):
    def __init__(self, vocab=60, dim=16):
        super().__init__()
        self.embed, self.head = nn.Embedding(vocab, dim), nn.Linear(dim, vocab)

    def forward(self, ids, weights):
        logits = self.head(self.embed(ids).cumsum(1))
        targets = ids.roll(-1, 1)
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
        shifted = weights[:, 1:]
        return (loss * shifted).sum() / shifted.sum()


model = torch.compile(WeightedLoss(), backend="aot_eager", dynamic=True, fullgraph=True)
ids = torch.randint(0, 60, (4, 30))
print(model(ids, torch.ones(4, 30)))
