"""A small compile through Inductor: pre-grad and post-grad graphs, caches, output code.

Needs a C++ compiler; without one it says so and exits with 77, as a skipped test does.
"""
import os
import shutil
import sys

import torch

if not shutil.which(os.environ.get("CXX", "g++")):
    print("no C++ compiler", file=sys.stderr)
    sys.exit(77)
torch.manual_seed(0)


def score(x, y):
    return torch.nn.functional.gelu(x @ y.t()).sum(-1).softmax(0)


compiled = torch.compile(score, dynamic=True)
with torch.no_grad():
    for rows in (6, 9):
        print(rows, tuple(compiled(torch.randn(rows, 8), torch.randn(rows + 1, 8)).shape))
