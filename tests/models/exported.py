"""torch.export: a parameter, a buffer that is mutated, one that is no state, a constant tensor, two
dynamic sizes of which one has a range, and an unbacked size."""
import torch
import torch.nn as nn


class Counter(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.scale = nn.Parameter(torch.arange(1.0, width + 1))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("shift", torch.full((width,), 0.5), persistent=False)
        self.offset = torch.tensor([3.0])

    def forward(self, x, pair, repeat=2):
        self.calls.add_(1)
        y = x * self.scale + self.shift
        kept = pair["rows"][pair["rows"].sum(1) > 0]
        return y * repeat + self.offset, kept.sum(0)


torch.manual_seed(0)
batch = torch.export.Dim("batch", min=2, max=64)
rows = torch.export.Dim("rows")
program = torch.export.export(
    Counter(), (torch.randn(6, 4), {"rows": torch.randn(5, 4)}), {"repeat": 3},
    dynamic_shapes={"x": {0: batch}, "pair": {"rows": {0: rows}}, "repeat": None})
torch.export.save(program.run_decompositions(), "exported.pt2")
print(program.range_constraints)
