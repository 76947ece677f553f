"""A head over three levels of features, as detection models have, whose batch sizes are equal only once their results are joined."""
import torch


@torch.compile(backend="aot_eager")
def head(levels):
    flat = []
    for level in levels:
        n, _, h, w = level.shape
        flat.append(level.view(n, -1, 2, h, w).permute(0, 3, 4, 1, 2).reshape(n, -1, 2))
    return torch.cat(flat, dim=1)


levels = [torch.randn(2, 6, size, size + 1) for size in (8, 5, 3)]
for level in levels:
    for dim in (0, 2, 3):
        torch._dynamo.maybe_mark_dynamic(level, dim)
head(levels)
