#!/usr/bin/env python3
"""float64 products of the CPU backend beside torch's, in turn in one run: GFLOP/s, medians of rounds.

usage: product.py BENCH_PRODUCT      (a Python that has torch)"""
import statistics
import subprocess
import sys
import time

import torch

ROUNDS = 3


def of_torch(m, n, inner, threads):
    torch.set_num_threads(threads)
    a, b = torch.rand(m, inner, dtype=torch.float64), torch.rand(inner, n, dtype=torch.float64)
    times = []
    for _ in range(7):
        start = time.perf_counter()
        a @ b
        times.append(time.perf_counter() - start)
    return 2e-9 * m * n * inner / statistics.median(times)


def main():
    processors = torch.get_num_threads()
    found = {}
    for _ in range(ROUNDS):
        text = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
        for line in text.splitlines():
            *sizes, one, several = line.split()
            sizes = tuple(map(int, sizes))
            found.setdefault(sizes, []).append(
                (float(one), float(several), of_torch(*sizes, 1), of_torch(*sizes, processors)))
    print("GFLOP/s, float64          one thread          all threads")
    print("   m    n inner      ours  torch ratio    ours  torch ratio")
    for sizes, rows in found.items():
        ours, all_ours, torchs, all_torchs = (statistics.median(r[i] for r in rows) for i in range(4))
        print("%4d %4d %5d    %6.1f %6.1f %5.2f  %6.1f %6.1f %5.2f" %
              (*sizes, ours, torchs, ours / torchs, all_ours, all_torchs, all_ours / all_torchs))


main()
