#!/usr/bin/env python3
"""The recipes of symtape-cluster(7), run as they stand there: Slurm with two nodes on this machine, GNU parallel, a Kubernetes job's command
for each index, the client of an object storage (a script in its place). Each result has the bytes of one process's.

What is not installed, or cannot be started, is skipped: Debian's packages are slurmctld, slurmd, slurm-client, munge, and parallel.
"""
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "corpus"))
from cases import ROOT, SYMTAPE, Cases, run  # noqa: E402
from recordings import make  # noqa: E402

LOGS = 40
SECONDS = 180  # for the jobs of the array, and the one that joins


def recipes():
    """{section: [code block]} of the page."""
    page = (ROOT / "man" / "symtape-cluster.7.scd").read_text()
    found = {}
    for part in page.split("\n# ")[1:]:
        title, _, text = part.partition("\n")
        found[title] = [block.replace("\\\\", "\\") for block in re.findall(r"\n```\n(.*?)```", text, re.S)]
    return found


class Work:
    """A folder with recordings, and what one process makes of them."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "bin").mkdir()
        (folder / "bin" / "symtape").symlink_to(SYMTAPE)
        make(folder / "nightly", LOGS)
        self.env = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder)}
        self.expected = folder / "expected.sqlite"
        assert run(["collect", "-o", self.expected, "nightly/"], cwd=folder).code == 0

    def clean(self):
        for name in ("parts", "lines"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        for name in ("all.sqlite", "replayed.jsonl"):
            (self.folder / name).unlink(missing_ok=True)

    def shell(self, script, env=None, timeout=300):
        done = subprocess.run(["sh", "-euc", script], cwd=self.folder, env={**self.env, **(env or {})}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=timeout)
        return [] if done.returncode == 0 else [f"exit {done.returncode}: {done.stdout.decode(errors='replace')[-300:]}"]

    def compared(self, name="all.sqlite", expected=None):
        path = self.folder / name
        if not path.exists():
            return [f"there is no {name}"]
        return [] if path.read_bytes() == (expected or self.expected).read_bytes() else [f"{name} has other bytes"]


# ---- Slurm ----

CONFIGURATION = """
ClusterName=symtape
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES State=UP
"""


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


@contextlib.contextmanager
def slurm(folder, env):
    """Yields the environment of a cluster of two nodes, or why there is none."""
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")]
    if missing:
        yield None, f"no {missing[0]}"
        return
    if os.getuid() != 0:
        yield None, "not root, which slurmd has to be"
        return
    folder.mkdir(mode=0o755)
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, host=socket.gethostname(), ports=free_ports(3), user="root"))
    (folder / "state").mkdir()
    env = {**env, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{env['PATH']}:/usr/sbin"}
    started = []

    def start(*args):
        started.append(subprocess.Popen(args, env=env, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def idle():
        told = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return told.split() == [b"idle", b"idle"]

    try:
        start("munged", "--foreground", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket",
              f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed")
        wait_until((folder / "munge.socket").exists, 10)
        start("slurmctld", "-D", "-c")
        for node in ("n1", "n2"):
            start("slurmd", "-D", "-N", node)
        ready = wait_until(idle, 60)
        logs = "".join(p.read_text(errors="replace")[-200:] for p in folder.glob("*.log"))
        yield (env, None) if ready else (None, f"its nodes do not become idle: {logs[-400:]}")
    finally:
        for process in reversed(started):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
            process.kill()
            process.wait()


def slurm_problems(work, env, script):
    work.clean()
    found = work.shell(script, env)
    done = wait_until(lambda: not subprocess.run(["squeue", "-h"], env=env, stdout=subprocess.PIPE).stdout.strip(), SECONDS)
    told = "".join(p.read_text(errors="replace")[-200:] for p in sorted(work.folder.glob("slurm-*.out")) if b"symtape: " in p.read_bytes())
    return found + ([] if done else ["its jobs do not end"]) + work.compared() + ([told] if told else [])


def nodes_used(work, env):
    """Which nodes ran a part: a job for each."""
    done = subprocess.run(["srun", "-N2", "-n2", "sh", "-c", "echo $SLURMD_NODENAME"], env=env, cwd=work.folder, stdout=subprocess.PIPE, timeout=60)
    return [] if sorted(done.stdout.split()) == [b"n1", b"n2"] else [f"ran on {done.stdout!r}"]


def check_slurm(cases, work, blocks):
    title = "Slurm: an array of 16 parts on two nodes, and a job that joins them"
    with slurm(work.folder / "slurm", work.env) as (env, why):
        if not env:
            cases.skip(title, why)
            return
        cases.check("Slurm has two nodes", nodes_used(work, env))
        cases.check(title, slurm_problems(work, env, blocks[0]))


# ---- The others ----

def check_parallel(cases, work, blocks):
    if not shutil.which("parallel"):
        cases.skip("GNU parallel", "not installed")
        return
    work.clean()
    cases.check("GNU parallel: collect", work.shell(blocks[0]) + work.compared())
    cases.check("GNU parallel: the parts again", work.shell(blocks[0]) + work.compared())
    expected = work.folder / "expected.jsonl"
    one = run(["each", "-o", expected, "--overwrite", "replay", "--stable", "nightly/"], cwd=work.folder, timeout=300)
    found = [] if one.code == 0 else [one.told()]
    cases.check("GNU parallel: each", found + work.shell(blocks[1]) + work.compared("replayed.jsonl", expected))


def check_dash(cases, work, script):
    """dash says the same of two revisions in a corpus and of their tapes."""
    found, said = work.shell(script), []
    for points in (["before.csv", "after.csv"], ["nightly/before", "--to", "nightly/after"]):
        done = run(["dash", *points], cwd=work.folder)
        said.append(done.out.partition(b"Before and after")[2].partition(b"\n\n")[0])  # the means
    cases.check("dash of a corpus", found + ([] if said[0] == said[1] and b"compile time" in said[0] else [f"{said}"]))


def command_of(job):
    """The shell command of a job's container."""
    lines = re.search(r"- exec symtape(?:.*\n)(?: {14}.*\n)*", job)[0].splitlines()
    return " ".join(line.strip() for line in lines)[2:]


def check_kubernetes(cases, work, blocks):
    work.clean()
    (work.folder / "parts").mkdir()
    indices = [str(i) for i in range(int(re.search(r"completions: (\d+)", blocks[0])[1]))]
    found = []
    for i in [*indices, indices[3]]:  # one pod is started again
        found += work.shell(command_of(blocks[0]), {"JOB_COMPLETION_INDEX": i})
    done = run(["merge", "-o", "all.sqlite", *sorted((work.folder / "parts").iterdir())], cwd=work.folder)
    cases.check("Kubernetes: each index of the job", found + ([] if done.code == 0 else [done.told()]) + work.compared())


AWS = """#!/bin/sh
# "aws s3 ls s3://ci/nightly/" and "aws s3 cp s3://ci/nightly/NAME -", of the folder nightly
case $2 in
ls) ls nightly/before | sed 's/^/2026-11-28 10:00:00 1 /' ;;
cp) cat "nightly/before/${3##*/}" ;;
esac
"""


def check_storage(cases, work, blocks):
    if not shutil.which("parallel"):
        cases.skip("object storage", "GNU parallel is not installed")
        return
    work.clean()
    (work.folder / "bin" / "aws").write_text(AWS)
    (work.folder / "bin" / "aws").chmod(0o755)
    before = work.folder / "nightly" / "before"
    found = work.shell(blocks[0])
    expected = work.folder / "stored.sqlite"
    run(["collect", "-o", expected, *sorted(p.name for p in before.iterdir())], cwd=before)
    cases.check("object storage: one tape at a time", found + work.compared(expected=expected))


def main():
    cases, told = Cases(), recipes()
    with tempfile.TemporaryDirectory(prefix="symtape-cluster-test-") as name:
        work = Work(Path(name))
        check_slurm(cases, work, told["SLURM"])
        check_parallel(cases, work, told["GNU PARALLEL"])
        check_dash(cases, work, told["GNU PARALLEL"][2])
        check_kubernetes(cases, work, told["KUBERNETES"])
        check_storage(cases, work, told["OBJECT STORAGE"])
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
