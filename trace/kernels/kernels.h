/* The kernels that Inductor generated or called, as recorded.
 *
 * Each inductor_output_code record holds the program that Inductor wrote for one graph. That
 * program defines kernels (Triton, C++, ...) and calls them, together with those of libraries
 * (extern_kernels.mm, torch.ops.aten.sort.stable), in the order in which they run. This reader
 * lists them with the nodes that each computes, the user lines of those nodes, and what compiling
 * and tuning each cost.
 *
 *     struct kernel_list *list = kernels_read(trace, NULL, &err);
 *     const uint32_t *slowest = list->by_time;
 *     for (uint32_t i = 0; i < list->n && i < 3; i++)
 *         print(list->kernels[slowest[i]].name, kernel_ns(&list->kernels[slowest[i]]));
 *
 * Where nodes come from, in this order (enum kernel_origin):
 *   provenance   the artifacts inductor_provenance_tracking_node_mappings and
 * ..._kernel_stack_traces, or inductor_triton_kernel_to_post_grad_nodes of earlier versions, which
 * PyTorch logs with INDUCTOR_PROVENANCE=1 (torch/_inductor/debug.py) comments     "Topologically
 * Sorted Source Nodes", "Source node to ATen node mapping" and "Graph fragment" in front of a
 * definition or a call (get_kernel_metadata() of torch/_inductor/utils.py). C++ kernels have none
 *   name         the operators in a kernel's name ("cpp_fused_gelu_sum_0"), which a node matches by
 *                its operator or by a word of its user line, if what it needs is called in front of
 *                the kernel, and what needs it behind. Of several such kernels it is the one that
 *                is called first, which can be wrong
 *
 * Lines are those of the post-grad graph that was logged in front of the code, or of Dynamo's graph
 * for nodes that have the names of that one. */
#ifndef SYMTAPE_TRACE_KERNELS_KERNELS_H
#define SYMTAPE_TRACE_KERNELS_KERNELS_H

#include "trace/events/chromium.h"
#include "trace/open.h"

enum kernel_kind {
    KERNEL_TRITON,
    KERNEL_USER_TRITON, /* written by the user, launched by the graph */
    KERNEL_CPP,
    KERNEL_OTHER,  /* another backend of AsyncCompile, see `backend` */
    KERNEL_EXTERN, /* not generated: a library's kernel, or an operator of PyTorch */
    KERNEL_KINDS
};

enum kernel_origin { KERNEL_PROVENANCE, KERNEL_COMMENTS, KERNEL_NAME, KERNEL_ORIGIN_NONE };

/* A node that a kernel computes. */
struct kernel_node {
    struct str name;      /* "add_5" */
    struct str op;        /* "aten.add.Tensor"; "" if the graph was not logged */
    bool in_dynamo_graph; /* `name` is of Dynamo's graph, otherwise of the post-grad graph */
    uint32_t line;        /* index into list->lines, or TRACE_NONE */
};

struct kernel_line {
    struct str file, function, code;
    uint32_t line;
};

/* A user line of a kernel. */
struct kernel_use {
    uint32_t line;    /* index into list->lines */
    uint32_t n_nodes; /* number of the kernel's nodes that came from it */
};

struct kernel {
    uint32_t graph; /* index into list->graphs */
    enum kernel_kind kind;
    enum kernel_origin origin;
    struct str name;       /* "triton_poi_fused_add_0", "extern_kernels.mm" */
    struct str function;   /* what a Triton kernel's function is called, mostly `name` */
    struct str backend;    /* "triton", "cpp_pybinding"; "extern" */
    struct str ops;        /* "aten.t, aten.mm": its ATen operators before decomposition; "" */
    uint32_t n_calls;      /* places in the program that call it */
    const uint32_t *nodes; /* indices into list->nodes */
    uint32_t n_nodes;
    uint32_t n_post_grad; /* how many of these are of the post-grad graph; they come first */
    const struct kernel_use *uses; /* its user lines, those with the most nodes first */
    uint32_t n_uses;
    int64_t compile_ns;  /* of triton_kernel_info; -1: not recorded */
    int64_t autotune_ns; /* benchmarks of its configurations, at the first call; -1: not recorded */
    uint32_t n_configs;  /* configurations that were compiled; 0: not recorded */
    struct str tuning;   /* state of the autotuning cache: "miss", "hit", "only 1 config"; "" */
};

/* One program, which is what one inductor_output_code record holds. */
struct kernel_graph {
    uint32_t record, attempt; /* attempt may be TRACE_NONE */
    struct str id;            /* AOT ID: "0_forward"; "" */
    bool backward;
    uint32_t first, n;  /* its kernels in list->kernels, in the order of their first calls */
    int64_t codegen_ns; /* scheduling, fusion and writing the program (phase GraphLowering.codegen);
                           -1: not recorded. No record says how it divides among kernels */
    int64_t load_ns;    /* loading the program, which compiles its kernels or waits until they are
                           compiled (phase PyCodeCache.load_by_key_path); -1: not recorded */
    int64_t choices_ns; /* compiling and benchmarking templates of matmuls and convolutions
                           (max_autotune); -1: not recorded */
};

/* "cannot fuse buf0 with buf1: ..." of TORCH_LOGS=fusion, for logs that have such lines. */
struct fusion_failure {
    uint32_t record; /* EVENT_RAW */
    struct str first, second, reason;
};

struct kernel_list {
    const struct kernel_graph *graphs; /* in the order of their records */
    uint32_t n_graphs;
    const struct kernel *kernels; /* those of graph 0, then those of graph 1, ... */
    uint32_t n;
    const struct kernel_node *nodes;
    uint32_t n_nodes;
    const struct kernel_line *lines;
    uint32_t n_lines;
    const uint32_t *by_time; /* indices into kernels, by kernel_ns(), the greatest first */
    const struct fusion_failure *failures;
    uint32_t n_failures;
};

/* Reads the kernels. `events` may be NULL (they are read then). The caller frees the list; strings
 * live as long as the list. It returns NULL with err set when memory ran out or the tape could not
 * be read; a program that cannot be understood has no kernels. */
struct kernel_list *kernels_read(struct trace *trace, const struct chromium_list *events,
                                 struct err *err);
void kernels_free(struct kernel_list *list); /* NULL is allowed */

/* Returns what a kernel's compilation and autotuning took together; 0 if nothing is recorded. */
int64_t kernel_ns(const struct kernel *kernel);
/* Returns the user line with the most nodes, or NULL. */
const struct kernel_line *kernel_main_line(const struct kernel_list *list,
                                           const struct kernel *kernel);

const char *kernel_kind_name(enum kernel_kind kind);       /* "Triton", "C++", ... */
const char *kernel_origin_name(enum kernel_origin origin); /* "provenance", "comments", ... */

#endif
