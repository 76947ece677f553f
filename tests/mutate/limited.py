#!/usr/bin/env python3
"""Runs one program under limits and says on standard output, as JSON, how it ended.

The peak of resident memory that Linux tells of a child counts its parent's too, from before it began
another program: so the parent is this small process, and not the test that started it.

usage: limited.py JSON    {args, cwd, env, stdin, out, err, cpu, wall, file, pty, memory}
"""
import json
import os
import resource
import select
import signal
import sys
import time


def child(job, terminal):
    os.setsid()
    os.chdir(job["cwd"])
    out = terminal if terminal is not None else os.open(job["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    err = terminal if terminal is not None else os.open(job["err"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(os.open(job["stdin"], os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.closerange(3, 64)
    for what, limit in ((resource.RLIMIT_CPU, job["cpu"]), (resource.RLIMIT_FSIZE, job["file"]),
                        (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(what, (limit, limit + (what == resource.RLIMIT_CPU)))
    if job["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (job["memory"], job["memory"]))
    os.execve(job["args"][0], job["args"], job["env"])


def copy_terminal(master, path, ended, until):
    """What is written to a terminal goes to a file, for as long as somebody writes."""
    with open(path, "wb") as out:
        while time.monotonic() < until:
            ready = select.select([master], [], [], 0.05)[0]
            if not ready and ended():
                return
            if ready:
                try:
                    piece = os.read(master, 65536)
                except OSError:  # EIO: the other end is closed
                    return
                if not piece:
                    return
                out.write(piece)


def main():
    job = json.loads(sys.argv[1])
    master = slave = None
    if job["pty"]:
        import fcntl
        import struct
        import termios
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 110, 0, 0))
        modes = termios.tcgetattr(slave)
        modes[1] &= ~termios.OPOST  # "\n" stays what it is
        termios.tcsetattr(slave, termios.TCSANOW, modes)
    pid = os.fork()
    if pid == 0:
        try:
            child(job, slave)
        finally:
            os._exit(127)
    if slave is not None:
        os.close(slave)
    state = {"done": None, "late": False}

    def late(*_):
        state["late"] = True
        os.killpg(pid, signal.SIGKILL)

    def ended():
        state["done"] = state["done"] or (lambda r: r if r[0] else None)(os.wait4(pid, os.WNOHANG))
        return state["done"] is not None
    signal.signal(signal.SIGALRM, late)
    signal.alarm(job["wall"])
    if master is not None:
        copy_terminal(master, job["out"], ended, time.monotonic() + job["wall"] + 5)
    _, status, used = state["done"] or os.wait4(pid, 0)
    signal.alarm(0)
    print(json.dumps({"code": "late" if state["late"] else os.waitstatus_to_exitcode(status),
                      "rss": used.ru_maxrss * 1024, "cpu": used.ru_utime + used.ru_stime}))


if __name__ == "__main__":
    main()
