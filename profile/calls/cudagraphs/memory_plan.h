/* What the programs that Inductor wrote allocate and free, in their order: the functions
 * "partition_0", "partition_1" ..., or "call" where there are none
 * (torch/_inductor/codegen/wrapper.py).
 *
 *     buf0 = empty_strided_cuda((s33, 64), (64, 1), torch.float32)
 *     del arg0_1
 *     buf4 = buf0; del buf0  # reuse
 *     buf5 = extern_kernels.convolution(buf4, ...)
 *     assert_size_stride(buf5, (s33, 8), (8, 1))
 *     triton_poi_fused_0.run(buf5, s33, stream=stream0)
 *
 * Lines that are none of these allocate nothing. */
#ifndef SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_MEMORY_PLAN_H
#define SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_MEMORY_PLAN_H

#include "trace/base/arena.h"
#include "trace/graph/dtype.h"
#include "trace/graph/expr.h"

/* The memory of one tensor, which several variables can name. */
struct plan_slot {
    struct str name;        /* its first variable */
    bool input;             /* it is an argument */
    expr_id sizes, strides; /* tuples; EXPR_NONE when they are not known */
    unsigned element_bytes;
};

struct plan_event {
    uint32_t slot;
    bool frees; /* else it allocates */
};

/* An argument that a kernel writes to in place. */
struct plan_written {
    uint32_t slot;
    unsigned element_bytes;
};

/* A Triton kernel runs. */
struct plan_launch {
    struct str kernel;
    uint32_t event;                    /* the event before which it runs */
    uint32_t first_written, n_written; /* in memory_plans.written */
    bool always;                       /* see struct written_arguments */
};

#define SLOT_NONE UINT32_MAX

struct memory_plan {
    uint32_t first_slot, n_slots, first_event, n_events;
    uint32_t first_output, n_outputs; /* in memory_plans.outputs */
    uint32_t first_launch, n_launches;
    uint32_t matmul; /* the event before which cuBLAS allocates its workspace; or SLOT_NONE */
    bool unknown;    /* it allocates more: it has too many variables, or an unknown dtype */
};

struct memory_plans {
    struct arena arena;
    struct expr_pool exprs;
    vec_of(struct plan_slot)
    slots;
    vec_of(struct plan_event)
    events; /* their slots are numbers in the plan */
    vec_of(struct plan_launch)
    launches;
    vec_of(struct plan_written)
    written;
    vec_of(uint32_t)
    outputs; /* slots in the plan, SLOT_NONE for what is no tensor of it */
    vec_of(struct memory_plan)
    plans;
};

/* The most variables of a function that are read. */
enum { PLAN_VARIABLES = 1 << 14 };

/* Appends the plans of a program; none if it is not understood. Returns false when memory ran out.
 */
bool memory_plans_read(struct memory_plans *plans, struct str program);
void memory_plans_release(struct memory_plans *plans);

#endif
