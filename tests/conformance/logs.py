"""Logs made to order, laid out as TorchLogsFormatter.format does (torch/_logging/_internal.py)."""
import hashlib
import json


def record(event, meta, payload=None, md5=None, compile_id=(0, 0), attempt=0):
    """One record as bytes; `md5` overrides the payload's right checksum."""
    envelope = {event: meta}
    if compile_id is not None:
        envelope.update(frame_id=compile_id[0], frame_compile_id=compile_id[1], attempt=attempt)
    if payload is not None:
        raw = payload if isinstance(payload, bytes) else payload.encode()
        envelope["has_payload"] = md5 or hashlib.md5(raw).hexdigest()
    line = "V1120 09:41:07.123000 4242 torch/_logging/structured.py:27] " + json.dumps(envelope)
    out = line.encode() + b"\n"
    if payload is not None:
        out += b"".join(b"\t" + part + b"\n" for part in raw.split(b"\n"))
    return out


GRAPH = """class GraphModule(torch.nn.Module):
    def forward(self, arg0_1: "Sym(s77)", arg1_1: "f32[s77, 8][8, 1]cpu"):
         # File: /srv/model.py:7 in forward, code: return x * 2
        mul: "f32[s77, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(arg1_1, 2);  arg1_1 = None
        return (mul,)
        """


def start():
    """The first records of any log: two strings and the start of a compile. Three records."""
    frames = [{"line": 7, "name": "forward", "filename": 1, "loc": "return x * 2"}]
    return (record("str", ["/srv/model.py", 1], compile_id=None) +
            record("dynamo_start", {"stack": frames}) +
            record("create_symbol", {"symbol": "s77", "val": "8", "vr": "[2, int_oo]",
                                     "source": "L['x'].size()[0]", "user_stack": frames,
                                     "stack": frames}))


def end():
    """The last: a graph and the metrics. Two records, one payload."""
    return (record("aot_inference_graph", {}, GRAPH) +
            record("compilation_metrics", {"compile_id": "0/0", "co_name": "forward",
                                           "entire_frame_compile_time_s": 1.5}))


WHOLE = 5  # records of start() + end()
