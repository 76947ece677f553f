/* What the files of `symtape bisect` share. */
#ifndef SYMTAPE_CMD_BISECT_BISECT_H
#define SYMTAPE_CMD_BISECT_BISECT_H

#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "minify/bisect/bisect.h"
#include "minify/bisect/bisect_between.h"
#include "minify/bisect/bisect_events.h"

struct bisect_args {
    const char *expect, *guard, *specializes, *check, *inject, *only, *timeout, *allow;
    struct opt_number jobs, looks;
    bool from_end, between, list, invert, bisect_codes, json;
};

/* The search in one graph, done. */
struct bisect_report {
    struct str graph;                   /* "0/0_1:aot_forward_graph" */
    const struct bisect_events *events; /* with --check, of the calls alone */
    const struct bisect_result *result;
    const char *question; /* "--guard 'Eq(s27, 16)'" */
    uint32_t graphs;      /* searched, this one included */
    struct str said;      /* what --check said first where it could not tell; "" */
};

/* bisect_report.c: to the data; the exit code (without --bisect-codes). */
int bisect_report(struct cmd *cmd, const struct bisect_args *args,
                  const struct bisect_report *report);
int bisect_list(struct cmd *cmd, const struct bisect_args *args,
                const struct bisect_report *report);
int bisect_report_between(struct cmd *cmd, const struct bisect_args *args,
                          const struct bisect_difference *difference);

/* bisect_check.c: --check; the events are the calls of the graph, a state is the graph cut behind
 * one. said: see above. False: err. */
bool bisect_by_command(const struct bisect_args *args, const struct candidate *whole,
                       const atomic_bool *stop, struct bisect_events *events,
                       struct bisect_result *result, struct buf *said, struct err *err);

#endif
