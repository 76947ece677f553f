#!/usr/bin/env python3
"""A disk that is full, of temporary files or of the output: the message names it, the program that is
recorded goes on, and nothing half-written stays. The disk is a small tmpfs in a mount namespace of its
own; skipped where none can be made.

usage: full_disk.py
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import cases  # noqa: E402

LOG = cases.RECORDINGS / "train.log.zst"
FILL = "cat /dev/zero > \"$DISK/fill\" 2>/dev/null; "
NAMESPACES = (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"])


def on_small_disk(folder, namespace, script, kib=4096):
    """Runs `script` with sh; $DISK is a fresh tmpfs, $SYMTAPE the program, $LOG a log, $IN a log unpacked.
    What is left on the disk is listed behind a line "left:"."""
    disk = Path(folder) / "disk"
    disk.mkdir(exist_ok=True)
    env = {**os.environ, "DISK": str(disk), "SYMTAPE": str(cases.SYMTAPE), "LOG": str(LOG), "NO_COLOR": "1"}
    program = (f"mount -t tmpfs -o size={kib}k tmpfs \"$DISK\" || exit 99; cd {folder}\n{script}\n"
               "code=$?; rm -f \"$DISK/fill\"; echo left: $(ls -A \"$DISK\"); exit $code")
    done = subprocess.run([*namespace, "sh", "-c", program], env=env, capture_output=True, timeout=120)
    return cases.Run(done.returncode, done.stdout, done.stderr)


def find_namespace(folder):
    for namespace in NAMESPACES:
        try:
            if on_small_disk(folder, namespace, "true").code == 0:
                return namespace
        except OSError:
            return None
    return None


# Name, script, exit code, what is said, what is left on the disk.
CASES = [
    ("record, filled by the program",
     "TMPDIR=$DISK $SYMTAPE record -o r.tape -- sh -c 'zstdcat $LOG > $TORCH_TRACE/a.log; " +
     FILL + "exit 7' && exit 1; [ $? = 7 ] && $SYMTAPE info r.tape >/dev/null", 0,
     "the disk of {disk} (TMPDIR) is full: logs may be cut", ""),
    ("record, no room for a log",
     "TMPDIR=$DISK $SYMTAPE record -o n.tape -- sh -c '" + FILL + "echo x > $TORCH_TRACE/a.log; exit 7'", 7,
     "PyTorch logged nothing: there was no space left; no tape is written", ""),
    ("record, a log that is cut",
     "TMPDIR=$DISK $SYMTAPE record -o c.tape -- sh -c 'head -c 4000000 /dev/zero > $DISK/fill; zstdcat $LOG "
     "$LOG $LOG > $TORCH_TRACE/a.log; echo went on; exit 7'", 7,
     "the disk of {disk} (TMPDIR) is full", ""),
    ("record with room", "TMPDIR=$DISK $SYMTAPE record -o w.tape -- sh -c 'zstdcat $LOG > $TORCH_TRACE/a.log'",
     0, "!is full", ""),
    ("record --deep, full before it starts",
     FILL + "TMPDIR=$DISK $SYMTAPE record --deep -o d.tape -- touch $DISK/../was-run; code=$?; "
     "[ ! -e was-run ] && [ ! -e d.tape ] && (exit $code)", 4,
     "the disk of {disk} (TMPDIR) is full: cannot write the deep recorder", ""),
    ("minify --check, full before it starts",
     FILL + "TMPDIR=$DISK $SYMTAPE minify $LOG:0/0:forward --check true -o m.tape", 4,
     "the disk of {disk} (TMPDIR) is full: cannot make a folder for questions", ""),
    ("import onto it", FILL + "$SYMTAPE import -o $DISK/out.tape $LOG", 4,
     "{disk}/out.tape: No space left on device", ""),
    ("import onto it, a tape being there",
     "echo before > $DISK/out.tape; " + FILL + "$SYMTAPE import --overwrite -o $DISK/out.tape $LOG; "
     "code=$?; [ \"$(cat $DISK/out.tape)\" = before ] && (exit $code)", 4, "No space left on device",
     "out.tape"),
]


def check(folder, namespace, script, code, said, left):
    run = on_small_disk(folder, namespace, script)
    text, disk = run.err.decode(errors="replace"), str(Path(folder) / "disk")
    found = []
    if run.code != code:
        found.append(f"exit {run.code}, not {code}: {text}")
    part = said.lstrip("!").format(disk=disk)
    if (part in text) == said.startswith("!"):
        found.append(f"said {text}")
    if not run.out.decode().endswith(f"left:{' ' if left else ''}{left}\n"):
        found.append(run.out.decode()[-300:])
    return found


def main():
    tell = cases.Cases()
    with tempfile.TemporaryDirectory(prefix="symtape-full-") as folder:
        namespace = find_namespace(folder)
        for name, *rest in CASES:
            if namespace:
                tell.check(name, check(folder, namespace, *rest))
            else:
                tell.skip(name, "no tmpfs can be mounted here")
    tell.finish()


if __name__ == "__main__":
    main()
