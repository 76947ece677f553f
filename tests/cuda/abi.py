#!/usr/bin/env python3
"""The declarations of NVIDIA's interfaces that are ours (abi.h, *.def) agree with its headers.

usage: abi.py CC ROOT        exit 77 where there are no headers; 1 with "nvrtc" in $SYMTAPE_NEED

For each row a function with our parameters that calls theirs with them is compiled, warnings being
errors: as many parameters, of the same types. Enumerations are ints here.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

CONSTANTS = {
    "CU_OK": "CUDA_SUCCESS",
    "CU_INVALID_VALUE": "CUDA_ERROR_INVALID_VALUE",
    "CU_OUT_OF_MEMORY": "CUDA_ERROR_OUT_OF_MEMORY",
    "CU_DEINITIALIZED": "CUDA_ERROR_DEINITIALIZED",
    "CU_STUB_LIBRARY": "CUDA_ERROR_STUB_LIBRARY",
    "CU_DEVICE_UNAVAILABLE": "CUDA_ERROR_DEVICE_UNAVAILABLE",
    "CU_NO_DEVICE": "CUDA_ERROR_NO_DEVICE",
    "CU_INVALID_IMAGE": "CUDA_ERROR_INVALID_IMAGE",
    "CU_NO_BINARY": "CUDA_ERROR_NO_BINARY_FOR_GPU",
    "CU_ECC_UNCORRECTABLE": "CUDA_ERROR_ECC_UNCORRECTABLE",
    "CU_INVALID_PTX": "CUDA_ERROR_INVALID_PTX",
    "CU_NVLINK_UNCORRECTABLE": "CUDA_ERROR_NVLINK_UNCORRECTABLE",
    "CU_UNSUPPORTED_PTX": "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
    "CU_CONTAINED": "CUDA_ERROR_CONTAINED",
    "CU_ILLEGAL_ADDRESS": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "CU_LAUNCH_TIMEOUT": "CUDA_ERROR_LAUNCH_TIMEOUT",
    "CU_CONTEXT_DESTROYED": "CUDA_ERROR_CONTEXT_IS_DESTROYED",
    "CU_ASSERT": "CUDA_ERROR_ASSERT",
    "CU_HARDWARE_STACK": "CUDA_ERROR_HARDWARE_STACK_ERROR",
    "CU_LAUNCH_FAILED": "CUDA_ERROR_LAUNCH_FAILED",
    "CU_UNKNOWN": "CUDA_ERROR_UNKNOWN",
    "CU_MULTIPROCESSORS": "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT",
    "CU_COMPUTE_MODE": "CU_DEVICE_ATTRIBUTE_COMPUTE_MODE",
    "CU_THREADS_PER_MULTIPROCESSOR": "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR",
    "CU_CAPABILITY_MAJOR": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
    "CU_CAPABILITY_MINOR": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR",
    "CU_SHARED_PER_BLOCK_MAX": "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "CU_FUNCTION_SHARED": "CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES",
    "CU_FUNCTION_LOCAL": "CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES",
    "CU_FUNCTION_REGISTERS": "CU_FUNC_ATTRIBUTE_NUM_REGS",
    "CU_FUNCTION_DYNAMIC_SHARED": "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
    "CU_JIT_ERROR_LOG": "CU_JIT_ERROR_LOG_BUFFER",
    "CU_JIT_ERROR_LOG_BYTES": "CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES",
    "CU_NODE_KERNEL": "CU_GRAPH_NODE_TYPE_KERNEL",
    "CU_NODE_MEMSET": "CU_GRAPH_NODE_TYPE_MEMSET",
    "CU_ATTRIBUTE_COOPERATIVE": "CU_LAUNCH_ATTRIBUTE_COOPERATIVE",
    "CU_ATTRIBUTE_CLUSTER": "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION",
    "OUR_NON_BLOCKING": "CU_STREAM_NON_BLOCKING",
}


# Structs: ours, theirs, members whose places must agree.
STRUCTS = [
    ("struct cu_update_result", "CUgraphExecUpdateResultInfo", {"node": "errorNode", "from": "errorFromNode"}),
    ("struct cu_kernel_node", "CUDA_KERNEL_NODE_PARAMS_v2",
     {"grid": "gridDimX", "block": "blockDimX", "shared": "sharedMemBytes", "arguments": "kernelParams",
      "extra": "extra", "kernel": "kern", "context": "ctx"}),
    ("struct cu_memset_node", "CUDA_MEMSET_NODE_PARAMS",
     {"to": "dst", "pitch": "pitch", "value": "value", "element": "elementSize", "width": "width", "height": "height"}),
    ("struct cu_edge", "CUgraphEdgeData", {"from_port": "from_port", "to_port": "to_port", "type": "type"}),
    ("union cu_attribute", "CUlaunchAttributeValue", {"cluster": "clusterDim", "on": "cooperative"}),
]
GRAPH_STRUCTS = [
    ("struct chunk_properties", "CUmemAllocationProp", {"location": "location", "flags": "allocFlags"}),
    ("struct chunk_access", "CUmemAccessDesc", {"flags": "flags"}),
]
GRAPH_CONSTANTS = {
    "CAPTURE_RELAXED": "CU_STREAM_CAPTURE_MODE_RELAXED",
    "LOCATION_DEVICE": "CU_MEM_LOCATION_TYPE_DEVICE",
    "CHUNK_PINNED": "CU_MEM_ALLOCATION_TYPE_PINNED",
    "ACCESS_READ_WRITE": "CU_MEM_ACCESS_FLAGS_PROT_READWRITE",
    "GRANULARITY_LEAST": "CU_MEM_ALLOC_GRANULARITY_MINIMUM",
}


def include_folders():
    patterns = [os.path.join(name, "..", "include")
                for name in os.environ.get("SYMTAPE_CUDA_LIB", "").split(":") if name]
    patterns += ["/usr/local/cuda/include", "/usr/local/cuda-*/include", "/usr/include",
                 "/usr/lib/cuda/include", "/opt/cuda/include"]
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if os.environ.get(name):
            patterns.append(os.environ[name] + "/lib/python3*/site-packages/nvidia/*/include")
    return [folder for pattern in patterns for folder in sorted(glob.glob(pattern), reverse=True)]


def parameter_names(parameters):
    names = []
    for part in parameters.split(","):
        part = part.strip()
        if part and part != "void":
            names.append(re.search(r"(\w+)$", part).group(1))
    return names


def rows(path):
    text = re.sub(r"/\*.*?\*/", "", open(path).read(), flags=re.S)
    found = re.findall(r'SYMBOL\(\s*\w+\s*,\s*\w+\s*,\s*"(\w+)"\s*,\s*\(([^()]*)\)\s*\)', text)
    assert len(found) == text.count("SYMBOL("), path + ": a row is not understood"
    return found


def compile_rows(cc, root, header, folder, table, constants, ours="replay/backend/cuda/runtime/abi.h", structs=()):
    text = ["#define CU_STREAM_NON_BLOCKING OUR_NON_BLOCKING", '#include <stddef.h>', '#include "%s"' % ours,
            "#undef CU_STREAM_NON_BLOCKING", "#include <%s>" % header]
    for ours, theirs in constants.items():
        text.append('_Static_assert((int)%s == (int)%s, "%s");' % (ours, theirs, ours))
    for ours, theirs, members in structs:
        text.append('_Static_assert(sizeof(%s) == sizeof(%s), "%s");' % (ours, theirs, ours))
        for a, b in members.items():
            text.append('_Static_assert(offsetof(%s, %s) == offsetof(%s, %s), "%s");' % (ours, a, theirs, b, a))
    found = rows(os.path.join(root, table))
    for i, (symbol, parameters) in enumerate(found):
        text.append("int call_%d(%s);\nint call_%d(%s)\n{\n    return (int)%s(%s);\n}" % (
            i, parameters, i, parameters, symbol, ", ".join(parameter_names(parameters))))
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write("\n".join(text) + "\n")
        f.flush()
        run = subprocess.run(cc + ["-std=c17", "-Wall", "-Werror", "-Wno-pointer-sign", "-fsyntax-only",
                                   "-I", root, "-isystem", folder, f.name])
    print("%s - %s: %d functions, %d constants of %s/%s" % (
        "not ok" if run.returncode else "ok", table, len(found), len(constants), folder, header))
    return run.returncode == 0


def main():
    cc, root = sys.argv[1:-1], sys.argv[-1]
    good, seen = True, 0
    needed = "nvrtc" in os.environ.get("SYMTAPE_NEED", "").split(",")
    for header, table, constants, *more in (
            ("cuda.h", "replay/backend/cuda/runtime/driver.def", CONSTANTS, "replay/backend/cuda/runtime/abi.h", STRUCTS),
            ("cuda.h", "tests/device/lab/graph.def", GRAPH_CONSTANTS, "tests/device/lab/graph_abi.h", GRAPH_STRUCTS),
            ("nvrtc.h", "replay/backend/cuda/runtime/nvrtc.def", {"NVRTC_OK": "NVRTC_SUCCESS"})):
        folder = next((f for f in include_folders() if os.path.exists(os.path.join(f, header))), None)
        if folder is None:
            print("%s - %s: no %s on this machine" % ("not ok" if needed else "skip", table, header))
            good &= not needed
            continue
        seen += 1
        good &= compile_rows(cc, root, header, folder, table, constants, *more)
    return 77 if good and not seen else 0 if good else 1


sys.exit(main())
