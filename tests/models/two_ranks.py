"""Two processes, two ranks, one collective in the graph: a log from each. Gloo on loopback."""
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as collectives
import torch.multiprocessing as mp


def average(x):
    return collectives.all_reduce(x * x.shape[0], "sum", dist.group.WORLD) / 2


def work(rank, store):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
    torch.manual_seed(rank)
    compiled = torch.compile(average, backend="aot_eager", dynamic=True)
    for rows in (3, 5):
        y = compiled(torch.randn(rows, 4))
    print(rank, tuple(y.shape))
    sys.stdout.flush()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(os.path.join(folder, "store"),), nprocs=2)
