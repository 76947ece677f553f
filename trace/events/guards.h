/* Guard records by kind.
 *
 * A guard_added_fast record is a guard only when the frame that calls _log_guard passes "eval";
 * "eval [guard suppressed]" was evaluated while guards were suppressed and "runtime_assert" is a
 * deferred assert (ShapeEnv.evaluate_expr, guard_or_defer_runtime_assert and _log_guard in
 * torch/fx/experimental/symbolic_shapes.py). guard_added (TORCH_DTRACE) repeats a guard_added_fast
 * with more detail and names the same thing in its `prefix`; it is not listed again.
 *
 * The asker is the innermost recorded frame outside symbolic_shapes, sym_node, recording,
 * torch/_logging and torch/__init__. */
#ifndef SYMTAPE_TRACE_EVENTS_GUARDS_H
#define SYMTAPE_TRACE_EVENTS_GUARDS_H

#include "trace/open.h"

enum guard_kind { GUARD_EVAL, GUARD_SUPPRESSED, GUARD_RUNTIME_ASSERT, GUARD_KINDS };

enum guard_class {
    GUARD_BY_KERNEL, /* torch/_subclasses, _meta_registrations, _refs, _prims, _decomp ... */
    GUARD_BY_TORCH_FUNCTION, /* torch/nn/functional and other torch code that a node calls */
    GUARD_BY_DYNAMO,         /* torch/_dynamo: the user's own branch, or a builtin function */
    GUARD_BY_BACKEND,        /* torch/_functorch, torch/_inductor, torch/fx */
    GUARD_BY_USER,
    GUARD_CLASSES
};

struct guard {
    uint32_t record, attempt;
    struct str expr; /* "Eq(s97, 2)" */
    enum guard_kind kind;
    enum guard_class asked_by;
    bool of_graph;   /* what asked follows from the graph: the calls, the preparation of their
                        arguments, or the pass that computes floats as tensors */
    bool of_formula; /* a C++ formula of autograd asked, beside the calls that it makes */
    bool of_value;   /* of an equality: a number was needed, so that another hint gives an equality
                        with another number */
    stack_id asker;  /* the frame that decides asked_by; 0 when no stack was recorded */
    stack_id user_stack, stack;
};

struct guard_list {
    const struct guard *guards;
    uint32_t n;
    uint32_t by_kind[GUARD_KINDS];
};

/* Returns the guards, which are read once per trace on first use and belong to it; NULL with err
 * set when memory ran out. */
const struct guard_list *trace_guards(struct trace *trace, struct err *err);

const char *guard_kind_name(enum guard_kind kind);     /* "guard", "suppressed", "assert" */
const char *guard_class_name(enum guard_class class_); /* "kernel", "torch function", ... */

/* Calls `fn` for each distinct symbol in a recorded expression ("s97", "u0", "zf1"). */
void guard_symbols(struct str expr, void (*fn)(void *user, struct str symbol), void *user);

#endif
