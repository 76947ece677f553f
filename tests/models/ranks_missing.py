"""Two ranks of which one leaves out a collective: it meets the next one of the other rank, and gloo gives up.

    TORCH_TRACE=DIR torchrun --nproc-per-node 2 tests/models/ranks_missing.py
"""
import signal

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fc

dist.init_process_group("gloo")
rank = dist.get_rank()


def mean(x):
    return fc.all_reduce(x.sum(0), "sum", dist.group.WORLD) / 2


def largest(x):
    top = x.abs().max()
    if rank == 0:
        top = fc.all_reduce(top, "max", dist.group.WORLD)
    return top + 1


mean, largest = (torch.compile(f, backend="aot_eager", dynamic=True) for f in (mean, largest))
signal.alarm(20)
with torch.no_grad():
    for rows in (4, 6):
        print(rank, largest(mean(torch.ones(rows, 8)) * rows).item(), flush=True)
dist.destroy_process_group()
