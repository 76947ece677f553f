/* Implements --dynamic A,B, --ablate, --what-if and --audit. */
#include <stdlib.h>

#include "cmd/cli/nearest.h"
#include "cmd/replay/replay.h"
#include "replay/ops/dispatch/ops.h"

/* Times are the best of so many rounds, and each round has one run of each replay. */
enum { ROUNDS = 3 };

struct runs {
    struct replay_run run[REPLAY_MAX_LIST + 1];
    struct replay *replay[REPLAY_MAX_LIST + 1];
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

static int print_runs(struct cmd *cmd, const struct runs *runs, bool times)
{
    const struct replay_args *args = cmd->args;
    const struct report_options how = replay_report_options(cmd);
    struct buf text = BUF_INIT;
    if (args->run.json)
        replay_runs_json(runs->run, runs->n, &text);
    else
        replay_runs_text(runs->run, runs->n, times, &how, &text);
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
    int code = ok ? print_runs(cmd, &runs, true) : out_error(cmd->out, &err);
    release_runs(&runs);
    return code;
}

/* Returns "aten.sin" of "aten.sin.default". */
static struct str without_overload(struct str name)
{
    size_t end = name.n;
    while (end > 0 && name.p[end - 1] != '.')
        end--;
    return end > 0 ? str_first(name, end - 1) : name;
}

static bool is_operator(struct str name, struct str op)
{
    return str_starts(name, op) && (name.n == op.n || name.p[op.n] == '.');
}

/* The operator whose name, without its namespace, is nearest to a word. */
struct nearest_operator {
    struct nearest search;
    struct str space; /* of the nearest one */
};

static void offer_operator(struct nearest_operator *n, struct str space, struct str name)
{
    size_t before = n->search.distance;
    nearest_offer(&n->search, name);
    n->space = n->search.distance < before ? space : n->space;
}

static void offer_row(void *user, struct str schema)
{
    static const struct str COLONS = { "::", 2 };
    struct str name = str_first(schema, str_find_char(schema, '('));
    size_t colons = str_find(name, COLONS);
    struct str base = colons < name.n ? str_from(name, colons + COLONS.n) : name;
    base = str_first(base, str_find_char(base, '.'));
    offer_operator(user, colons < name.n ? str_first(name, colons) : STR("aten"), base);
}

/* Reports an operator that no graph calls, with the nearest one that is called, or else the
 * nearest one that there is. */
static bool unknown_operator(struct str op, const struct replay *baseline, struct err *err)
{
    size_t dot = str_find_char(op, '.');
    struct str word = dot < op.n ? str_from(op, dot + 1) : op;
    struct nearest_operator n = { .search = nearest_of(word) };
    for (size_t i = 0; i < baseline->n_operators; i++) {
        struct str name = baseline->operators[i].op, short_name = without_overload(name);
        size_t end = str_find_char(name, '.');
        offer_operator(&n, str_first(name, end), str_from(short_name, end + 1));
        offer_operator(&n, str_first(name, end), str_from(name, end + 1));
    }
    if (n.search.best.n == 0)
        ops_visit_rows(offer_row, &n);
    if (n.search.best.n && (dot == op.n || !str_eq(n.search.best, word)))
        return err_set(err, ERR_USAGE, "--ablate: no graph calls %.*s; did you mean \"%.*s.%.*s\"?",
                       STR_ARG(op), STR_ARG(n.space), STR_ARG(n.search.best));
    return err_set(err, ERR_USAGE,
                   "--ablate: no graph calls %.*s; symtape replay --operators lists the operators",
                   STR_ARG(op));
}

/* An ablation of an operator that the baseline did not call changes nothing, so that it is an
 * error. */
static bool check_ablations(const struct replay_lists *lists, const struct replay *baseline,
                            struct err *err)
{
    for (size_t i = 0; i < lists->n_ablations; i++) {
        struct str op = lists->ablations[i].op;
        bool found = op.n == 0;
        for (size_t k = 0; k < baseline->n_operators && !found; k++)
            found = is_operator(baseline->operators[k].op, op);
        if (!found)
            return unknown_operator(op, baseline, err);
    }
    return true;
}

int replay_ablations(struct cmd *cmd, struct trace *trace, struct replay_options *how,
                     const struct replay_lists *lists)
{
    struct runs runs = { .n = 0 };
    struct err err = { 0 };
    bool ok = true;
    how->digests = true;
    for (int round = 0; round < ROUNDS && ok; round++) {
        how->n_switches = 0;
        ok = add_run(&runs, 0, "baseline", trace, how, &err) &&
             (round > 0 || check_ablations(lists, runs.replay[0], &err));
        for (size_t i = 0; i < lists->n_ablations && ok; i++) {
            how->switches = &lists->ablations[i];
            how->n_switches = 1;
            ok = add_run(&runs, i + 1, lists->ablation_names[i], trace, how, &err);
        }
    }
    for (size_t i = 1; i < runs.n; i++)
        runs.run[i].invalid = runs.replay[i]->digest != runs.replay[0]->digest;
    int code = ok ? print_runs(cmd, &runs, true) : out_error(cmd->out, &err);
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

int replay_audit(struct cmd *cmd, struct trace *trace, struct replay_options *how)
{
    const struct replay_args *args = cmd->args;
    const struct report_options options = replay_report_options(cmd);
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    how->audit = true;
    struct replay *replay = replay_trace(trace, how, &err);
    if (!replay)
        return out_error(cmd->out, &err);
    if (args->run.json)
        replay_audit_json(replay, &text);
    else
        replay_audit_text(replay, &options, &text);
    int code = out_buf(cmd->out, &text);
    buf_release(&text);
    replay_free(replay);
    return code;
}
