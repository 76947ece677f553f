"""A module writes to Python's logging."""
import logging

import torch
from torch import nn

log = logging.getLogger("model")
logging.basicConfig(level=logging.INFO)


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.a, self.b = nn.Linear(12, 1), nn.Linear(12, 12), nn.Linear(12, 12)

    def forward(self, x):
        weight = self.score(x).sigmoid()
        log.info("routing %s", tuple(x.shape))
        return weight * self.a(x) + (1 - weight) * self.b(x)


router = torch.compile(Router(), backend="aot_eager")
with torch.no_grad():
    for _ in range(3):
        out = router(torch.randn(5, 12))
print(out.shape)
