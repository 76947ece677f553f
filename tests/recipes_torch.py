#!/usr/bin/env python3
"""The recipes of symtape-check(1) and symtape-bisect(1), run as they are printed: git bisect over the repository of a toy
model with the real PyTorch, and the CI job of man/examples/ci.yaml.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3).
Exits with 77, "skipped" to meson, when that one has no torch or there is no git.

    recipes_torch.py [--all] [TEST...]

Of the recipes that bisect a history, which take minutes, one is run, another one every month; --all runs each.
"""
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import traceback

ROOT = pathlib.Path(os.environ.get("SYMTAPE_ROOT", pathlib.Path(__file__).parent.parent)).resolve()
SYMTAPE = shutil.which(os.environ.get("SYMTAPE", ROOT / "build" / "cmd" / "symtape"))
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")

MODEL = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = torch.nn.Linear(8, 8)

    def forward(self, x):
        y = self.lift(x).relu()
        return y.sum(0)

compiled = torch.compile(Model(), backend="aot_eager", dynamic=True)
for rows in (4, 6):
    compiled(torch.ones(rows, 8))
"""
GUARD = ("        return y.sum(0)", "        if x.shape[0] > 3:\n            y = y + 1\n        return y.sum(0)")
RECOMPILE = ("dynamic=True", "dynamic=False")

# What each commit does to the file; None breaks it for good until the next one.
COMMITS = [
    ("the model", ("", "")),
    ("a name", ("y = self.lift(x).relu()\n", "lifted = self.lift(x)\n        y = lifted.relu()\n")),
    ("a comment", ("compiled = ", "# compiled for every length\ncompiled = ")),
    ("unfinished", None),
    ("finished", ("8, 8", "8, 16")),
    ("CULPRIT", GUARD),
    ("another activation", (".relu()", ".tanh()")),
    ("longer", ("(4, 6)", "(4, 6, 7)")),
]


class Sandbox:
    """A folder with a repository, and a PATH on which `python` has torch and `symtape` is ours."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.repository = self.folder / "repository"
        shims, self.temporary = self.folder / "bin", self.folder / "tmp"
        for path in (self.repository, shims, self.temporary):
            path.mkdir()
        for name, target in (("symtape", SYMTAPE), ("python", shutil.which(PYTHON))):
            target = os.path.abspath(target)  # not resolved: a virtual environment is told by it
            (shims / name).write_text(f'#!/bin/sh\nexec "{target}" "$@"\n')
            (shims / name).chmod(0o755)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "GIT_"))}
        self.env = env | {
            "PATH": f"{shims}:{env['PATH']}", "HOME": str(self.folder), "TMPDIR": str(self.temporary),
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary")}
        self.run("git init -q -b main")

    def run(self, script, expect=0):
        done = subprocess.run(["sh", "-e", "-c", script], cwd=self.repository, env=self.env,
                              capture_output=True, text=True)
        assert done.returncode == expect, (script, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def write(self, text):
        (self.repository / "train.py").write_text(text)

    def commit(self, title):
        self.run(f"git add -A; git commit -q --allow-empty -m '{title}'")


def edited(text, edit):
    assert edit[0] in text, edit
    return text.replace(*edit, 1) if edit[0] else text


def make_history(sandbox):
    text = MODEL
    for title, edit in COMMITS:
        text = edited(text, edit) if edit else text
        sandbox.write(text if edit else text + "\nraise SystemExit(3)\n")
        sandbox.commit(title)


def recipe(command="check", number=1):
    """The commands of an example of a manual page, the first by default."""
    page = (ROOT / "man" / f"symtape-{command}.1.scd").read_text()
    return page.partition("\n# RECIPES\n")[2].split("```")[2 * number - 1].strip()


def test_bisect(sandbox):
    make_history(sandbox)
    script = recipe().replace("BAD", "main").replace("GOOD", "main~7")
    out = sandbox.run(script)
    culprit = sandbox.run("git log -1 --format=%s refs/bisect/bad").strip()
    assert culprit == "CULPRIT", out
    assert "is the first bad commit" in out or "first bad commit could be" in out, out
    verdicts = [line for line in out.splitlines() if "guards:+0" in line]
    assert any(line.split()[0] == "regressed" for line in verdicts), out
    assert any(line.split()[0] == "holds" for line in verdicts), out


def test_bisect_by_guard(sandbox):
    make_history(sandbox)
    script = recipe("bisect").replace("BAD", "main").replace("GOOD", "main~7")
    assert "'Eq(s77, 4)'" in script, script
    out = sandbox.run(script.replace("Eq(s77, 4)", "s77 > 3"))
    assert sandbox.run("git log -1 --format=%s refs/bisect/bad").strip() == "CULPRIT", out
    found = [line for line in out.splitlines() if line.startswith("first-bad=")]
    assert any("kind=guard" in line and 'expr="s77 > 3"' in line for line in found), out
    assert any(line.startswith("first-bad=none") for line in found), out
    assert "recorded as made by dynamo" in out and "if x.shape[0] > 3:" in out, out


def test_bisect_by_replay(sandbox):
    """A history without a bad commit: git bisect is led to the end of it, and skips what is broken."""
    make_history(sandbox)
    script = recipe("bisect", 2)
    assert script.startswith("git bisect run sh -c"), script
    out = sandbox.run("git bisect start main main~7; " + script.replace("/tmp/", "$TMPDIR/"))
    assert sandbox.run("git log -1 --format=%s refs/bisect/bad").strip() == "longer", out


def steps():
    """The shell scripts of the job, by name; a reader of the little YAML that the example uses."""
    found, name, lines = {}, None, (ROOT / "man" / "examples" / "ci.yaml").read_text().splitlines()
    for i, line in enumerate(lines):
        if line.strip().startswith("- name:"):
            name = line.partition("name:")[2].strip()
        if line.strip() == "run: |":
            depth = len(line) - len(line.lstrip())
            body = []
            for inner in lines[i + 1:]:
                if inner.strip() and len(inner) - len(inner.lstrip()) <= depth:
                    break
                body.append(inner)
            found[name] = textwrap.dedent("\n".join(body))
    return found


def test_ci(sandbox):
    job = steps()
    assert list(job) == ["Record", "Check", "Report"], job
    sandbox.write(MODEL)
    sandbox.run("symtape record -o base.tape -- python train.py; "
                "symtape check --save baseline.json base.tape")
    sandbox.run(job["Record"])
    sandbox.run(job["Check"])
    sandbox.run(job["Report"])
    summary = pathlib.Path(sandbox.env["GITHUB_STEP_SUMMARY"])
    assert summary.read_text().startswith("### symtape check: holds"), summary.read_text()
    sandbox.write(edited(MODEL, RECOMPILE))
    sandbox.run(job["Record"])
    sandbox.run(job["Check"], expect=1)
    summary.unlink()
    sandbox.run(job["Report"])
    text = summary.read_text()
    assert text.startswith("### symtape check: **regressed**"), text
    assert "| **regressed** | recompiles:+0 | 0 | 1 | +1 |" in text, text


def test_same_twice(sandbox):
    """Two runs of one program measure the same, whatever the machine does besides."""
    sandbox.write(MODEL)
    sandbox.run("for i in 1 2; do symtape record -o $i.tape -- python train.py; done; "
                "symtape check --save 1.json 1.tape")
    out = json.loads(sandbox.run("symtape check --json -b 1.json 2.tape"))
    assert out["verdict"] == "holds" and out["changed"] == [] and out["notes"] == [], out


def test_deep(sandbox):
    """What is profiled and checked of a deep recording is what PyTorch counted itself."""
    sandbox.write(MODEL)
    sandbox.run("symtape record --deep -o deep.tape -- python train.py")
    profile = json.loads(sandbox.run("symtape profile --json --by stack deep.tape"))
    counters = {c["label"]: c for c in profile["counters"]}
    mode = counters["FakeTensorMode.__torch_dispatch__"]
    assert profile["deep"] and mode["pytorch"] == mode["recorded"] > 0, mode
    real = [o["real"] for o in profile["operator_costs"]]
    assert sum(o["fake_mode"] for o in real) == sum(sum(o["by_depth"]) for o in real) == mode["pytorch"]
    assert any(r["self_ns"] and r["frames"][-1]["file"].endswith("train.py") for r in profile["by"]["stack"])
    assert profile["memory"] and profile["costs"]
    limit = f"real_dispatches:{mode['pytorch']}"
    assert "holds" in sandbox.run(f"symtape check --max {limit} deep.tape")
    sandbox.run("symtape check --max real_dispatches:1 deep.tape", expect=1)


def has_torch():
    probe = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True)
    return probe.returncode == 0 and shutil.which("git")


def chosen(args):
    tests = {n: t for n, t in sorted(globals().items()) if n.startswith("test_")}
    if args and args != ["--all"]:
        return {n: tests[n] for n in args}
    bisecting = [n for n in tests if n.startswith("test_bisect")]
    today = datetime.date.today()
    if not args:
        print(f"{len(bisecting) - 1} of {len(bisecting)} that bisect are left to other months (--all)")
        bisecting.pop((today.year * 12 + today.month) % len(bisecting))
        tests = {n: t for n, t in tests.items() if n not in bisecting}
    return tests


def main():
    if not has_torch():
        print("skip - recipes: no torch, or no git")
        sys.exit(77)
    failed = 0
    for name, test in chosen(sys.argv[1:]).items():
        with tempfile.TemporaryDirectory(prefix="symtape-recipes-") as folder:
            try:
                test(Sandbox(folder))
                print(f"ok - {name}")
            except Exception:
                failed += 1
                print(f"not ok - {name}: {traceback.format_exc()}")
    sys.exit(failed > 0)


main()
