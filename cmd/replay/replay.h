/* What the files of `symtape replay` share. */
#ifndef SYMTAPE_CMD_REPLAY_REPLAY_H
#define SYMTAPE_CMD_REPLAY_REPLAY_H

#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "profile/report/replay/replay_runs.h"
#include "replay/ops/decomp/custom.h"

struct replay_args {
    bool json, strict, all, guards, operators, bisect_codes, force, profile, nodes, tf32;
    const char *policy, *mark, *set, *hints, *ablate, *audit, *rules;
    const char *backend, *inputs, *input_prefix, *against, *against_prefix, *outputs;
    const char *save, *sizes, *tolerance, *perturb;
    struct opt_number limit, jobs, samples, seed, runs;
};

enum { REPLAY_MAX_LIST = 32 };

/* The lists among the options, taken apart. */
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
    struct buf mark_text, ablation_text; /* what they point into */
};

bool replay_lists_read(struct replay_lists *lists, const struct replay_args *args, struct err *err);
void replay_lists_release(struct replay_lists *lists);

/* Rules of custom operators from the files of a list, "a.rules,b.rules"; NULL is no list. */
bool rules_read(struct custom_rules **rules, const char *files, struct source_meter *meter,
                struct err *err);

/* Several replays instead of one; EXIT_* or an error that was printed. */
int replay_policies(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                    const struct replay_lists *lists);
int replay_ablations(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                     const struct replay_lists *lists);
int replay_other_hints(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                       const struct replay_lists *lists);
int replay_audit(struct cmd *cmd, struct trace *trace, struct replay_options *how);

/* --backend: the graphs are run for real (replay/backend/run/run.h). */
int replay_backend(struct cmd *cmd, struct trace *trace, const struct selector *selector,
                   const struct custom_rules *rules);

struct report_options replay_report_options(const struct cmd *cmd);

#endif
