"""Two ranks exchange rows by batched messages, compiled by one process of a job that is only pretended.

usage: batch_p2p.py RANK
"""
import sys

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

rank = int(sys.argv[1])
dist.init_process_group("fake", rank=rank, world_size=2, store=FakeStore())
group = dist.group.WORLD.group_name


def exchange(x):
    ours, theirs = x * 2, torch.zeros_like(x)
    done = torch.ops._c10d_functional.batch_p2p_ops(["irecv", "isend"], [1 - rank, 1 - rank], [3, 3], [theirs, ours], group)
    received = torch.ops._c10d_functional.wait_tensor(done[0])
    return received - x


compiled = torch.compile(exchange, backend="aot_eager", dynamic=True, fullgraph=True)
with torch.no_grad():
    compiled(torch.ones(6, 10))
dist.destroy_process_group()
