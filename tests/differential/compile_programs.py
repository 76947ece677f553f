"""Compiles random programs.

usage: compile_programs.py (programs|samples|all) FROM TO

FROM and TO are seeds, the last one excluded. This is the child process of graphs_torch.py, with TORCH_TRACE set. `all` takes the operator database in its
order instead of drawing operators from it.
"""
import logging
import random
import sys
import types
import warnings

import torch

from database import sample_program
from programs import random_program


def make_program(kind, seed, rng):
    if kind == "programs":
        return random_program(rng, refused=False)
    return sample_program(rng, seed if kind == "all" else None)


def compile_program(kind, seed):
    rng = random.Random(seed)
    torch.manual_seed(seed)
    inputs, run = make_program(kind, seed, rng)
    grad = rng.random() < 0.5
    inputs = [x.requires_grad_() if grad and x.is_floating_point() else x for x in inputs]
    # A code object of its own, for Dynamo to give it a frame id of its own.
    run = types.FunctionType(run.__code__.replace(), run.__globals__, run.__name__, None,
                             run.__closure__)
    torch.compile(run, backend="aot_eager", dynamic=True)(inputs)


def main():
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    for seed in range(int(sys.argv[2]), int(sys.argv[3])):
        try:
            compile_program(sys.argv[1], seed)
        except Exception:  # what PyTorch cannot compile is in the log as far as it got
            pass
        torch._dynamo.reset()


if __name__ == "__main__":
    main()
