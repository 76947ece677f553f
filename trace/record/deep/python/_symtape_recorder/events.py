"""What PyTorch logs tells when something ends: phases, graphs, compiles."""
import json
import sys
import time

PHASE, TOTALS = 14, 15
NO_DEVICE = 2 ** 64 - 1
DYNAMO, AOT = 0, 1
GRAPH_EVENTS = {"dynamo_output_graph": DYNAMO, "aot_joint_graph": AOT, "aot_forward_graph": AOT,
                "aot_backward_graph": AOT, "aot_inference_graph": AOT}
METRICS = ("compilation_metrics", "bwd_compilation_metrics")


class Events:
    """`names` is None when environments are not recorded."""

    def __init__(self, c, graphs, names, find_log):
        self.c, self.graphs, self.names, self.find_log = c, graphs, names, find_log
        self.log_is_known, self.active = False, True
        self.before = None  # simple_call_counter when ours began to count

    def reset(self):
        self.log_is_known = False

    def begin_counting(self):
        stats = sys.modules.get("torch.utils._stats")
        if self.before is None and stats is not None:
            ours = self.c.counts()
            self.before = {k: n - ours.get(k, 0) for k, n in stats.simple_call_counter.items()}

    # ---------------------------------------------------------------------------------------------
    # Records: a filter of PyTorch's own logger sees each.

    def on_record(self, record):
        if not self.active:
            return True
        if not self.log_is_known and self.c.opened():
            try:
                self.log_is_known = bool(self.find_log())
            except Exception:
                self.log_is_known = True  # the process tells as well
        metadata = getattr(record, "metadata", None)
        if isinstance(metadata, dict) and metadata:
            event = next(iter(metadata))
            if event in GRAPH_EVENTS or event in METRICS:
                began = time.perf_counter_ns()
                try:
                    self.on_event(event, metadata[event])
                except Exception:
                    pass
                self.c.spent(time.perf_counter_ns() - began)
        return True

    def on_event(self, event, details):
        context, _ = self.c.place()
        if event in GRAPH_EVENTS:
            self.graphs.logged(GRAPH_EVENTS[event], context)
            return
        failure = details.get("fail_type") if isinstance(details, dict) else None
        self.graphs.compile_ended(context, failure)
        self.write_totals(context)
        if self.names is not None:
            self.names.write_finals()
        self.c.release()

    def write_totals(self, context):
        stats = sys.modules.get("torch.utils._stats")
        if stats is None or not self.c.opened():
            return
        self.begin_counting()
        ours = self.c.counts()
        theirs = {k: n - self.before.get(k, 0) for k, n in stats.simple_call_counter.items()}
        theirs = {k: n for k, n in theirs.items() if n}
        self.c.emit(TOTALS, "4s", context, json.dumps(
            {"pytorch": theirs, "recorded": ours, "agree": theirs == ours}))

    # ---------------------------------------------------------------------------------------------
    # Phases: ChromiumEventLogger.log_event_start(self, event_name, time_ns, ...) and _end.

    def watch_start(self, log_event):
        return self.watch_phase(log_event, 1)

    def watch_end(self, log_event):
        return self.watch_phase(log_event, 0)

    def watch_phase(self, log_event, begins):
        def call(logger, event_name, *args, **kwargs):
            if not self.active:
                return log_event(logger, event_name, *args, **kwargs)
            began = time.perf_counter_ns()
            try:
                self.on_phase(event_name, begins)
            except Exception:
                pass
            self.c.spent(time.perf_counter_ns() - began)
            return log_event(logger, event_name, *args, **kwargs)
        return call

    def on_phase(self, name, begins):
        context, _ = self.c.place()
        host, host_peak = self.c.memory()
        device, device_peak = device_memory()
        self.c.emit(PHASE, "444488888", context, begins, self.c.string(str(name)), 0, self.c.now(),
                    host, host_peak, device, device_peak)

    def stop(self):
        self.write_totals(0)


def device_memory():
    """Bytes that PyTorch allocated on all devices, and the sum of their peaks."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return NO_DEVICE, NO_DEVICE
    devices = range(cuda.device_count())
    return (sum(cuda.memory_allocated(i) for i in devices),
            sum(cuda.max_memory_allocated(i) for i in devices))
