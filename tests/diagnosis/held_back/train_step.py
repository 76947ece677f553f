"""A step of training is compiled with its backward; the last batch of each epoch is smaller."""
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                      nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                      nn.Flatten(), nn.Linear(8, 5))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loss_of = nn.CrossEntropyLoss()


@torch.compile(backend="aot_eager")
def losses(images, labels):
    return loss_of(model(images), labels)


for epoch in range(2):
    for size in (16, 16, 6):
        images, labels = torch.randn(size, 3, 12, 12), torch.randint(0, 5, (size,))
        loss = losses(images, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(loss.shape)
