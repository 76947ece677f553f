#!/usr/bin/env python3
"""Workers that a launcher starts: the same bytes as one job here, whatever happens to workers; the
worker's own answers to messages; bisect --commits and --python by workers.

usage: launcher.py [SYMTAPE]"""
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
import cases  # noqa: E402
import runs  # noqa: E402

SYMTAPE = str(Path(sys.argv[1] if len(sys.argv) > 1 else cases.SYMTAPE).resolve())
CHECK = """#!/bin/sh
[ -f "$SYMTAPE_TAPE" ] && [ -f "$SYMTAPE_PY" ] && [ -d "$TMPDIR" ] || exit 126
[ "$0" != {folder}/fails.sh ] || exit 126
sleep 0.02
for op in sin cos; do grep -q "aten[.]$op[.]" "$1" || exit 1; done
"""
# Each takes its turn by the number of starts so far.
LAUNCHERS = {
    "plain": 'exec "$@"',
    "greets late, with a login's noise": 'echo "welcome to this machine"; sleep 0.1; exec "$@"',
    "dies at once": '[ $n -le 2 ] && exit 3; exec "$@"',
    "is killed": 'if [ $((n % 3)) = 0 ]; then "$@" & sleep 0.15; kill -9 $!; else exec "$@"; fi',
    "writes nonsense": """if [ $((n % 3)) = 0 ]; then
        echo '{"symtape-worker": 2}'; read line; echo banana; sleep 9; else exec "$@"; fi""",
    "answers another question": """if [ $((n % 3)) = 0 ]; then echo '{"symtape-worker": 2}'; read line
        echo '{"end": 999999, "status": 0, "signal": 0, "seconds": 1, "bytes": 0}'; sleep 9
        else exec "$@"; fi""",
}
LOSES = {"plain": False, "greets late, with a login's noise": False, "dies at once": True}
HANGS = """if [ $n = 2 ]; then echo '{"symtape-worker": 2}'; exec sleep 100; else exec "$@"; fi"""
failed = []


def report(name, good, what=""):
    if not good:
        failed.append(name)
        print(f"{name}: {what}")


def launcher(folder, name, body):
    file = folder / f"{name}.sh"
    count = folder / f"{name}.count"
    file.write_text(f"""#!/bin/sh
exec 9>>{count}; flock 9; echo x >&9; n=$(wc -l < {count}); exec 9>&-
{body}
""")
    file.chmod(0o700)
    count.write_text("")
    return str(file)


def minify(folder, graph, check, *more):
    out = folder / "out.tape"
    for old in folder.glob("out.tape*"):
        old.unlink()
    done = subprocess.run([SYMTAPE, "minify", graph, "--check", str(check), "-o", out, "--json", *more],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done, out.read_bytes() if out.exists() else None


def reductions(folder):
    graph, check = folder / "graph.fx", folder / "fails.sh"
    rng = random.Random(1)
    while True:
        text, culprits = runs.random_graph(rng, 60)
        if "sin" in culprits and "cos" in culprits:
            break
    graph.write_text(text)
    check.write_text(CHECK.format(folder="/nowhere"))
    check.chmod(0o700)
    one, expected = minify(folder, graph, check, "-j", "1")
    report("one job", one.returncode == 0, one.stderr)
    # With workers the script is a copy: it was sent along.
    check.write_text(CHECK.format(folder=folder))
    for name, body in LAUNCHERS.items():
        start = launcher(folder, "launch", body)
        done, got = minify(folder, graph, check, "-j", "4", "--launcher", start)
        report(name, done.returncode == 0 and got == expected, done.stderr or "other bytes")
        if name in LOSES:
            report(f"lost workers of: {name}", ("a worker was lost or did not start" in done.stderr) == LOSES[name], done.stderr)
    start = launcher(folder, "launch", HANGS)
    began = time.monotonic()
    done, got = minify(folder, graph, check, "-j", "2", "--timeout", "1", "--launcher", start)
    report("hangs", done.returncode == 0 and got == expected and time.monotonic() - began < 60,
           done.stderr or "other bytes")
    for body, message in (("exit 3", "ended before its greeting"),
                          ("echo no such node >&2; exit 1", "no such node"),
                          ("""echo '{"symtape-worker": 3}'; sleep 9""", "protocol 3")):
        done, _ = minify(folder, graph, check, "--launcher", launcher(folder, "launch", body))
        report(message, done.returncode == 4 and message in done.stderr, done.stderr)
    done, _ = minify(folder, graph, check, "--launcher", "/nowhere/launch")
    report("no launcher", done.returncode == 4 and "/nowhere/launch" in done.stderr, done.stderr)
    return graph


# A warm process (minify/process/torch_worker.py) that answers by the operators of a program, and counts its starts.
PYTHON = """#!{python}
import json, os, signal, socket, sys
folder, old, control, imports = {folder!r}, {old}, socket.socket(fileno=int(sys.argv[-2])), sys.argv[-1]
def count(name):
    with open(folder + "/" + name, "a") as file:
        file.write("x\\n")
    return os.path.getsize(folder + "/" + name) // 2
def answer(question, source):
    missing = [op for op in ("sin", "cos") if not any("." + op + end in source for end in ".(")]
    if missing:
        return {{"outcome": "ok"}}
    return {{"outcome": "raised", "type": "E", "message": "no", "node": ""}}
count("started")
ready = "ready 1.0"
{body}
control.send((ready + "\\n").encode())
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    if not data:
        break
    asked = count("asked")
    if os.fork() == 0:
        os.setpgid(0, 0)
        stream = socket.socket(fileno=descriptors[0]).makefile("rwb")
        stream.write(b"%d\\n" % os.getpid())
        stream.flush()
        question = json.loads(stream.readline())
        source = stream.read(question["bytes"]).decode()
        version = "1.0" if asked <= old else "2.0"
        {question}
        stream.write((json.dumps({{"eager": "", "torch": version, **answer(question, source)}}) + "\\n").encode())
        stream.flush()
        os._exit(0)
    os.close(descriptors[0])
"""


def torch_questions(folder, graph):
    """Questions to PyTorch by workers, with a Python that answers at once."""
    python = folder / "python.py"
    start = launcher(folder, "launch", f'SYMTAPE_PYTHON={python} exec "$@"')

    def ask(body="pass", question="pass", old=10**6, *more):
        python.write_text(PYTHON.format(python=sys.executable, folder=str(folder), body=body, question=question, old=old))
        python.chmod(0o700)
        for name in "asked", "started":
            (folder / name).write_text("")
        for file in folder.glob("torch.tape*"):
            file.unlink()
        done = subprocess.run([SYMTAPE, "minify", graph, "--torch-oracle", "compile", "--launcher", start, "-o",
                               folder / "torch.tape", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return done, (folder / "torch.tape").read_bytes() if (folder / "torch.tape").exists() else None

    one, expected = ask()
    report("PyTorch", one.returncode == 0 and "-> 2, " in one.stdout and "failure: no" in one.stdout,
           (one.stdout, one.stderr))
    starts, asked = ((folder / name).read_text().count("x") for name in ("started", "asked"))
    report("PyTorch is warm", starts == 1 and asked > 5, (starts, asked))
    # A worker that is killed loses its question once: a question that loses three workers has no answer.
    kill = (f"import zlib; h = zlib.crc32(source.encode()); "
            "name = folder + '/killed.%d' % h; "
            "h % 4 == 0 and not os.path.exists(name) and "
            "(os.mkdir(name), os.kill(int(open('/proc/%d/stat' % os.getppid()).read().split()[3]), 9))")
    for question in ("pass", kill):
        done, got = ask("pass", question, 10**6, "-j", "4")
        report("PyTorch, 4 jobs", done.returncode == 0 and got == expected, done.stderr or "other bytes")
    report("PyTorch, killed workers", any(folder.glob("killed.*")), "none was killed")
    for body, old, code, message in (
            ("sys.exit(127)", 10**6, 4, "does not start; --python or $SYMTAPE_PYTHON names another Python"),
            ("pass", 3, 4, "a worker has PyTorch 2.0, and another 1.0"),
            ("ready = 'no: nothing here'", 10**6, 4,
             "has no PyTorch; --python or $SYMTAPE_PYTHON names a Python that has it: nothing here"),
            ("ready = 'setup: --import: x'", 10**6, 2, "symtape: --import: x")):
        done, _ = ask(body, "pass", old)
        report(message, done.returncode == code and message in done.stderr, (done.returncode, done.stderr))
    # A question that does not end is killed, and its process stays.
    done, _ = ask("pass", "import time; asked == 3 and time.sleep(60)", 10**6, "--timeout", "1")
    report("PyTorch, a question that hangs", done.returncode == 0 and "1 check did not end" in done.stdout and
           (folder / "started").read_text() == "x\n", (done.stdout, done.stderr))
    # Files of --import are in the folder that the process is given.
    (folder / "patch.py").write_text("1\n")
    done, got = ask('os.path.exists(imports + "/patch.py") or sys.exit(127)', "pass", 10**6, "--import", folder / "patch.py")
    report("--import", done.returncode == 0 and got == expected, done.stderr)


def noise(folder, graph):
    """What a worker writes to standard error takes no memory and no disk; one that does not end is killed."""
    check = folder / "fails.sh"
    start = launcher(folder, "launch", 'yes "some noise" >&2 & "$@"; kill $!; sleep 100')
    began = time.monotonic()
    done, _ = minify(folder, graph, check, "--max-calls", "3", "--launcher", start)
    report("noise", done.returncode == 130 and 9 < time.monotonic() - began < 40 and
           "1 workers did not end in time and were killed" in done.stderr, done.stderr)
    large = folder / "large"
    with open(large, "wb") as file:
        file.truncate(60 << 20)
    done, _ = minify(folder, graph, " ".join([str(check)] + [str(large)] * 5), "--launcher", "nice")
    report("too large", done.returncode == 4 and "at most 268435456 are sent to a worker" in done.stderr, done.stderr)
    large.unlink()


def left(folder):
    names = [p.name for p in folder.iterdir() if p.name.startswith("symtape")]
    report("left in TMPDIR", not names, names)


def messages(folder):
    """The worker alone."""
    run = json.dumps({"run": 5, "seconds": 9, "words": ["sh", {"file": 0}], "input": 0, "variables": [["A", "b"]],
                      "files": [{"name": "x.sh", "bytes": 19, "program": True}]}) + "\necho $A; exit 3;  \n"
    for name, text, code, part in (
            ("a job", run, 0, '"end":5,"status":3'), ("the end", "", 0, '"symtape-worker":2'),
            ("nonsense", "banana\n", 3, '"symtape-worker":2'),
            ("a file outside", run.replace("x.sh", "../x"), 3, '"symtape-worker":2'),
            ("two at once", run.replace("exit 3; ", "sleep 5;") * 2, 3, '"symtape-worker":2')):
        process = subprocess.Popen([SYMTAPE, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdin.write(text)
        process.stdin.flush()
        if name == "a job":
            process.stdout.readline()
            answer = process.stdout.readline()
            report("worker: its answer", part in answer, answer)
            process.stdin.close()
            part = ""
        else:
            process.stdin.close()
        out, err = process.stdout.read(), process.stderr.read()
        report(f"worker: {name}", process.wait() == code and part in out, (process.returncode, out, err))
    process = subprocess.Popen([SYMTAPE, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.stdin.write('{"run": 6, "seconds": 60, "words": ["sleep", "50"]}\n')
    process.stdin.flush()
    time.sleep(0.2)
    process.stdin.write('{"cancel": 6}\n')
    process.stdin.flush()
    line = process.stdout.readline()
    report("worker: cancel", '"cancelled":true' in line, line)
    process.stdin.close()
    report("worker: its end", process.wait() == 0)


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=n@example.org", *words], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def bisect(repository, *words):
    done = subprocess.run([SYMTAPE, "bisect", *words, "--json"], cwd=repository, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def commits(folder):
    repository = folder / "repository"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    for i in range(12):
        (repository / "n").write_text(str(i))
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "-m", f"change {i}")
    git(repository, "checkout", "-q", "-b", "side", "HEAD~4")
    for i in range(5):
        (repository / "side").write_text(f"bad {i}" if i >= 2 else str(i))
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "-m", f"side {i}")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "-m", "merge side", "side")
    (repository / "n").write_text("last")
    git(repository, "commit", "-q", "-a", "-m", "last")
    suite = folder / "suite.sh"
    # Fails every other time where it is bad.
    suite.write_text('#!/bin/sh\ngrep -q bad side 2> /dev/null || exit 0\nexit $((SYMTAPE_ATTEMPT % 2))\n')
    suite.chmod(0o700)
    start = launcher(folder, "launch", LAUNCHERS["is killed"])
    want = None
    for more in ([], ["-j", "3"], ["-j", "3", "--launcher", start]):
        log = folder / f"{len(more)}.log"
        code, got, err = bisect(repository, "--commits", "HEAD~10..main", "--suite", suite, "--repeat", "2",
                                "--log", log, *more)
        report(f"commits {more[:2]}", code == 1 and got["first_bad"]["title"] == "side 2" and
               got["last_good"]["title"] == "side 1" and got["certified"], (code, got, err))
        want = got
    # Cut at any line, and in one, the log continues.
    text = log.read_text()
    for cut in (text.index("\n") + 1, text.index("good") + 9, len(text) // 2, len(text)):
        part = folder / "part.log"
        part.write_text(text[:cut])
        code, got, err = bisect(repository, "--commits", "HEAD~10..main", "--suite", suite, "--repeat", "2", "--log", part)
        report("resumed", code == 1 and got["first_bad"] == want["first_bad"] and
               (cut < len(text) or got["runs"] == 0), (code, got, err))
    git(repository, "bisect", "replay", str(log))
    git(repository, "bisect", "reset")
    code, got, err = bisect(repository, "--commits", "HEAD~10..main", "--suite", suite, "--log", log)
    report("another suite's log", code == 2 and "--overwrite" in err, (code, err))
    code, got, err = bisect(repository, "--commits", "HEAD~10..main", "--suite", suite, "--log", log, "--overwrite")
    report("never", code == 0 and got["verdict"] == "never" and got["first_bad"] is None, (code, got, err))
    # What the merge brought in cannot be decided: the merge stays the answer.
    suite.write_text('#!/bin/sh\ngrep -q bad side 2> /dev/null || exit 0\n'
                     '[ "$(cat side)" = "bad 4" ] && exit 1\nexit 125\n')
    code, got, err = bisect(repository, "--commits", "HEAD~10..main", "--suite", suite, "--log", folder / "merge.log")
    report("a merge of commits that are skipped", code == 1 and got["first_bad"]["title"] == "merge side" and
           got["verdict"] == "found", (code, got, err))
    suite.write_text('case $SYMTAPE_RELEASE in 2.7|2.8) exit 0;; 2.9) exit 125;; *) exit 1;; esac\n')
    pythons = [word for release in ("2.7", "2.8", "2.9", "2.10", "2.11") for word in ("--python", f"{release}=/x/{release}")]
    code, got, err = bisect(repository, *pythons, "--suite", suite, "--log", folder / "releases.log", "-j", "2")
    report("releases", code == 1 and got["verdict"] == "between" and got["first_bad"]["python"] == "/x/2.10",
           (code, got, err))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        tmp = folder / "tmp"
        tmp.mkdir()
        os.environ["TMPDIR"] = str(tmp)
        graph = reductions(folder)
        torch_questions(folder, graph)
        noise(folder, graph)
        messages(folder)
        commits(folder)
        left(tmp)
    sys.exit(f"launcher.py: {len(failed)} failed" if failed else 0)


if __name__ == "__main__":
    main()
