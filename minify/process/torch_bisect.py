"""Which part of torch.compile fails: the backend, pass, lowering or setting as torch/_inductor/compiler_bisector.py finds it; of
several graphs that AOTAutograd made of one (forward, backward) which; and the kernel that the lowering is in. Part of the worker
(minify/process/torch_worker.py)."""

import contextlib
import shutil
import tempfile
import unittest.mock

NO_FUSION = "inductor_max_fusion_size"  # a setting that the bisector does not try, named as it names settings
NODES_MAX = 600  # bytes of the names of a kernel's nodes


def graph_being_compiled(torch):
    """The AOT graph that is compiled at this moment: "forward"; "" if it cannot be told."""
    import torch._functorch._aot_autograd.logging_utils as utils
    return "_".join(getattr(utils, "graph_being_compiled", ())).lstrip("0123456789_")


class Compile:
    """One compile with all passes and lowerings, watched: the graph and the operator of application `number` of a subsystem, and
    the nodes of each kernel."""

    def __init__(self, torch, subsystem, number):
        self.torch, self.subsystem, self.number = torch, subsystem, number
        self.applied = 0
        self.graph = self.operator = ""
        self.kernels = []  # (graph, name, its nodes)

    def note_application(self, _, subsystem, debug_info=None):
        from torch._inductor.virtualized import V
        if subsystem == self.subsystem:
            if self.applied == self.number:
                self.graph = graph_being_compiled(self.torch)
                node = getattr(V.graph, "current_node", None) if subsystem == "lowerings" else None
                self.operator = str(node.target) if node is not None else ""
            self.applied += 1
        return False

    def note_kernels(self, _):
        import torch._inductor.debug as debug
        nodes = getattr(debug, "_inductor_triton_kernel_to_post_grad_node_info", {})
        graph = graph_being_compiled(self.torch)
        self.kernels += [(graph, name.rpartition(":")[0] or name, list(of)) for name, of in nodes.items()]

    def watch(self, compiled):
        """Calls `compiled`, which raises nothing."""
        from torch._inductor import config
        from torch._inductor.compiler_bisector import CompilerBisector
        from torch._inductor.graph import GraphLowering
        level = {"trace.provenance_tracking_level": 1} if hasattr(config.trace, "provenance_tracking_level") else {}
        with unittest.mock.patch.object(CompilerBisector, "disable_subsystem", self.note_application), \
                unittest.mock.patch.object(GraphLowering, "save_output_code", self.note_kernels), config.patch(level):
            compiled()

    def kernel(self, node):
        """The first kernel that computes the node, and its nodes."""
        for graph, name, nodes in self.kernels:
            if graph == self.graph and node in nodes:
                return name, nodes
        return "", []


def find_subsystem(good):
    from torch._inductor.compiler_bisector import CompilerBisector
    folder = CompilerBisector.in_process_cache = tempfile.mkdtemp()
    try:
        return CompilerBisector.do_bisect(good)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_good_unfused(good):
    from torch._inductor import config
    with config.patch(max_fusion_size=1):
        return good()


def named(nodes):
    """Names of nodes, as many as there is room for."""
    text = ""
    for i, name in enumerate(nodes):
        if len(text) + len(name) > NODES_MAX:
            return "%s and %d more" % (text, len(nodes) - i)
        text += (", " if text else "") + name
    return text


def bisected(torch, good):
    """What fails, as fields of an answer; None if nothing does. `good` compiles the program once more, and raises nothing."""
    found = find_subsystem(good)
    if not found:
        return None
    subsystem, number, detail = found.subsystem or "", found.bisect_number or 0, str(found.debug_info or "")[:400]
    if found.backend == "inductor" and not subsystem and is_good_unfused(good):
        subsystem = detail = NO_FUSION
    watched = Compile(torch, subsystem, number)
    with contextlib.suppress(Exception):  # what is private to PyTorch may differ: the subsystem is known all the same
        watched.watch(good)
    kernel, nodes = watched.kernel(detail)
    return {"backend": found.backend, "subsystem": subsystem, "number": number, "message": detail,
            "graph": watched.graph[:100], "operator": watched.operator[:100], "kernel": kernel[:200], "nodes": named(nodes),
            "fused": len(nodes) > 1 and is_good_unfused(good)}
