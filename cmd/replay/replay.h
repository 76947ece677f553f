/* Declarations that the files of `symtape replay` share. */
#ifndef SYMTAPE_CMD_REPLAY_REPLAY_H
#define SYMTAPE_CMD_REPLAY_REPLAY_H

#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "cmd/run/run.h"
#include "profile/report/replay/replay_ablations.h"
#include "profile/report/replay/replay_audit.h"
#include "profile/report/replay/replay_runs.h"
#include "replay/ops/decomp/custom.h"

struct replay_args {
    struct run_args run; /* of `symtape run`; must be first: some options are common */
    bool all, guards, operators, stable;
    const char *dynamic, *dynamic_shapes, *what_if, *ablate, *audit, *torch;
};

enum { REPLAY_MAX_LIST = 32, ABLATION_PARTS = 4 };

/* An item of --ablate: one ablation, or several at once ("cache+free:aten.mm"). */
struct ablation_item {
    struct replay_ablation parts[ABLATION_PARTS];
    size_t n;
};

/* The options that are lists, parsed. */
struct replay_lists {
    enum policy policies[REPLAY_MAX_LIST];
    size_t n_policies;
    struct input_mark marks[REPLAY_MAX_LIST];
    size_t n_marks;
    struct input_set sets[REPLAY_MAX_LIST], hints[REPLAY_MAX_LIST];
    size_t n_sets, n_hints;
    struct ablation_item ablations[REPLAY_MAX_LIST];
    size_t n_ablations;
    struct buf mark_text; /* the texts to which marks point */
};

/* Returns the next item of a comma-separated list; commas in brackets do not separate. */
struct str replay_next_item(struct str *rest);
/* Reads the list of --ablate. Each ablation of a combination becomes an item of its own before it.
 */
bool replay_ablations_read(struct replay_lists *lists, const char *text, struct err *err);
bool replay_lists_read(struct replay_lists *lists, const struct replay_args *args, struct err *err);
void replay_lists_release(struct replay_lists *lists);

/* Runs several replays instead of one; returns an exit code, after printing errors. */
int replay_policies(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                    const struct replay_lists *lists);
int replay_ablations(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                     struct replay_lists *lists);
int replay_other_hints(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                       const struct replay_lists *lists);
int replay_audit(struct cmd *cmd, struct trace *trace, struct replay_options *how);

struct report_options replay_report_options(const struct cmd *cmd);

#endif
