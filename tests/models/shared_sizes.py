"""Inputs of one size of which only some share a symbol, and calls that take a size whose symbol a guard replaced later."""
import torch


@torch.compile(backend="aot_eager", dynamic=True)
def model(first, marked, shared, heads):
    rows = first.reshape(first.size(0), -1) * marked.sum()
    both = torch.cat([rows, shared], 1)
    return both.view(heads, both.size(1)) + heads


marked = torch.randn(8, 3)
torch._dynamo.mark_dynamic(marked, 0)
model(torch.randn(8, 6, 4), marked, torch.randn(8, 10), 8)
