#!/usr/bin/env python3
"""symtape record, end to end, with the real PyTorch: every program of tests/models, and programs
that crash, are killed, are interrupted, or compile nothing.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3).
Exits with 77, "skipped" to meson, when that one has no torch.

    record_torch.py [--all] [TEST...]

Without --all, half of the programs that MODELS lists are left to the next month.
"""
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(os.environ.get("SYMTAPE_ROOT", pathlib.Path(__file__).parent.parent)).resolve()
SYMTAPE = os.environ.get("SYMTAPE", "symtape")
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")
FOLDER = tempfile.TemporaryDirectory(prefix="symtape-torch-")
TAPE = os.path.join(FOLDER.name, "test.tape")

COMPILE = """
import os, signal, sys, time, torch
f = torch.compile(lambda x: (x * 2).sum(), backend="aot_eager", dynamic=True)
f(torch.ones(3))
"""

MODELS = ["mlp", "encoder", "graph_break", "cond", "data_dependent", "train"]


def environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH_", "TORCHINDUCTOR_"))}
    os.makedirs(os.path.join(FOLDER.name, "tmp"), exist_ok=True)
    return env | {"TMPDIR": os.path.join(FOLDER.name, "tmp"),
                  "TORCHINDUCTOR_CACHE_DIR": os.path.join(FOLDER.name, "inductor")}


def symtape(*args):
    done = subprocess.run([SYMTAPE, *args], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, (args, done.returncode, done.stderr)
    return json.loads(done.stdout)


def command(*argv, options=()):
    return [SYMTAPE, "record", "--json", "--overwrite", "-o", TAPE, *options, "--", *argv]


def finish(process, out, notes):
    """What record says of a finished run, with the output and the notes; nothing is left over."""
    lines = out.splitlines()
    report = json.loads(lines[-1])
    report["exit"], report["out"], report["notes"] = process.returncode, lines[:-1], notes
    assert report["exit"] == report["status"], report
    left = [n for n in os.listdir(environment()["TMPDIR"]) if n.startswith("symtape-")]
    assert not left, f"left behind: {left}"
    return report


def record(*argv, options=()):
    if os.path.exists(TAPE):
        os.unlink(TAPE)
    done = subprocess.run(command(*argv, options=options), env=environment(), capture_output=True,
                          text=True)
    return finish(done, done.stdout, done.stderr)


def record_model(name):
    return record(PYTHON, str(ROOT / "tests" / "models" / f"{name}.py"))


def compiles_of(info):
    return {(c["recording"], c["id"]) for c in info["compiles"]}


def kinds_of(info):
    return {g["kind"] for c in info["compiles"] for g in c["graphs"]}


def check_tape(report):
    """The tape holds what record counted, and nothing that it could not read."""
    info = symtape("info", "--json", TAPE)
    assert info["schema"] == "symtape.info/1"
    assert info["damaged"] == 0 and report["damaged"] == 0, info
    assert info["records"] == report["records"] > 0
    assert info["bytes"] == report["log_bytes"] > 0
    assert len(info["recordings"]) == report["logs"]
    assert len(compiles_of(info)) == report["compiles"]
    profile = symtape("profile", "--json", TAPE)
    assert profile["schema"] == "symtape.profile/1"
    assert profile["phases"], "no phases"
    return info, profile


def test_mlp():
    report = record_model("mlp")
    assert report["exit"] == 0 and report["out"] == ["4 (4, 16)", "6 (6, 16)", "9 (9, 16)"]
    info, profile = check_tape(report)
    assert report["compiles"] == 2 and report["failed"] == 0
    assert report["logging_ns"] > 0 and report["wall_ns"] > report["logging_ns"]
    assert info["events"]["create_symbol"] == 1, "the second compile has one symbol"
    assert len(profile["recompiles"]) == 1


def test_encoder():
    report = record_model("encoder")
    assert report["exit"] == 0
    info, profile = check_tape(report)
    assert report["compiles"] == 2
    assert {c["status"] for c in info["compiles"]} == {"ok", "restarted"}
    assert len(profile["restarts"]) == 1 and len(profile["recompiles"]) == 1
    assert any("encoder.py" in line["file"] and line["guards"] for line in profile["lines"])


def test_graph_break():
    report = record_model("graph_break")
    assert report["exit"] == 0
    _, profile = check_tape(report)
    assert profile["breaks"] and profile["recompiles"]


def test_cond():
    report = record_model("cond")
    assert report["exit"] == 0
    info, _ = check_tape(report)
    assert kinds_of(info) >= {"dynamo_output_graph", "aot_inference_graph"}


def test_data_dependent():
    report = record_model("data_dependent")
    assert report["exit"] == 1 and "killed" not in report["notes"]
    info, profile = check_tape(report)
    assert report["failed"] == 1 and profile["failures"]
    assert [c["status"] for c in info["compiles"]] == ["failed"]


def test_train():
    report = record_model("train")
    assert report["exit"] == 0
    info, _ = check_tape(report)
    assert kinds_of(info) >= {"aot_joint_graph", "aot_forward_graph", "aot_backward_graph"}


def test_inductor():
    report = record_model("inductor")
    if report["exit"] == 77:
        return "skipped: no C++ compiler"
    assert report["exit"] == 0, report
    info, _ = check_tape(report)
    assert "inductor_output_code" in info["events"]


def test_two_ranks():
    report = record_model("two_ranks")
    assert report["exit"] == 0, report
    info, _ = check_tape(report)
    assert sorted(r["rank"] for r in info["recordings"]) == [0, 1]
    assert report["compiles"] == 2 and len({r["pid"] for r in info["recordings"]}) == 2


def test_crash():
    report = record(PYTHON, "-c", COMPILE + "os.abort()")
    assert report["exit"] == 128 + signal.SIGABRT and report["signal"] == signal.SIGABRT
    check_tape(report)
    assert report["compiles"] == 1


def test_killed_while_compiling():
    """The backend never returns: what was logged until then is on the tape."""
    report = record(PYTHON, "-c", COMPILE + """
def die(graph, inputs): os.kill(os.getpid(), signal.SIGKILL)
torch.compile(lambda x: x + 1, backend=die)(torch.ones(3))
""")
    assert report["exit"] == 137 and "killed by signal 9" in report["notes"], report
    info, _ = check_tape(report)
    assert report["compiles"] == 2 and report["unfinished"] == 1
    assert sorted(c["status"] for c in info["compiles"]) == ["ok", "unfinished"]


def test_interrupted():
    """Ctrl-C as the terminal sends it: to the whole group."""
    def own_group():
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    script = COMPILE + "print('ready', flush=True); time.sleep(60)"
    process = subprocess.Popen(command(PYTHON, "-c", script), env=environment(), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=own_group)
    first = process.stdout.readline()
    assert first == "ready\n", process.communicate()
    os.kill(process.pid, signal.SIGINT)
    out, notes = process.communicate()
    report = finish(process, out, notes)
    assert report["exit"] == 128 + signal.SIGINT and "KeyboardInterrupt" in notes, report
    check_tape(report)
    assert report["compiles"] == 1


def test_many_processes():
    """Processes that nobody told of each other, one of them without a compile."""
    script = COMPILE + "if len(sys.argv) > 1: os._exit(0)\n" + """
import subprocess
for n in range(2): subprocess.run([sys.executable, "-c", %r, "again"], check=True)
subprocess.run([sys.executable, "-c", "import torch"], check=True)
""" % (COMPILE,)
    report = record(PYTHON, "-c", script)
    assert report["exit"] == 0 and report["logs"] == 3 and report["compiles"] == 3, report
    check_tape(report)


def test_expensive():
    report = record(PYTHON, "-c", COMPILE, options=["--expensive"])
    assert report["exit"] == 0
    info, _ = check_tape(report)
    assert "expression_created" in info["events"], info["events"]


def test_torch_without_a_compile():
    report = record(PYTHON, "-c", "import torch; print(torch.ones(2).sum().item())")
    assert report["exit"] == 0 and report["out"] == ["2.0"]
    assert report["compiles"] == 0 and "compile" in report["notes"], report


def test_log_without_a_compile():
    """torch.compile that falls back before anything compiles still logs."""
    report = record(PYTHON, "-c", "import torch\nfrom torch._logging import trace_structured\n"
                    "trace_structured('artifact', lambda: {'name': 'mine', 'encoding': 'string'}, "
                    "payload_fn=lambda: 'text', expect_trace_id=False)")
    assert report["exit"] == 0 and report["logs"] == 1 and report["compiles"] == 0, report
    assert "compiled nothing" in report["notes"], report["notes"]
    assert symtape("info", "--json", TAPE)["events"]["artifact"] >= 1


def test_no_torch():
    report = record("sh", "-c", "echo hello; exit 5")
    assert report["exit"] == 5 and report["out"] == ["hello"] and report["tape"] is None
    assert "logged nothing" in report["notes"] and not os.path.exists(TAPE)


def main():
    try:
        have = subprocess.run([PYTHON, "-c", "import torch; print(torch.__version__)"],
                              capture_output=True, text=True)
    except OSError as error:
        sys.exit(print(f"skipped: {error}") or 77)
    if have.returncode != 0:
        sys.exit(print(f"skipped: {PYTHON} has no torch (SYMTAPE_PYTHON names another)") or 77)
    print("torch", have.stdout.strip(), flush=True)
    today = datetime.date.today()
    wanted, failed = [a for a in sys.argv[1:] if a != "--all"], 0
    left = [] if sys.argv[1:] else MODELS[(today.year * 12 + today.month) % 2::2]
    print("left to other months:", *left or ["none"], flush=True)
    for name, test in list(globals().items()):
        if not name.startswith("test_") or wanted and name[5:] not in wanted or name[5:] in left:
            continue
        try:
            print("ok  ", name[5:], test() or "", flush=True)
        except Exception:
            failed += 1
            print("FAIL", name[5:], traceback.format_exc(), sep="\n", flush=True)
    FOLDER.cleanup()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
