/* Implements --audit: each operator that has the fast path, or could have it, is replayed with it
 * and without it. */
#include <stdlib.h>

#include "cmd/replay/replay.h"
#include "profile/model/cost_model/cost_model.h"
#include "profile/model/dispatch_times.h"

/* Operators that are replayed; the others, whose calls are fewer, are only listed. */
enum { MAX_REPLAYED = 16 };

struct audit {
    struct trace *trace;
    struct replay_options *how;
    struct replay *baseline;
    const struct dispatch_times *times; /* NULL: the replay counts no dispatches */
    int release;                        /* whose times they are; 0: measured on the tape */
    struct audited_operator *rows;
    size_t n;
};

static uint64_t weight(const struct audited_operator *row)
{
    return row->attempts > row->could_be_fast ? row->attempts : row->could_be_fast;
}

static int by_weight(const void *a, const void *b)
{
    const struct audited_operator *x = a, *y = b;
    if (x->registered != y->registered)
        return x->registered ? -1 : 1;
    if (weight(x) != weight(y))
        return weight(x) > weight(y) ? -1 : 1;
    return str_cmp(x->op, y->op);
}

static int by_saved(const void *a, const void *b)
{
    const struct audited_operator *x = a, *y = b;
    if (x->replayed != y->replayed)
        return x->replayed ? -1 : 1;
    if (x->saved_ns != y->saved_ns)
        return x->saved_ns > y->saved_ns ? -1 : 1;
    if (x->saved != y->saved)
        return x->saved > y->saved ? -1 : 1;
    return by_weight(a, b);
}

/* Adds up the attempts of an operator in all passes. */
static void set_attempts(struct audited_operator *row, const struct replay *replay)
{
    row->attempts = row->hits = 0;
    for (size_t i = 0; i < replay->n_pass_operators; i++)
        if (str_eq(replay->pass_operators[i].op, row->op)) {
            row->attempts += replay->pass_operators[i].paths.attempts;
            row->hits += replay->pass_operators[i].paths.answers;
        }
}

static bool list_operators(struct audit *audit, struct err *err)
{
    const struct replay *base = audit->baseline;
    audit->rows = calloc(base->n_operators + 1, sizeof *audit->rows);
    if (!audit->rows)
        return err_nomem(err);
    for (size_t i = 0; i < base->n_operators; i++) {
        const struct replay_operator *from = &base->operators[i];
        struct audited_operator row = { .op = from->op,
                                        .calls = from->stats.calls,
                                        .could_be_fast = from->could_be_fast };
        set_attempts(&row, base);
        row.registered = row.attempts || from->stats.fast[OP_COUNTER_ATTEMPT_FAST];
        if (row.registered || row.could_be_fast)
            audit->rows[audit->n++] = row;
    }
    qsort(audit->rows, audit->n, sizeof *audit->rows, by_weight);
    return true;
}

static bool has_other_results(const struct replay *a, const struct replay *b)
{
    for (size_t i = 0; i < a->n_digests && i < b->n_digests; i++)
        if (a->digests[i].hash != b->digests[i].hash)
            return true;
    return false;
}

/* other: the replay in which the operator has a fast path if PyTorch has none of it, and has none
 * otherwise; what that saves is what `symtape replay --ablate fastpath:OP` says. */
static void set_times(struct audited_operator *row, const struct dispatch_times *times,
                      const struct replay *baseline, const struct replay *other)
{
    double saved = dispatch_times_saved(times, baseline, other).ns;
    row->timed = true;
    row->saved_ns = cost_whole_ns(row->registered ? -saved : saved);
    row->wasted_ns = cost_whole_ns((double)(row->attempts - row->hits) *
                                   dispatch_time_mean(times, row->op, PATH_SLOW));
}

/* Replays with the fast path of one operator off, if PyTorch has it, or on. */
static bool replay_operator(struct audit *audit, struct audited_operator *row, struct err *err)
{
    const struct replay_ablation ablation = { ABLATION_FAST_PATH, row->op };
    audit->how->ablations = &ablation;
    audit->how->n_ablations = 1;
    struct replay *other = replay_trace(audit->trace, audit->how, err);
    audit->how->n_ablations = 0;
    if (!other)
        return false;
    const struct replay *with = row->registered ? audit->baseline : other;
    const struct replay *without = row->registered ? other : audit->baseline;
    set_attempts(row, with);
    row->replayed = row->registered || row->attempts; /* else its rule cannot be given one */
    row->changes_meta = has_other_results(audit->baseline, other);
    row->saved = (int64_t)without->costs.dispatches - (int64_t)with->costs.dispatches;
    if (audit->times && row->replayed)
        set_times(row, audit->times, audit->baseline, other);
    replay_free(other);
    return true;
}

static bool run_audit(struct audit *audit, struct err *err)
{
    bool ok = list_operators(audit, err);
    for (size_t i = 0; i < audit->n && i < MAX_REPLAYED && ok; i++)
        ok = replay_operator(audit, &audit->rows[i], err);
    if (ok && audit->n)
        qsort(audit->rows, audit->n, sizeof *audit->rows, by_saved);
    return ok;
}

/* Sets PyTorch's times: measured, or estimated. */
static bool find_times(struct audit *audit, struct dispatch_times **ret, struct err *err)
{
    const struct graph_list *list = trace_graphs(audit->trace, err);
    struct deep *deep = list ? deep_read(audit->trace, err) : NULL;
    if (deep)
        *ret = dispatch_times_find(audit->trace, deep, audit->baseline, list, &audit->release, err);
    deep_free(deep);
    if (audit->baseline->costs.modelled)
        audit->times = *ret;
    return *ret != NULL;
}

static int print_audit(struct cmd *cmd, const struct audit *audit)
{
    const struct replay_args *args = cmd->args;
    const struct report_options options = replay_report_options(cmd);
    struct buf text = BUF_INIT;
    if (args->run.json)
        replay_audit_json(audit->rows, audit->n, audit->release, &text);
    else
        replay_audit_text(audit->rows, audit->n, audit->release, &options, &text);
    int code = out_buf(cmd->out, &text);
    buf_release(&text);
    return code;
}

int replay_audit(struct cmd *cmd, struct trace *trace, struct replay_options *how)
{
    struct audit audit = { .trace = trace, .how = how };
    struct dispatch_times *times = NULL;
    struct err err = { 0 };
    how->audit = how->passes = how->digests = true;
    audit.baseline = replay_trace(trace, how, &err);
    bool ok = audit.baseline && find_times(&audit, &times, &err);
    ok = ok && run_audit(&audit, &err);
    int code = ok ? print_audit(cmd, &audit) : out_error(cmd->out, &err);
    free(audit.rows);
    dispatch_times_free(times);
    replay_free(audit.baseline);
    return code;
}
