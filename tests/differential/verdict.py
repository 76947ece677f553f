"""What the differential tests make of a conformance runner's counts.

The engine answers as torch 2.11 does, the version of the recordings, and the installed PyTorch may be
another. What later versions are known to do otherwise the runners skip, and say so; a share is asked
for of the rest, since some rows do not tell all that their answer depends on.
"""
import re
import subprocess
import time

LAST = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)


def verdict(command, expect):
    """Runs it; 0 when at least `expect` per cent of its rows pass."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    lines = done.stdout.splitlines()
    print("\n".join(lines[:40] + lines[-30:] if len(lines) > 70 else lines))
    counts = LAST.search(done.stdout)
    if done.returncode not in (0, 1) or not counts:
        print(f"{command[0]} left with {done.returncode}")
        return 1
    passed, failed, _ = map(int, counts.groups())
    share = 100 * passed / max(1, passed + failed)
    print(f"{share:.2f} % pass, {expect} % are asked for", flush=True)
    return 0 if share >= expect else 1


def month_seed():
    """The same for everybody, another every month."""
    return int(time.strftime("%Y%m"))


__all__ = ["month_seed", "verdict"]
