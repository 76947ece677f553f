/* Private to the writers of replays: the fields of the records that they list. The context of
 * graphs and guards is a struct replay_report; the others need none. */
#ifndef SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_FIELDS_H
#define SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_FIELDS_H

#include "profile/report/fields.h"
#include "profile/report/replay/replay_report.h"

/* A pass of PyTorch over the graphs, or the sum of all passes. */
struct replay_pass {
    const char *name, *function;
    const struct pass_counts *counts;
};

/* The fields of struct replay_graph, replay_counts, replay_guard, replay_branch, replay_operator
 * and its op_stats, and replay_pass. */
extern const struct fields replay_graph_fields, replay_counts_fields, replay_guard_fields,
    replay_branch_fields, replay_operator_fields, replay_stats_fields, replay_pass_fields;

/* Appends a line for each place where the program goes another way (struct replay_branch). */
void replay_branches_text(const struct replay_report *report, const struct replay *replay,
                          struct buf *out);

#endif
