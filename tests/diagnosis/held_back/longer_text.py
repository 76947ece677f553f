"""A matcher swaps its inputs if the text is more than twice as long as the pattern."""
import torch
from torch import nn

project = nn.Sequential(nn.Linear(20, 40), nn.GELU(), nn.Linear(40, 20))


def match(text, pattern):
    if text.shape[0] > 2 * pattern.shape[0]:
        text = text[:, :10].repeat(1, 2)
    return (project(text) @ project(pattern).T).amax(0)


matcher = torch.compile(match, backend="aot_eager", dynamic=True)
with torch.no_grad():
    for n, m in ((40, 10), (33, 12), (18, 15), (21, 14), (50, 7)):
        text, pattern = torch.randn(n, 20), torch.randn(m, 20)
        out = matcher(text, pattern)
print(out.shape)
