#!/usr/bin/env python3
"""One rank of what ranks_peers.py measures: collectives, a tensor-parallel MLP, or a step of DistributedDataParallel.

Started by torch.distributed.run; rank 0 writes its times to OUT as JSON: {name: {size: {mode: microseconds}}}.
"""
import argparse
import contextlib
import json
import os
import statistics
import time

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fc
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["collectives", "mlp", "ddp"])
    parser.add_argument("out")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sizes", required=True)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=30)
    return parser.parse_args()


class Mlp(nn.Module):
    def __init__(self, width, layers=2):
        super().__init__()
        self.up = nn.ModuleList(nn.Linear(width, 4 * width) for _ in range(layers))
        self.down = nn.ModuleList(nn.Linear(4 * width, width) for _ in range(layers))

    def forward(self, x):
        for up, down in zip(self.up, self.down):
            x = x + down(F.gelu(up(x)))
        return x


class Rank:
    def __init__(self, options):
        self.options = options
        self.times = {}
        self.device = torch.device(options.device, int(os.environ["LOCAL_RANK"])) if options.device == "cuda" else torch.device("cpu")
        if options.device == "cuda":
            torch.cuda.set_device(self.device)
        dist.init_process_group("nccl" if options.device == "cuda" else "gloo")

    def synchronize(self):
        if self.options.device == "cuda":
            torch.cuda.synchronize()

    def measure(self, name, size, mode, function):
        """The median of runs that begin and end with an idle device."""
        us = []
        for i in range(10 + self.options.runs):
            self.synchronize()
            start = time.perf_counter()
            function()
            self.synchronize()
            us.append((time.perf_counter() - start) * 1e6)
        self.times.setdefault(name, {}).setdefault(size, {})[mode] = statistics.median(us[10:])

    def collectives(self, sizes):
        group, world = dist.group.WORLD, dist.get_world_size()
        functions = {"all_reduce": lambda x: fc.all_reduce(x, "sum", group), "all_gather": lambda x: fc.all_gather_tensor(x, 0, group),
                     "reduce_scatter": lambda x: fc.reduce_scatter_tensor(x, "sum", 0, group)}
        for name, function in functions.items():
            compiled = torch.compile(function, dynamic=True, fullgraph=True)
            for size in sizes:
                x = torch.randn(size // 4, device=self.device)
                made = torch.empty({"all_reduce": 1, "all_gather": world, "reduce_scatter": 1}[name] * x.numel() // (
                    world if name == "reduce_scatter" else 1), device=self.device)
                plain = {"all_reduce": lambda: dist.all_reduce(x), "all_gather": lambda: dist.all_gather_into_tensor(made, x),
                         "reduce_scatter": lambda: dist.reduce_scatter_tensor(made, x)}
                with torch.no_grad():
                    self.measure(name, size, "compiled", lambda: compiled(x))
                    self.measure(name, size, "c10d", plain[name])

    def mlp(self, sizes):
        mesh = init_device_mesh(self.options.device, (dist.get_world_size(),))
        model = parallelize_module(Mlp(self.options.width).to(self.device), mesh, {"up.*": ColwiseParallel(), "down.*": RowwiseParallel()})
        compiled = torch.compile(model, dynamic=True)
        for size in sizes:
            x = torch.randn(size, self.options.width, device=self.device)
            with torch.no_grad():
                self.measure("mlp", size, "eager", lambda: model(x))
                self.measure("mlp", size, "compiled", lambda: compiled(x))

    def ddp(self, sizes):
        model = DistributedDataParallel(Mlp(self.options.width).to(self.device), bucket_cap_mb=self.options.width**2 * 16 >> 20 or 1)
        compiled = torch.compile(model, dynamic=True)
        for size in sizes:
            x = torch.randn(size, self.options.width, device=self.device)
            for mode, step in {"eager": model, "compiled": compiled}.items():
                def run(step=step, context=contextlib.nullcontext):
                    with context():
                        step(x).sum().backward()
                self.measure("ddp", size, mode, run)
                self.measure("ddp", size, f"{mode}, no_sync", lambda run=run: run(context=model.no_sync))


def main():
    options = arguments()
    torch.manual_seed(0)
    rank = Rank(options)
    getattr(rank, options.part)([int(s) for s in options.sizes.split(",")])
    if dist.get_rank() == 0:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(rank.times, file)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
