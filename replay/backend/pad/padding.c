#include "replay/backend/pad/padding.h"

#include <string.h>

#include "replay/backend/pad/pad_rules.h"

enum { DEEPEST = 4 };

/* The calls of the run without padding, and the next one that the run with padding makes. */
struct pad_checker {
    vec_of(struct backend_call)
    calls; /* their values are in the arena, their metas in the run */
    size_t next;
    struct pad_facts facts;
    struct arena arena;
    struct buf reason;
    node_id node;
    bool mixed;
};

/* ---- The calls without padding ---- */

static bool copy_value(struct pad_checker *p, const struct kernel_value *from,
                       struct kernel_value *to, unsigned depth)
{
    *to = *from;
    if (!value_has_items(*from) || from->n == 0)
        return true;
    if (depth == DEEPEST) { /* no call has such lists: the check finds another number of items */
        to->n = 0;
        return true;
    }
    struct kernel_value *items = arena_array(&p->arena, struct kernel_value, from->n);
    if (!items)
        return false;
    for (uint32_t i = 0; i < from->n; i++)
        if (!copy_value(p, &from->u.items[i], &items[i], depth + 1))
            return false;
    to->u.items = items;
    return true;
}

static bool record_call(void *watcher, const struct backend_call *call, struct err *err)
{
    struct pad_checker *p = watcher;
    struct backend_call copy = *call;
    struct kernel_value *args = arena_array(&p->arena, struct kernel_value, call->op->n_args + 1);
    bool ok = args && copy_value(p, &call->result, &copy.result, 0);
    for (uint32_t i = 0; ok && i < call->op->n_args; i++)
        ok = copy_value(p, &call->args[i], &args[i], 0);
    copy.args = args;
    return (ok && vec_push(&p->calls, copy)) || err_nomem(err);
}

/* ---- The calls with padding ---- */

static bool mixes_rows(struct pad_checker *p, uint32_t node)
{
    p->node = node;
    return p->mixed = true;
}

/* Ends the run at the first call that mixes rows. */
static bool check_call(void *watcher, const struct backend_call *call, struct err *err)
{
    struct pad_checker *p = watcher;
    const struct backend_call *plain = p->next < p->calls.n ? &p->calls.v[p->next++] : NULL;
    if (!plain || plain->node != call->node || !str_eq(plain->op->name, call->op->name)) {
        buf_puts(&p->reason, "with padding the graph makes other calls");
        mixes_rows(p, call->node);
    } else {
        struct err ignored = { 0 };
        struct padded_call two = { .plain = { .call = plain, .err = &ignored },
                                   .padded = { .call = call, .err = &ignored },
                                   .facts = &p->facts };
        if (!padded_call_keeps_rows(&two, &p->reason))
            mixes_rows(p, call->node);
        else if (!padded_call_note(&two, &p->facts))
            err_nomem(err);
        arena_release(&two.plain.arena);
        arena_release(&two.padded.arena);
    }
    return !err_is_set(err) && (!p->mixed || err_set(err, ERR_USAGE, "rows are mixed"));
}

/* ---- Both runs ---- */

static struct run *watched_run(const struct graph *graph, const struct run_options *options,
                               struct pad_checker *p, struct err *err)
{
    struct run *run = run_new(graph, options, err);
    if (!run)
        return NULL;
    run->exec.watch = p->calls.n ? check_call : record_call;
    run->exec.watcher = p;
    return run;
}

static bool set_verdict(struct pad_checker *p, const struct err *why, struct arena *arena,
                        struct pad_verdict *ret, struct err *err)
{
    *ret = (struct pad_verdict){ .allowed = !p->mixed && !err_is_set(why),
                                 .mixes = p->mixed,
                                 .node = p->node };
    if (!ret->allowed && !p->mixed)
        buf_puts(&p->reason, why->text);
    ret->reason = arena_copy(arena, buf_str(&p->reason));
    return (!p->reason.failed && (ret->reason.p || !p->reason.n)) || err_nomem(err);
}

/* Makes the calls without padding, then those with padding. */
static bool check_runs(struct pad_checker *p, const struct graph *graph, struct run_options *plain,
                       const struct run_size *padded_sizes, struct arena *arena,
                       struct pad_verdict *ret, struct err *err)
{
    struct run_options padded = *plain;
    struct err why = { 0 };
    padded.sizes = padded_sizes;
    struct run *first = watched_run(graph, plain, p, err), *second = NULL;
    bool ok = first && run_execute(first, err);
    if (ok && p->calls.n) {
        second = watched_run(graph, &padded, p, &why);
        if (second && run_execute(second, &why) && p->next != p->calls.n) {
            buf_puts(&p->reason, "with padding the graph makes fewer calls");
            p->mixed = true;
        }
        if (why.kind == ERR_ENV)
            ok = err_set(err, ERR_ENV, "%s", why.text);
    }
    ok = ok && set_verdict(p, &why, arena, ret, err);
    run_free(second);
    run_free(first);
    return ok;
}

bool pad_check(const struct graph *graph, const struct run_options *options,
               const struct run_size *padded, struct arena *arena, struct pad_verdict *ret,
               struct err *err)
{
    const struct backend_kind *kind = backend_find(STR("null"));
    struct run_options plain = *options;
    struct pad_checker p = { .node = NODE_NONE };
    if (graph->n_children) {
        *ret =
            (struct pad_verdict){ .mixes = true,
                                  .node = NODE_NONE,
                                  .reason = STR("it has subgraphs, whose calls depend on values") };
        return true;
    }
    plain.backend = kind->open(err);
    plain.input = NULL;
    plain.node = NULL;
    plain.keep = false;
    plain.captures = false;
    plain.violated = options->violated ? run_ignore_violation : NULL;
    plain.refusal = NULL;
    bool ok = plain.backend && check_runs(&p, graph, &plain, padded, arena, ret, err);
    kind->close(plain.backend);
    vec_release(&p.calls);
    vec_release(&p.facts.not_negative);
    buf_release(&p.reason);
    arena_release(&p.arena);
    return ok;
}
