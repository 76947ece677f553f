"""The program symtape, which does all the work that need not be done in this process."""
import functools
import importlib.metadata
import os
import shutil
import subprocess


class Error(RuntimeError):
    """What the program symtape printed when it failed."""


@functools.cache
def path() -> str:
    """The program that was installed with this module, otherwise the one on PATH."""
    try:
        installed = importlib.metadata.files("symtape") or []
    except importlib.metadata.PackageNotFoundError:
        installed = []
    for file in installed:
        if file.name == "symtape" and file.parent.name == "bin":
            found = os.path.abspath(file.locate())
            if os.access(found, os.X_OK):
                return found
    found = shutil.which("symtape")
    if found is None:
        raise Error("the program symtape is neither beside this module nor on PATH")
    return found


def message(stderr: bytes) -> str:
    """The program's last line on standard error, without its name in front."""
    lines = stderr.decode(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("symtape: ") if lines else "symtape ended without a message"


def run(*args: str) -> str:
    """What the program prints."""
    done = subprocess.run([path(), *args], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise Error(message(done.stderr))
    return done.stdout.decode(errors="replace")
