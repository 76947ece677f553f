"""Every functional collective, in one graph for each dtype, compiled by one process of a job that is only pretended.

usage: collectives.py [RANKS]
"""
import sys

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fc
from torch.testing._internal.distributed.fake_pg import FakeStore

ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 2
dist.init_process_group("fake", rank=0, world_size=ranks, store=FakeStore())
group = dist.group.WORLD


def exchange(x):
    total = fc.all_reduce(x, "sum", group)
    most = fc.all_reduce(x, "max", group)
    rows = fc.all_gather_tensor(x, 0, group)
    part = fc.reduce_scatter_tensor(rows + 1, "sum", 0, group)
    moved = fc.all_to_all_single(rows, None, None, group)
    first = fc.broadcast(x, 0, group)
    return total, most, rows, part, moved, first


for dtype in (torch.float32, torch.bfloat16, torch.int64):
    torch.compiler.reset()
    compiled = torch.compile(exchange, backend="aot_eager", dynamic=True, fullgraph=True)
    with torch.no_grad():
        compiled(torch.ones(6, 10, dtype=dtype))
dist.destroy_process_group()
