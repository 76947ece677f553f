"""symtape.record(): recording this process while it runs.

A child, `symtape record --process PID`, makes the folder that this process logs to. When the
recording ends, or this process does, no matter how, the child packs the folder into the tape.
"""
import atexit
import json
import os
import subprocess
import sys
import threading
import warnings
from types import TracebackType
from typing import Any

from symtape import _program
from symtape._diagnosis import Diagnosis, diagnose
from symtape._log import LogHandler

_lock = threading.Lock()
_running: "Recording | None" = None  # one for a process: PyTorch's log is the process's


class _Packer:
    """The child. It packs when its standard input ends."""

    def __init__(self, options: list[str]) -> None:
        # In a session of its own, so that Ctrl-C and a kill of this process's group spare it.
        self.child = subprocess.Popen(
            [_program.path(), "-q", "record", "--json", "--process", str(os.getpid()), *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        if not line:
            raise _program.Error(_program.message(self.end()[1]))
        self.place: dict[str, Any] = json.loads(line)

    def end(self) -> tuple[bytes, bytes]:
        child = self.child
        assert child.stdin and child.stdout and child.stderr
        child.stdin.close()
        with child.stdout, child.stderr:
            printed = child.stdout.read(), child.stderr.read()
        child.wait()
        return printed

    def pack(self) -> dict[str, Any]:
        """The object that `symtape record --json` prints."""
        out, errors = self.end()
        if self.child.returncode < 0:
            raise _program.Error(f"symtape was killed by signal {-self.child.returncode}; the logs "
                                 f"are in {self.place['folder']} (symtape import packs them)")
        if self.child.returncode != 0:
            raise _program.Error(_program.message(errors))
        return json.loads(out)

    def leave(self) -> None:
        """In the child of a fork: the parent's pipes are not ours to hold."""
        for file in (self.child.stdin, self.child.stdout, self.child.stderr):
            if file:
                file.close()
        self.child.returncode = 0  # it is not our child


class Recording:
    """One recording of this process, and of processes that it forks meanwhile. A context manager;
    start() and stop() do the same where there is no block, as in a service."""

    def __init__(self, tape: str | os.PathLike[str], *, deep: bool | str = False,
                 overwrite: bool = False, redact: bool = False) -> None:
        self.path = os.path.abspath(tape)
        self.level = "all" if deep is True else deep or None
        self.overwrite, self.redact = overwrite, redact
        #: After stop(): what `symtape record --json` prints, see symtape-record(1).
        self.report: dict[str, Any] | None = None
        self._packer: _Packer | None = None
        self._handler: LogHandler | None = None
        self._recorder: Any = None  # of a deep recording

    @property
    def tape(self) -> str | None:
        """The tape's path; None while it is not packed, and when PyTorch logged nothing."""
        return self.report["tape"] if self.report else None

    def start(self) -> "Recording":
        global _running
        with _lock:
            if _running is not None:
                raise _program.Error("this process is being recorded already, to "
                                     f"{_running.path}; stop that recording first")
            self._packer = _Packer(self._options())
            try:
                self._begin(self._packer.place)
            except BaseException:
                self._end()
                self._packer.end()
                self._packer = None
                raise
            self.report = None
            _running = self
        return self

    def stop(self) -> dict[str, Any]:
        """Ends the recording and waits until the tape is written. Returns `report`; an empty one
        in the child of a fork, whose logs the parent packs."""
        report = self.finish()
        if report.get("tape", "") is None:
            warnings.warn(f"{self.path}: PyTorch logged nothing: it compiled nothing; no tape is "
                          "written", stacklevel=2)
        return report

    def finish(self) -> dict[str, Any]:
        """stop() without a warning when there was nothing to record."""
        global _running
        with _lock:
            if _running is not self:
                return self.report or {}
            _running = None
            self._end()
            packer, self._packer = self._packer, None
        if packer is not None:
            self.report = packer.pack()
        return self.report or {}

    def diagnose(self) -> Diagnosis:
        if self.tape is None:
            raise _program.Error(f"{self.path}: there is no tape")
        return diagnose(self.tape)

    def __enter__(self) -> "Recording":
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        try:
            self.stop()
        except _program.Error as failure:
            if error is None:
                raise
            warnings.warn(str(failure), stacklevel=2)  # the block's own error is the news

    def _options(self) -> list[str]:
        options = ["-o", self.path]
        if self.level:
            options.append(f"--deep={self.level}")
        if self.overwrite:
            options.append("--overwrite")
        if self.redact:  # it replaces the words of the command
            options += ["--redact", "--", *sys.orig_argv]
        return options

    def _begin(self, place: dict[str, Any]) -> None:
        self._handler = handler = LogHandler(place["folder"])
        if self.level:
            self._recorder = _start_deep(place, self.level)
            self._recorder.find_handler = lambda: handler.inner
        handler.attach()

    def _end(self) -> None:
        if self._handler is not None:
            self._handler.detach()
        if self._recorder is not None:
            self._recorder.stop()
            self._recorder = None
        if self.redact and self._handler is not None and self._packer is not None:
            self._handler.write_environment()
        self._handler = None

    def _forked(self) -> None:
        if self._packer is not None:
            self._packer.leave()
            self._packer = None
        if self._handler is not None:
            self._handler.forked()


def record(tape: str | os.PathLike[str], *, deep: bool | str = False, overwrite: bool = False,
           redact: bool = False) -> Recording:
    """A recording of this process, for `with` or start() and stop(). `deep`: True, or the level of
    `symtape record --deep`."""
    return Recording(tape, deep=deep, overwrite=overwrite, redact=redact)


def _start_deep(place: dict[str, Any], level: str) -> Any:
    """The recorder of `symtape record --deep` (trace/record/deep/python), which the program wrote
    into the folder. What it wraps stays wrapped between recordings, and does nothing then."""
    package = sys.modules.get("_symtape_recorder")
    if package is None:
        package = _load_recorder(os.path.join(place["folder"], "python", "_symtape_recorder"))
    recorder = package.recorder
    if recorder is None:
        return package.start(level, place["folder"], place["library"])
    if recorder.active:
        raise _program.Error("this process is being recorded deeply already, by symtape record")
    if recorder.level_name != level:
        raise _program.Error(f"deep={level!r}: this process was recorded with "
                             f"deep={recorder.level_name!r}, which stays its level")
    recorder.resume(place["folder"])
    return recorder


def _load_recorder(folder: str) -> Any:
    import importlib.util
    spec = importlib.util.spec_from_file_location(
        "_symtape_recorder", os.path.join(folder, "__init__.py"),
        submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["_symtape_recorder"] = package
    spec.loader.exec_module(package)
    return package


@atexit.register
def _stop_at_exit() -> None:
    if _running is not None:
        _running.__exit__(None, None, None)


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread of the parent may hold it
    if _running is not None:
        _running._forked()


os.register_at_fork(after_in_child=_after_fork)
