"""pytest --symtape DIR: a tape for each test that compiles, and limits on what it may compile."""
import hashlib
import os
import re
import subprocess
from collections.abc import Generator
from typing import Any

import pytest

from symtape import _program
from symtape._recording import Recording

_PROPERTY = "symtape"  # of a test's report, which also reaches JUnit's XML


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("symtape", "what PyTorch compiles")
    group.addoption("--symtape", metavar="DIR",
                    help="write a tape to DIR for each test that compiles")
    group.addoption("--symtape-max", metavar="MEASURE:N,...", action="append", default=[],
                    help="fail each test whose compiles exceed a limit, see symtape check --list")
    group.addoption("--symtape-deep", metavar="LEVEL", nargs="?", const="all",
                    help="record deeply: counts, graphs or all (default)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "symtape(max): with --symtape, limits on what the test "
                                       "compiles, as in symtape check --max: \"recompiles:0\"")
    if config.option.symtape is None and (config.option.symtape_max or config.option.symtape_deep):
        raise pytest.UsageError("--symtape-max and --symtape-deep need --symtape DIR")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    folder = item.config.option.symtape
    if folder is None:
        return (yield)
    os.makedirs(folder, exist_ok=True)
    recording = Recording(os.path.join(folder, tape_name(item.nodeid)), overwrite=True,
                          deep=item.config.option.symtape_deep or False)
    recording.start()
    try:
        ret = yield
    finally:
        report = recording.finish()
        compiled = _keep(recording, item, report)
    if compiled:
        _check(recording.path, item)
    return ret


def _keep(recording: Recording, item: pytest.Item, report: dict[str, Any]) -> bool:
    """Removes the tape if nothing was compiled, and that of an earlier run."""
    if report.get("compiles"):
        item.user_properties.append((_PROPERTY, recording.path))
        return True
    if report and os.path.exists(recording.path):
        os.unlink(recording.path)
    return False


def _check(tape: str, item: pytest.Item) -> None:
    limits = [*item.config.option.symtape_max]
    for mark in item.iter_markers("symtape"):
        limits.append(mark.kwargs["max"] if "max" in mark.kwargs else ",".join(mark.args))
    if not limits:
        return
    done = subprocess.run([_program.path(), "check", "--max", ",".join(limits), tape],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode == 1:
        pytest.fail(f"{tape}: {done.stdout}", pytrace=False)
    elif done.returncode != 0:
        raise _program.Error(_program.message(done.stderr.encode()))


def tape_name(nodeid: str) -> str:
    """A file name for a test, and for no other one."""
    name = re.sub(r"::|/", ".", nodeid)
    plain = re.sub(r"[^\w.-]+", "_", name)[:150]
    if plain != name:
        plain += "-" + hashlib.sha256(nodeid.encode()).hexdigest()[:8]
    return plain + ".tape"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    folder = terminalreporter.config.option.symtape
    if folder is None:
        return
    tapes = {value for reports in terminalreporter.stats.values() for report in reports
             for name, value in getattr(report, "user_properties", ()) if name == _PROPERTY}
    terminalreporter.write_line(f"symtape: {len(tapes)} test{'s' * (len(tapes) != 1)} compiled; "
                                f"tapes in {folder}")
