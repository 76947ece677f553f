"""Writing PyTorch's structured log (TORCH_TRACE) from some moment on.

torch/_logging/_internal.py looks at TORCH_TRACE when it is imported, and then gives the logger
torch.__trace a LazyTraceHandler. Whether a record is made depends on whether that logger has
handlers, so ours switches it on and off at any time. It writes by such a LazyTraceHandler of its
own, for the form of the log is that of the version of PyTorch.
"""
import logging
import os
import sys
from typing import Any

_abandoned: list[Any] = []  # streams of the parents of forks


class LogHandler(logging.Handler):
    def __init__(self, folder: str) -> None:
        super().__init__(logging.DEBUG)
        self.folder = folder
        self.inner: Any = None  # PyTorch's handler, once there is something to log

    def attach(self) -> None:
        structured = sys.modules.get("torch._logging.structured")
        if structured is not None:
            structured.DUMPED_FILES.clear()  # each is logged once, and ours has none yet
        logging.getLogger("torch.__trace").addHandler(self)

    def detach(self) -> None:
        logging.getLogger("torch.__trace").removeHandler(self)
        self.acquire()
        try:
            if self.inner is not None:
                self.inner.close()
                self.inner = None
        finally:
            self.release()
        self.close()

    def emit(self, record: logging.LogRecord) -> None:
        if self.inner is None:
            if not os.path.isdir(self.folder):  # the recording of our parent has ended
                logging.getLogger("torch.__trace").removeHandler(self)
                return
            self.open_log()
        self.inner.emit(record)

    def open_log(self) -> None:
        internal: Any = sys.modules["torch._logging._internal"]
        _keep_dynamo_out()
        self.inner = internal.LazyTraceHandler(self.folder)
        self.inner.setFormatter(internal.TorchLogsFormatter(trace=True))
        # Files are logged once, and later records refer to them by number.
        structured: Any = sys.modules["torch._logging.structured"]
        for text, number in list(structured.INTERN_TABLE.items()):
            record = logging.LogRecord("torch.__trace", logging.DEBUG, __file__, 0, "", (), None)
            record.metadata, record.payload = {"str": (text, number)}, None
            self.inner.emit(record)

    def forked(self) -> None:
        """The open log is the parent's: the child gets its own, and does not keep that one open.
        Its stream is not closed, because another thread of the parent may have been writing."""
        stream = getattr(self.inner, "stream", None)
        if stream is not None:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno(), inheritable=False)
            os.close(null)
            _abandoned.append(stream)
            self.inner.stream = None
        self.inner = None

    def write_environment(self) -> None:
        """For redaction: the values of variables, those that this process set among them."""
        path = os.path.join(self.folder, f"environment-{os.getpid()}")
        with open(path, "wb", opener=lambda p, flags: os.open(p, flags, 0o600)) as out:
            for name, value in os.environb.items():
                out.write(name + b"=" + value + b"\0")


def _keep_dynamo_out() -> None:
    """Dynamo must not try to compile what is called while it logs."""
    convert_frame: Any = sys.modules.get("torch._dynamo.convert_frame")
    if convert_frame is not None:
        for function in (LogHandler.emit, LogHandler.open_log, _keep_dynamo_out):
            convert_frame.skip_code(function.__code__)
