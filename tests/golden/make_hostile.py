"""Logs that try to break a diagnosis or a replay: `make_hostile.py KIND > FILE`."""
import hashlib
import json
import sys

ESCAPES = "\x1b[2J\x1b]0;title\x07\r\x9b31m\u202e"


def record(meta, compile_id, payload=None):
    line = dict(meta, frame_id=0, frame_compile_id=compile_id, attempt=0)
    if payload is not None:
        line["has_payload"] = hashlib.md5(payload.encode()).hexdigest()
    out = f"V1120 08:08:43.000000 880 torch/a.py:1] {json.dumps(line)}\n"
    return out + "".join(f"\t{part}\n" for part in payload.split("\n")) if payload else out


def metrics(**members):
    return {"compilation_metrics": {"co_name": "f", "co_filename": "/u/m.py", "co_firstlineno": 3,
                                    "entire_frame_compile_time_s": 0.5, "backend_compile_time_s": 0.4,
                                    **members}}


def artifact(name):
    return {"artifact": {"name": name, "encoding": "string"}}


def escapes():
    """Terminal escapes in names, files, code, messages and settings."""
    bad = ESCAPES
    yield record(artifact("fx_graph_cache_bypass"), 0, json.dumps({"cache_bypass_reason": "no" + bad}))
    yield record(artifact("recompile_reasons"), 1, json.dumps([f"0/0: L['{bad}'] == 3"]))
    yield record(metrics(
        co_name="f" + bad, fail_type="Value" + bad + "Error", fail_reason="because " + bad,
        fail_user_frame_filename="/u/" + bad + ".py", fail_user_frame_lineno=7,
        cudagraph_skip_reason=f'due to {bad}. Found from : \n  File "/u/{bad}.py", line 9, in f\n    {bad}\n',
        dynamo_config=json.dumps({bad + "_TESTING_ONLY": bad})), 0)


def markup():
    """HTML, ends of scripts and of lines of JavaScript in names, files, code, messages, guards and graphs."""
    bad = "</script><script>alert(1)</script><img src=x onerror=alert(2)> <!-- & \u2028\u2029 ]]> '\" \\"
    yield record({"dynamo_start": {"stack": [{"line": 7, "name": bad, "filename": "/u/" + bad, "loc": bad}]}}, 0)
    yield record({"create_symbol": {"symbol": "s0", "val": "3", "vr": bad, "source": bad, "user_stack": [], "stack": []}}, 0)
    yield record({"guard_added": {"expr": bad, "prefix": bad, "user_stack": [], "stack": [
        {"line": 7, "name": bad, "filename": "/u/" + bad, "loc": bad}]}}, 0)
    yield record({"dynamo_output_graph": {}}, 0, "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4][1]cpu\"):\n"
                 f"        # File: /u/{bad}:7 in f, code: {bad}\n        y: \"f32[4][1]cpu\" = torch.f(x, {bad!r})\n        return (y,)\n")
    yield record(artifact("recompile_reasons"), 1, json.dumps([f"0/0: L['{bad}'] == 3"]))
    yield record(metrics(co_name=bad, fail_type=bad, fail_reason=bad, fail_user_frame_filename="/u/" + bad, fail_user_frame_lineno=7), 0)


def giant():
    """A message of 4 MB without a line's end, and one with a million lines."""
    yield record(metrics(fail_type="ValueError", fail_reason="size of tensor a (" * 220000,
                         cudagraph_skip_reason="File " * 200000), 0)
    yield record(metrics(fail_type="UserError", fail_reason="Constraints violated (x)!\n" + "  - \n" * 500000), 1)


def recompiles():
    """100,000 compiles of one function, each with a value of its own."""
    for i in range(100000):
        if i:
            yield record(artifact("recompile_reasons"), i, json.dumps([f"0/{i - 1}: L['k{i % 20000}'] == {i}"]))
        yield record(metrics(dynamo_config='{"specialize_int": true}'), i)


def event(name, phase, microseconds):
    return record({"chromium_event": {}}, 0, json.dumps(
        {"name": name, "ph": phase, "ts": 1e9 + microseconds, "cat": "dynamo_timed", "pid": 0, "tid": 0}))


def instant():
    """A compile of ten seconds, by its metrics, whose phases took 50 nanoseconds."""
    yield event("GraphLowering.codegen", "B", 0)
    yield event("GraphLowering.codegen", "E", 0.05)
    yield record(metrics(entire_frame_compile_time_s=10.0), 0)


def lists():
    """A list of inputs behind inputs without metas, with items that no list of this graph has."""
    inputs = [f"h{i}" for i in range(100)] + ["L_inputs_ : list"]
    body = ["l_inputs_ = L_inputs_"]
    for i, index in enumerate([0, 1, 2, 65000, 4000000000, 10**30]):
        body.append(f'getitem_{i}: "f32[4][1]cpu" = l_inputs_[{index}]')
    body += ['add: "f32[4][1]cpu" = getitem_0 + getitem_2', "return (add,)"]
    yield record({"dynamo_start": {"stack": []}}, 0)
    yield record({"dynamo_output_graph": {}}, 0, "class GraphModule(torch.nn.Module):\n    def forward(self, " +
                 ", ".join(inputs) + "):\n" + "".join(f"        {line}\n" for line in body))


def symbols():
    """A compile with more symbols than regions are found for."""
    yield record({"dynamo_start": {"stack": []}}, 0)
    for i in range(4097):
        yield record({"create_symbol": {"symbol": f"s{i}", "val": "8", "vr": "[2, int_oo]", "user_stack": [],
                                        "source": f"L['x{i}'].size()[0]", "stack": []}}, 0)


def together():
    """A guard that follows from the one before it and the one after it together."""
    yield record({"dynamo_start": {"stack": []}}, 0)
    for i in range(2):
        yield record({"create_symbol": {"symbol": f"s{i}", "val": str(3 + i), "vr": "[2, int_oo]", "user_stack": [],
                                        "source": f"L['x{i}'].size()[0]", "stack": []}}, 0)
    for guard in ("s0 < s1", "s0 <= 5", "s1 <= 6"):
        yield record({"guard_added_fast": {"expr": guard, "user_stack": [], "stack": []}}, 0)


def unread():
    """A guard that is no expression on sizes, beside one that is."""
    yield record({"dynamo_start": {"stack": []}}, 0)
    yield record({"create_symbol": {"symbol": "s0", "val": "3", "vr": "[2, int_oo]", "user_stack": [],
                                    "source": "L['x'].size()[0]", "stack": []}}, 0)
    for guard in ("Ne(s0, ", "s0 <= 5"):
        yield record({"guard_added_fast": {"expr": guard, "user_stack": [], "stack": []}}, 0)


KINDS = {"instant": instant, "escapes": escapes, "giant": giant, "recompiles": recompiles, "lists": lists,
         "markup": markup, "symbols": symbols, "together": together, "unread": unread}
sys.stdout.writelines(KINDS[sys.argv[1]]())
