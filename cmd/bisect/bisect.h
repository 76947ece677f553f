/* Declarations that the files of `symtape bisect` share. */
#ifndef SYMTAPE_CMD_BISECT_BISECT_H
#define SYMTAPE_CMD_BISECT_BISECT_H

#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "minify/bisect/bisect.h"
#include "minify/bisect/bisect_between.h"
#include "minify/bisect/bisect_events.h"

struct bisect_args {
    const char *error, *guard, *specializes, *check, *inject_fault, *only, *timeout, *allow;
    const char *commits, *suite, *launcher, *log; /* bisect_versions.c */
    struct opt_list pythons;
    struct opt_number jobs, extra_checks, repeat;
    bool from_end, between, list, invert, bisect_codes, json, overwrite;
};

/* The finished search in one graph. */
struct bisect_report {
    struct str graph;                   /* "0/0_1:aot_forward_graph" */
    const struct bisect_events *events; /* with --check, only the calls */
    const struct bisect_result *result;
    uint32_t graphs; /* searched, this one included */
    struct str said; /* the first output of --check that could not decide, or "" */
};

/* bisect_report.c: prints the result to the data stream. Returns the exit code (without
 * --bisect-codes). */
int bisect_report(struct cmd *cmd, const struct bisect_args *args,
                  const struct bisect_report *report);
int bisect_list(struct cmd *cmd, const struct bisect_args *args,
                const struct bisect_report *report);
int bisect_report_between(struct cmd *cmd, const struct bisect_args *args,
                          const struct bisect_difference *difference);

/* bisect_check.c: the search with --check. Its events are the calls of the graph, and a state is
 * the graph cut after one of them. `said`: see struct bisect_report. Returns false with err set on
 * failure. */
bool bisect_by_command(const struct bisect_args *args, const struct candidate *whole,
                       const atomic_bool *stop, struct bisect_events *events,
                       struct bisect_result *result, struct buf *said, struct err *err);

/* bisect_versions.c: --commits and --python. Returns the exit code. */
int bisect_by_versions(struct cmd *cmd, const struct bisect_args *args);

#endif
