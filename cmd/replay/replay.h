/* Declarations that the files of `symtape replay` share. */
#ifndef SYMTAPE_CMD_REPLAY_REPLAY_H
#define SYMTAPE_CMD_REPLAY_REPLAY_H

#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "cmd/run/run.h"
#include "profile/report/replay/replay_runs.h"
#include "replay/ops/decomp/custom.h"

struct replay_args {
    struct run_args run; /* of `symtape run`; must be first: some options are common */
    bool all, guards, operators;
    const char *dynamic, *dynamic_shapes, *what_if, *ablate, *audit, *torch;
};

enum { REPLAY_MAX_LIST = 32 };

/* The options that are lists, parsed. */
struct replay_lists {
    enum policy policies[REPLAY_MAX_LIST];
    size_t n_policies;
    struct input_mark marks[REPLAY_MAX_LIST];
    size_t n_marks;
    struct input_set sets[REPLAY_MAX_LIST], hints[REPLAY_MAX_LIST];
    size_t n_sets, n_hints;
    struct replay_switch ablations[REPLAY_MAX_LIST];
    const char *ablation_names[REPLAY_MAX_LIST];
    size_t n_ablations;
    struct buf mark_text, ablation_text; /* the texts to which they point */
};

bool replay_lists_read(struct replay_lists *lists, const struct replay_args *args, struct err *err);
void replay_lists_release(struct replay_lists *lists);

/* Runs several replays instead of one; returns an exit code, after printing errors. */
int replay_policies(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                    const struct replay_lists *lists);
int replay_ablations(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                     const struct replay_lists *lists);
int replay_other_hints(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                       const struct replay_lists *lists);
int replay_audit(struct cmd *cmd, struct trace *trace, struct replay_options *how);

struct report_options replay_report_options(const struct cmd *cmd);

#endif
