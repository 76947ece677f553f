#!/usr/bin/env python3
"""The Python module symtape (trace/record/python) with the real PyTorch: recordings that are switched
on and off, before and after torch is imported, deep ones, forks, a kill, and everything that fails.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3); what
needs torch is skipped when that one has none. tests/install_torch.py has the magic of IPython and the
plugin of pytest.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cases

MODULE = cases.ROOT / "trace" / "record" / "python"
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")

TORCH = """
import json, os, sys, warnings
warnings.simplefilter("error")
import symtape
def compiled(factor, n=2):
    import torch
    torch._dynamo.reset()
    f = torch.compile(lambda x: (x * factor).sum(), backend="aot_eager", dynamic=True)
    for size in range(3, 3 + n):
        f(torch.ones(size))
def fails(what, *words):
    try:
        what()
    except symtape.Error as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError("no error")
"""

# A service: one process, one recording after another.
SERVICE = TORCH + """
import torch
compiled(1)                                     # PyTorch has numbered its files before
service = symtape.record("on1.tape")
assert service.start() is service and service.tape is None
fails(lambda: symtape.record("other.tape").start(), "already", "on1.tape")
fails(lambda: symtape.record("other.tape").__enter__(), "already")
compiled(2)
report = service.stop()
assert service.tape == os.path.abspath("on1.tape") and report["compiles"] == 1, report
assert service.stop() is report                 # nothing more happens
compiled(3)                                     # nobody records
with symtape.record("on2.tape") as second:
    compiled(4)
assert second.report["compiles"] == 1, second.report

fails(lambda: symtape.record("on1.tape").start(), "on1.tape", "exists")
with symtape.record("on1.tape", overwrite=True) as again:
    compiled(5)
assert again.report["compiles"] == 1
fails(lambda: symtape.record("no/such/folder/x.tape").start(), "no/such/folder")
fails(lambda: symtape.record("x.tape", deep="nonsense").start(), "nonsense")

try:                                            # the block's own error is the one that is seen
    with symtape.record("error.tape"):
        compiled(6)
        raise KeyError("mine")
except KeyError:
    pass
else:
    raise AssertionError("the error is lost")

with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    with symtape.record("nothing.tape") as nothing:
        torch.ones(2)
assert nothing.tape is None and "logged nothing" in str(seen[0].message), seen
assert not os.path.exists("nothing.tape")

with symtape.record("fork.tape") as forked:     # the child logs to the same tape
    compiled(7)
    child = os.fork()
    if child == 0:
        compiled(8)
        assert forked.stop() == {}
        compiled(9)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
assert forked.report["logs"] == 2 and forked.report["compiles"] == 2, forked.report

os.environ["A_SECRET_TOKEN"] = "correct-horse-battery"
with symtape.record("redacted.tape", redact=True):
    torch.compile(lambda x: x + len("correct-horse-battery"), backend="eager")(torch.ones(3))
symtape.record("exit.tape").start()             # ends with the process
compiled(10)
"""

DEEP = TORCH + """
if sys.argv[1] == "after":
    import torch
    compiled(1)
reports = []
for i in range(2):
    with symtape.record(f"deep-{sys.argv[1]}-{i}.tape", deep=True) as recording:
        compiled(2 + i)
    compiled(20 + i)
    reports.append(recording.report)
fails(lambda: symtape.record("x.tape", deep="counts").start(), "level")
print(json.dumps(reports))
"""

# A child that sleeps holds the pipes of its parent, which is killed: the tape is written nevertheless.
KILLED = TORCH + """
import signal, time
with symtape.record("killed.tape"):
    compiled(1)
    if os.fork() == 0:
        time.sleep(20)
        os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)
"""

NO_TORCH = """
import sys, warnings
import symtape
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    with symtape.record("none.tape") as recording:
        pass
assert recording.tape is None and recording.report["logs"] == 0 and len(seen) == 1
assert "torch" not in sys.modules
bad = "<img src=x onerror=alert(1)>&\\"'"
data = {"findings": [{"kind": bad, "cause": bad, "seconds": 2.5, "share": 0.5, "basis": "estimated",
        "line": {"file": bad, "line": bad, "code": bad}, "evidence": [bad],
        "remedies": [{"kind": bad, "text": bad, "proved": True}]}]}
shown = symtape.Diagnosis(bad, data)
for html in (shown._repr_html_(), symtape.Diagnosis(bad, {})._repr_html_()):
    assert "<img" not in html and "&lt;img" in html, html
assert str(shown) == bad and shown.findings is data["findings"]
"""


class Folder:
    """A working folder, with a TMPDIR in it that has to be empty in the end."""

    def __init__(self, path):
        self.path, self.tmp = Path(path), Path(path, "tmp")
        self.tmp.mkdir()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("TORCH")} | {
            "TMPDIR": str(self.tmp), "PYTHONPATH": str(MODULE), "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": f"{cases.SYMTAPE.parent}:{os.environ['PATH']}",
            "TORCHINDUCTOR_CACHE_DIR": str(self.path / "inductor")}

    def python(self, script, *args, python=PYTHON, status=0):
        done = subprocess.run([python, "-c", script, *args], cwd=self.path, env=self.env,
                              capture_output=True, text=True)
        assert done.returncode == status, (done.returncode, done.stderr[-2000:])
        return done.stdout

    def info(self, tape):
        done = cases.run(["info", "--json", self.path / tape])
        assert done.code == 0, done.told()
        info = json.loads(done.out)
        assert info["damaged"] == 0, info
        return info

    def left(self):
        return [p.name for p in self.tmp.glob("symtape-*")]


def test_service(folder):
    folder.python(SERVICE)
    names = {p.name for p in folder.path.glob("*.tape")}
    assert names == {"on1.tape", "on2.tape", "error.tape", "fork.tape", "redacted.tape",
                     "exit.tape"}, names
    for name in ("on1.tape", "on2.tape", "error.tape", "exit.tape"):
        assert len(folder.info(name)["compiles"]) == 1, name
    symbols = cases.run(["show", "--symbols", "--json", folder.path / "on2.tape"])
    assert b"<string>" in symbols.out, symbols.out  # files have names although they had numbers
    log = cases.run(["export", folder.path / "redacted.tape"])
    assert log.code == 0 and b"dynamo_start" in log.out
    assert b"correct-horse" not in log.out and b"correct-horse" not in cases.run(
        ["show", "--events", folder.path / "redacted.tape"]).out


def test_deep_before_torch(folder, when="before"):
    reports = json.loads(folder.python(DEEP, when))
    for i, report in enumerate(reports):
        deep = report["deep"]
        assert report["compiles"] == 1 and deep["processes"] == 1, report
        assert deep["dispatches"] > 10 and deep["env_calls"] > 10 and deep["lost"] == 0, deep
        assert not deep["disagreements"] and not deep["not_wrapped"] and not deep["not_recorded"], deep
        events = folder.info(f"deep-{when}-{i}.tape")["events"]
        assert "symtape_dispatches" in events and "symtape_size_uses" in events, events
    first, second = (report["deep"] for report in reports)
    assert first["dispatches"] == second["dispatches"], (first, second)


def test_deep_after_torch(folder):
    test_deep_before_torch(folder, "after")


def test_killed(folder):
    folder.python(KILLED, status=-9)
    tape, until = folder.path / "killed.tape", time.monotonic() + 60
    while folder.left() and time.monotonic() < until:
        time.sleep(0.1)
    assert tape.exists() and len(folder.info(tape)["compiles"]) == 1


def test_no_torch(folder):
    folder.python(NO_TORCH, python=sys.executable)


def test_diagnose(folder):
    recording = str(cases.RECORDINGS / "encoder.log.zst")
    text = folder.python("import sys, symtape\nd = symtape.diagnose(sys.argv[1])\n"
                         "assert d.data['schema'] == 'symtape.diagnosis/1' and d.findings\n"
                         "assert d.findings[0]['cause'] and '<table' in d._repr_html_()\n"
                         "try: symtape.diagnose('-no-tape')\n"
                         "except symtape.Error as error: assert '-no-tape' in str(error)\n"
                         "else: raise AssertionError\n"
                         "print(d)", recording, python=sys.executable)
    assert text == cases.run([recording]).out.decode() + "\n", text


def main():
    tell = cases.Cases()
    have = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0
    for test in (test_no_torch, test_diagnose, test_service, test_deep_before_torch,
                 test_deep_after_torch, test_killed):
        name = test.__name__[5:].replace("_", " ")
        if not have and test not in (test_no_torch, test_diagnose):
            tell.skip(name, f"{PYTHON} has no PyTorch")
            continue
        with tempfile.TemporaryDirectory(prefix="symtape-python-") as path:
            folder = Folder(path)
            try:
                test(folder)
                assert not folder.left(), f"left behind: {folder.left()}"
            except AssertionError as error:
                tell.fail(name, str(error))
            else:
                tell.ok(name)
    tell.finish()


if __name__ == "__main__":
    main()
