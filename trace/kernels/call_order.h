/* Which kernels can compute a node, by the order of a program's calls.
 *
 * A program calls libraries for some nodes of its graph (extern_kernels.mm for "mm"). A node that
 * needs the result of such a call is computed behind it, and one that such a call needs in front
 * of it. The calls of an operator are matched with its nodes in the order of both. */
#ifndef SYMTAPE_TRACE_KERNELS_CALL_ORDER_H
#define SYMTAPE_TRACE_KERNELS_CALL_ORDER_H

#include "trace/graphs.h"
#include "trace/kernels/kernel_reading.h"

/* The calls between which a node is computed: behind `after`, in front of `before`, by ordinals
 * from 1; 0 and UINT32_MAX are no limits. */
struct node_span {
    uint32_t after, before;
    uint32_t call; /* the call that computes it, if a library does; otherwise TRACE_NONE */
};

struct call_order {
    uint32_t first_kernel, n_kernels;
    uint32_t *starts;        /* by kernel: index into ordinals of its first call; and one more */
    uint32_t *ordinals;      /* of calls, from 1 */
    struct intern operators; /* "mm": what the program calls libraries for */
    vec_of(struct extern_call)
    calls; /* calls of libraries */
    vec_of(uint32_t)
    first_calls; /* by operator: index into calls */
    vec_of(uint32_t)
    last_calls;
};

struct extern_call {
    uint32_t ordinal;
    uint32_t next; /* index into calls of the next one of its operator, or TRACE_NONE */
};

/* Reads the calls of the program that is being read. Returns false when memory ran out. */
bool call_order_init(struct call_order *order, const struct kernel_reader *r);
void call_order_release(struct call_order *order);

/* Returns the spans of a graph's nodes, which the caller frees; NULL when memory ran out. */
struct node_span *call_order_spans(const struct call_order *order, const struct graph *graph);
/* Returns the ordinal of a kernel's first call within a span; UINT32_MAX if there is none. */
uint32_t call_order_first(const struct call_order *order, uint32_t kernel, struct node_span span);

#endif
