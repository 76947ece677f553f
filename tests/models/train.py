"""Two training steps at two lengths: joint, forward and backward graphs, mark_dynamic."""
import torch
import torch.nn as nn

torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self, words=50, width=16, tags=5):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.mix = nn.Conv1d(width, width, 3, padding=1)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, tags)

    def forward(self, ids):
        x = self.embedding(ids)
        x = self.norm(x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2))
        return self.head(x)


model = Tagger()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch, length in ((4, 10), (6, 13)):
    ids = torch.randint(0, 50, (batch, length))
    tags = torch.randint(0, 5, (batch, length))
    torch._dynamo.mark_dynamic(ids, 0)
    torch._dynamo.mark_dynamic(ids, 1)
    loss = nn.functional.cross_entropy(compiled(ids).flatten(0, 1), tags.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(batch, length, f"{loss.item():.4f}")
