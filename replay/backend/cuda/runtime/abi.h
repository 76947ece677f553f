/* The part of CUDA's driver API and of NVRTC that is used, declared here so that the build needs no
 * headers of CUDA. The ABI is public and stable; a test compares it with the headers if there are
 * some. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_ABI_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned long long cu_address; /* CUdeviceptr */
typedef struct CUctx_st *cu_context;
typedef struct CUstream_st *cu_stream;
typedef struct CUevent_st *cu_event;
typedef struct CUmod_st *cu_module;
typedef struct CUfunc_st *cu_function;
typedef struct CUgraph_st *cu_graph;
typedef struct CUgraphExec_st *cu_exec;
typedef struct CUgraphNode_st *cu_node;
typedef struct _nvrtcProgram *nvrtc_program;

/* CUresult */
enum {
    CU_OK = 0,
    CU_INVALID_VALUE = 1,
    CU_OUT_OF_MEMORY = 2,
    CU_DEINITIALIZED = 4,
    CU_STUB_LIBRARY = 34,
    CU_DEVICE_UNAVAILABLE = 46,
    CU_NO_DEVICE = 100,
    CU_INVALID_IMAGE = 200,
    CU_NO_BINARY = 209,
    CU_ECC_UNCORRECTABLE = 214,
    CU_INVALID_PTX = 218,
    CU_NVLINK_UNCORRECTABLE = 220,
    CU_UNSUPPORTED_PTX = 222,
    CU_CONTAINED = 226,
    CU_NOT_READY = 600,
    CU_ILLEGAL_ADDRESS = 700,
    CU_LAUNCH_TIMEOUT = 702,
    CU_CONTEXT_DESTROYED = 709,
    CU_ASSERT = 710,
    CU_HARDWARE_STACK =
        714, /* to 719: illegal instruction, misaligned address, address space ... */
    CU_LAUNCH_FAILED = 719,
    CU_SYSTEM_NOT_READY = 802,
    CU_SYSTEM_MISMATCH = 803,
    CU_COMPAT_NOT_SUPPORTED = 804,
    CU_UNKNOWN = 999
};

/* CUdevice_attribute */
enum {
    CU_SHARED_PER_BLOCK = 8,
    CU_MULTIPROCESSORS = 16,
    CU_COMPUTE_MODE = 20, /* 0 shared, 2 prohibited, 3 one process at a time */
    CU_THREADS_PER_MULTIPROCESSOR = 39,
    CU_CAPABILITY_MAJOR = 75,
    CU_CAPABILITY_MINOR = 76,
    CU_SHARED_PER_BLOCK_MAX = 97
};

/* CUfunction_attribute */
enum {
    CU_FUNCTION_SHARED = 1,
    CU_FUNCTION_LOCAL = 3,
    CU_FUNCTION_REGISTERS = 4,
    CU_FUNCTION_DYNAMIC_SHARED = 8
};

enum { CU_JIT_ERROR_LOG = 5, CU_JIT_ERROR_LOG_BYTES = 6 }; /* CUjit_option */
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_CAPTURE_RELAXED = 2 }; /* CUstreamCaptureMode */
enum { NVRTC_OK = 0 };

/* CUDA_KERNEL_NODE_PARAMS_v2 */
struct cu_kernel_node {
    cu_function function;
    unsigned grid[3], block[3], shared;
    void **arguments;
    void **extra;
    void *kernel; /* where function is NULL */
    cu_context context;
};

/* CUDA_MEMSET_NODE_PARAMS */
struct cu_memset_node {
    cu_address to;
    size_t pitch;            /* of the rows, if there are several */
    unsigned value, element; /* the element's bytes: 1, 2 or 4 */
    size_t width, height;    /* elements of a row, rows */
};

enum { CU_NODE_KERNEL = 0, CU_NODE_MEMSET = 2 }; /* CUgraphNodeType */
/* CUlaunchAttributeID */
enum { CU_ATTRIBUTE_COOPERATIVE = 2, CU_ATTRIBUTE_CLUSTER = 4 };

/* CUlaunchAttributeValue */
union cu_attribute {
    char bytes[64];
    unsigned cluster[3];
    int on;
};

/* CUgraphEdgeData */
struct cu_edge {
    unsigned char from_port, to_port, type, reserved[5];
};

/* CUgraphExecUpdateResultInfo */
struct cu_update_result {
    int result;
    cu_node node, from;
};

struct driver {
#define SYMBOL(needed, member, symbol, parameters) int(*member) parameters;
#include "replay/backend/cuda/runtime/driver.def"
#undef SYMBOL
};

struct nvrtc {
#define SYMBOL(needed, member, symbol, parameters) int(*member) parameters;
#include "replay/backend/cuda/runtime/nvrtc.def"
#undef SYMBOL
};

#endif
