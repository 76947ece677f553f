/* Reads what `symtape record --deep` added to a trace: symtape-deep(5) describes the records and
 * their fields.
 *
 *     struct deep *deep = deep_read(trace, err);
 *     for (uint32_t i = 0; i < deep->n_dispatches; i++) use(&deep->dispatches[i]);
 *     deep_free(deep);
 *
 * A trace that was not recorded deeply gives empty lists. Rows of equal meaning are listed as
 * recorded: one for each operator, depth, stack and result of an attempt. Rows that are no JSON, or
 * that lack a field, are skipped and counted. Calls into ShapeEnv and partial graphs are not read
 * here: trace/events/deep/env_calls.h reads the former, the latter are graphs (trace/graphs.h). */
#ifndef SYMTAPE_TRACE_EVENTS_DEEP_H
#define SYMTAPE_TRACE_EVENTS_DEEP_H

#include "trace/open.h"

struct deep_frame {
    struct str file, function, code; /* code is "" where the source could not be read */
    uint32_t line;
};

/* A user stack, outermost frame first. Each record's payload has its own stacks, so two equal
 * stacks may have two numbers. */
struct deep_stack {
    const struct deep_frame *frames;
    uint32_t n_frames;
};

#define DEEP_NO_STACK UINT32_MAX

enum deep_mode { DEEP_FAKE_TENSOR_MODE, DEEP_FAKE_TENSOR, DEEP_PROXY_MODE, DEEP_OTHER_MODE };
enum deep_cache { DEEP_CACHE_NOT_ASKED, DEEP_CACHE_HIT, DEEP_CACHE_MISS, DEEP_CACHE_BYPASS };

struct deep_dispatch {
    uint32_t record, attempt; /* attempt may be TRACE_NONE */
    enum deep_mode mode;
    struct str op;         /* "aten.add.Tensor" */
    uint32_t depth;        /* number of the mode's dispatches that enclose it */
    uint32_t stack;        /* index into deep.stacks, or DEEP_NO_STACK */
    struct str fast, slow; /* label of the fast path, and why it was not taken; "" */
    enum deep_cache cache;
    struct str bypass; /* reason; "" */
    struct str raised; /* type of the exception; "" */
    uint64_t count;
    uint64_t ns, self_ns; /* inclusive, and without the dispatches inside it */
};

struct deep_cost {
    uint32_t record, attempt;
    struct str cost, caller; /* "tree_flatten", "torch._subclasses.fake_tensor" */
    struct str op;           /* whose dispatch took it, of the operator cache's; else "" */
    uint64_t count, ns, self_ns;
};

/* Returns whether the cost is that of an instruction of Python's bytecode, which Dynamo traced. */
bool deep_is_instruction(const struct deep_cost *cost);

/* A use of a size as a number in Python. */
struct deep_use {
    uint32_t record, attempt;
    struct str use, expr; /* "__int__", "s77*s27" */
    struct str source;    /* "L['x'].size()[0]"; "" unless expr is a symbol */
    struct deep_frame asker;
    uint32_t stack; /* or DEEP_NO_STACK */
    uint64_t count;
};

#define DEEP_NOT_TOLD UINT64_MAX

struct deep_phase {
    uint32_t record, attempt;
    struct str phase;
    uint64_t start_ns, end_ns; /* since the recorder was loaded */
    uint64_t host_start, host_end, host_peak;
    uint64_t device_start, device_end, device_peak; /* DEEP_NOT_TOLD without a device */
};

struct deep_total {
    uint32_t record, attempt;
    struct str label;           /* "FakeTensorMode.__torch_dispatch__", "attempt fast" */
    uint64_t pytorch, recorded; /* totals of the process, until this record */
};

/* One process that was recorded. */
struct deep_process {
    uint32_t record;
    struct str level, python, torch;
    uint64_t events, bytes, lost, overhead_ns;
    uint32_t wrapped, not_wrapped;
    bool ended;           /* false: the process was killed, or ended by exec or os._exit */
    bool exclusive_costs; /* self_ns of a cost is without all that it called; false in older
                             recordings: without other costs only */
};

struct deep {
    const struct deep_process *processes;
    uint32_t n_processes;
    const struct deep_stack *stacks;
    uint32_t n_stacks;
    const struct deep_dispatch *dispatches;
    uint32_t n_dispatches;
    const struct deep_cost *costs;
    uint32_t n_costs;
    const struct deep_use *uses;
    uint32_t n_uses;
    const struct deep_phase *phases;
    uint32_t n_phases;
    const struct deep_total *totals;
    uint32_t n_totals;
    uint64_t unreadable; /* number of rows that were skipped */
};

/* Reads the records. It returns NULL with err set when memory ran out or the tape is damaged
 * there. */
struct deep *deep_read(struct trace *trace, struct err *err);
void deep_free(struct deep *deep); /* NULL is allowed */

const char *deep_mode_name(enum deep_mode mode); /* "FakeTensorMode", ... as in the records */

#endif
