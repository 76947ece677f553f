"""Compiles samples of PyTorch's own test databases, each operator's in a log of its own.

usage: record_database.py DATABASE FOLDER NAMES SAMPLES

DATABASE is op_db, module_db, hop_db or export_db, NAMES a regular expression that an operator's whole
name matches, SAMPLES how many an operator has at most (0: all). This is the child process of
database_torch.py, with TORCH_TRACE set to FOLDER. Each operator is compiled in a process that was
forked after the imports: it opens its own log, and a crash ends nothing else.
"""
import glob
import itertools
import logging
import os
import re
import signal
import sys
import types
import warnings

import torch
import torch._dynamo.pgo

from database import DATABASES

SECONDS = 300  # an operator's


def compile_sample(function, args, kwargs):
    def run(*args, **kwargs):
        return function(*args, **kwargs)

    # A code object of its own, for Dynamo to give it a frame id of its own.
    run = types.FunctionType(run.__code__.replace(), run.__globals__, run.__name__, None,
                             run.__closure__)
    torch.compile(run, backend="aot_eager", dynamic=True)(*args, **kwargs)


def compile_samples(samples):
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    signal.alarm(SECONDS)
    try:
        for function, args, kwargs in samples:
            try:
                compile_sample(function, args, kwargs)
            except Exception:  # what PyTorch cannot compile is in the log as far as it got
                pass
            torch._dynamo.reset()
            torch._dynamo.pgo.reset_code_state()  # it would know the sizes of the sample before
    except Exception:  # the database's own limits
        pass


def record(folder, name, samples):
    """Leaves FOLDER/NAME.log where PyTorch logged anything."""
    child = os.fork()
    if not child:
        compile_samples(samples)
        sys.stdout.flush()
        logging.shutdown()
        os._exit(0)
    os.waitpid(child, 0)
    for log in glob.glob(os.path.join(folder, "dedicated_log_torch_trace_*.log")):
        os.rename(log, os.path.join(folder, f"{name}.log"))


def main():
    database, folder, names, most = sys.argv[1:]
    for name, samples in DATABASES[database]():
        if re.fullmatch(names, name) and not os.path.exists(os.path.join(folder, f"{name}.log")):
            record(folder, name, itertools.islice(samples, int(most) or None))


if __name__ == "__main__":
    main()
