/* Writers of replays. Each appends to a buffer; check out->failed at the end.
 *
 *   text  for people: a headline, what does not match, tables on demand
 *   json  "symtape.replay/1", as symtape-replay(1) documents it */
#ifndef SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_REPORT_H
#define SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_REPORT_H

#include "profile/report/failure_list.h"
#include "profile/report/report.h"
#include "replay/replay.h"
#include "trace/base/text/json_write.h"

struct replay_report {
    struct trace *trace;
    const struct graph_list *list;
    const struct replay *replay;
    const struct failure_list *failures; /* NULL: none */
    bool guards, operators;              /* print these lists in text */
    uint32_t max_guards;                 /* rows of the list of guards; 0: all */
};

void replay_text(const struct replay_report *report, const struct report_options *how,
                 struct buf *out);
void replay_json(const struct replay_report *report, struct buf *out);

/* Appends the name of a graph by its ref: "0/0_1:aot_joint_graph". */
void replay_graph_name(const struct replay_report *report, uint32_t ref, struct buf *out);
/* Returns "match", "mismatch" ... */
const char *outcome_name(enum outcome outcome);
const char *guard_status_name(enum guard_status status);

/* Parts of the JSON that runs on backends share: where a graph was recorded, and a user's stack
 * with the innermost line first. */
void replay_attempt_json(struct json_writer *w, const struct trace *trace,
                         const struct graph_ref *graph);
void replay_stack_json(struct json_writer *w, const char *key, const struct graph *graph,
                       uint32_t location);

#endif
