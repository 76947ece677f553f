/* The data that `symtape info` collects before it prints, and its two writers. */
#ifndef SYMTAPE_CMD_INFO_INFO_H
#define SYMTAPE_CMD_INFO_INFO_H

#include "cmd/cli/tape_arg.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"
#include "trace/events/guards.h"
#include "trace/graphs.h"

/* One graph and its counts; a graph that cannot be read has no counts. */
struct graph_row {
    const struct graph_ref *ref;
    struct graph_counts counts;
    bool unreadable;
};

struct attempt_sums {
    uint32_t graphs, calls, symbols,
        guards; /* graphs: those of the events that symtape-info(1) counts */
};

/* The data of one TAPE operand. */
struct info_tape {
    struct tape_arg arg;
    vec_of(struct graph_row)
    graphs;
    struct attempt_sums *sums; /* by attempt */
};

struct info {
    struct out *out;
    struct info_tape *tapes;
    size_t n_tapes;
    uint64_t records, payloads, damaged, bytes, tape_bytes;
    uint64_t guards[GUARD_KINDS];
    uint64_t symbols;
    struct intern event_names;
    vec_of(uint64_t)
    event_counts;     /* number of records, by id in event_names */
    uint32_t *events; /* ids in event_names, the most frequent first */
};

/* Returns whether the operand's selector includes this recording. */
static inline bool info_in_view(const struct info_tape *tape, uint32_t recording)
{
    return selector_has_recording(tape->arg.trace, &tape->arg.selector, recording);
}

/* Each prints the data and returns an exit code. */
int info_print_json(const struct info *info);
int info_print_text(const struct info *info);
/* The backends that `symtape run` can use here. */
int info_print_backends(struct out *out, bool json);

#endif
