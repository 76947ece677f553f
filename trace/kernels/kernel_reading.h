/* Declarations that the files share which read kernels. */
#ifndef SYMTAPE_TRACE_KERNELS_KERNEL_READING_H
#define SYMTAPE_TRACE_KERNELS_KERNEL_READING_H

#include "trace/base/hash_index.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"
#include "trace/kernels/kernels.h"

/* A kernel computes a node, or has a line that a stack trace names. */
struct kernel_claim {
    uint32_t kernel, thing; /* index into nodes, or into lines */
    enum kernel_origin origin;
    int group; /* claims of a kernel are sorted by this first */
};

struct kernel_reader {
    struct kernel_list list; /* first, because it is what the caller sees and frees */
    struct trace *trace;
    struct intern texts; /* all strings of the list */
    struct arena arena;  /* arrays of the kernels */
    struct json doc;
    vec_of(struct kernel_graph)
    graphs;
    vec_of(struct kernel)
    kernels;
    vec_of(struct kernel_node)
    nodes;
    vec_of(struct kernel_line)
    lines;
    vec_of(struct fusion_failure)
    failures;
    uint32_t *by_time;
    struct hash_index line_index; /* of lines */

    /* The program that is being read. */
    struct hash_index kernel_index;   /* its kernels by name; rows are indices into kernels */
    struct hash_index function_index; /* the same by function */
    struct hash_index node_index;     /* its nodes by name; rows are indices into nodes */
    struct hash_index claim_index;    /* its claims */
    vec_of(struct kernel_claim)
    claims; /* of nodes */
    vec_of(struct kernel_claim)
    line_claims;
    vec_of(uint32_t)
    calls;                 /* the kernel of each call, in the program's order */
    struct intern handles; /* "NAME:7", the provenance handles that stand in it */
    vec_of(uint32_t)
    handle_kernels; /* the kernel of each */
};

/* All of these return false (or TRACE_NONE) when memory ran out, or with err set. */

/* Returns a copy of a text that lives as long as the list; .p is NULL when memory ran out. */
struct str kernel_text(struct kernel_reader *r, struct str text);
/* Returns the index of a node of the program, which is added if `add` is set; TRACE_NONE if there
 * is none. */
uint32_t kernel_find_node(struct kernel_reader *r, struct str name, bool in_dynamo_graph, bool add);
uint32_t kernel_add_line(struct kernel_reader *r, struct kernel_line line);
bool kernel_claim_node(struct kernel_reader *r, uint32_t kernel, uint32_t node,
                       enum kernel_origin origin);
bool kernel_claim_line(struct kernel_reader *r, uint32_t kernel, uint32_t line);
/* Makes the index of claims again, after they changed. */
bool kernel_index_claims(struct kernel_reader *r);
/* Returns the kernel of the program with that name, or TRACE_NONE. */
uint32_t kernel_find(const struct kernel_reader *r, struct str name);

/* Reads the program's text: its kernels, in the order of their first calls, and the nodes that its
 * comments name. */
bool kernels_scan_program(struct kernel_reader *r, struct str text);
/* Reads one artifact of provenance; `name` is the artifact's. */
bool kernels_read_provenance(struct kernel_reader *r, struct str name, struct str payload);
/* Fills in the operators and lines of the program's nodes from Dynamo's graph and the post-grad
 * graph (references, or TRACE_NONE), and gives nodes to the kernels that have none but a name. */
bool kernels_resolve_nodes(struct kernel_reader *r, uint32_t dynamo, uint32_t post_grad,
                           struct err *err);
/* Fills in what triton_kernel_info says about the program's kernels. */
bool kernels_read_triton_info(struct kernel_reader *r, struct str payload);
/* Fills in the times of the phases of all programs. */
bool kernels_read_phases(struct kernel_reader *r, const struct chromium_list *events);

#endif
