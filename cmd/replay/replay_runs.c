/* Implements --dynamic A,B and --what-if. */
#include <stdlib.h>

#include "cmd/replay/replay.h"

/* Times are the best of so many rounds, and each round has one run of each replay. */
enum { ROUNDS = 3 };

struct runs {
    struct replay_run run[REPLAY_MAX_LIST];
    struct replay *replay[REPLAY_MAX_LIST];
    size_t n;
};

static void release_runs(struct runs *runs)
{
    for (size_t i = 0; i < runs->n; i++)
        replay_free(runs->replay[i]);
}

/* Runs the replay of slot i, whose name is set; the second time only to compare times. */
static bool add_run(struct runs *runs, size_t i, const char *name, struct trace *trace,
                    const struct replay_options *how, struct err *err)
{
    struct replay *replay = replay_trace(trace, how, err);
    if (!replay)
        return false;
    struct replay_run *run = &runs->run[i];
    if (i < runs->n) {
        run->ns = replay->costs.ns < run->ns ? replay->costs.ns : run->ns;
        replay_free(replay);
        return true;
    }
    runs->replay[runs->n++] = replay;
    *run = (struct replay_run){ .name = name, .replay = replay, .ns = replay->costs.ns };
    return true;
}

static int print_runs(struct cmd *cmd, const struct runs *runs)
{
    const struct replay_args *args = cmd->args;
    const struct report_options how = replay_report_options(cmd);
    struct buf text = BUF_INIT;
    if (args->run.json)
        replay_runs_json(runs->run, runs->n, &text);
    else
        replay_runs_text(runs->run, runs->n, &how, &text);
    int code = out_buf(cmd->out, &text);
    buf_release(&text);
    return code;
}

int replay_policies(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                    const struct replay_lists *lists)
{
    struct runs runs = { .n = 0 };
    struct err err = { 0 };
    bool ok = true;
    how->passes = true;
    for (int round = 0; round < ROUNDS && ok; round++)
        for (size_t i = 0; i < lists->n_policies && ok; i++) {
            how->changes.policy = lists->policies[i];
            ok = add_run(&runs, i, policy_name(lists->policies[i]), trace, how, &err);
        }
    int code = ok ? print_runs(cmd, &runs) : out_error(cmd->out, &err);
    release_runs(&runs);
    return code;
}

int replay_other_hints(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                       const struct replay_lists *lists)
{
    const struct replay_args *args = cmd->args;
    const struct report_options options = replay_report_options(cmd);
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    how->trails = true;
    struct replay_options with_hints = *how;
    with_hints.changes.sets = lists->hints;
    with_hints.changes.n_sets = lists->n_hints;
    struct replay *other = replay_trace(trace, &with_hints, &err), *base = NULL;
    how->until = other ? other->branches : NULL;
    how->n_until = other ? other->n_branches : 0;
    if (other)
        base = replay_trace(trace, how, &err);
    struct replay_report report = { .trace = trace,
                                    .replay = base,
                                    .list = base ? trace_graphs(trace, &err) : NULL };
    if (report.list && args->run.json)
        replay_hints_json(&report, other, &text);
    else if (report.list)
        replay_hints_text(&report, other, &options, &text);
    int code = report.list ? out_buf(cmd->out, &text) : out_error(cmd->out, &err);
    buf_release(&text);
    replay_free(base);
    replay_free(other);
    return code;
}
