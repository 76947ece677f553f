"""A data loader whose last batch is smaller."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(70, 3, 16, 16), torch.randint(0, 5, (70,)))
loader = DataLoader(data, batch_size=16)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
                      nn.Linear(32, 5))
compiled = torch.compile(model, backend="aot_eager")
with torch.no_grad():
    for images, labels in loader:
        loss = nn.functional.cross_entropy(compiled(images), labels)
print(loss)
