#include <stdlib.h>

#include "profile/report/replay/replay_fields.h"
#include "profile/report/replay/replay_runs.h"
#include "trace/base/text/json_write.h"

/* Calls `emit` for guards and replacements of one replay that another replay of the same attempts
 * does not have. */
typedef void emit(void *user, const struct replay_trail *trail);

static int compare_trails(const void *a, const void *b)
{
    const struct replay_trail *x = *(const struct replay_trail *const *)a;
    const struct replay_trail *y = *(const struct replay_trail *const *)b;
    if (x->attempt != y->attempt)
        return x->attempt < y->attempt ? -1 : 1;
    if (x->replacement != y->replacement)
        return x->replacement ? 1 : -1;
    return str_cmp(x->text, y->text);
}

static const struct replay_trail **sort_trails(const struct replay *replay)
{
    const struct replay_trail **ret = malloc((replay->n_trails + 1) * sizeof *ret);
    for (size_t i = 0; ret && i < replay->n_trails; i++)
        ret[i] = &replay->trails[i];
    if (ret)
        qsort(ret, replay->n_trails, sizeof *ret, compare_trails);
    return ret;
}

static bool each_missing(const struct replay *of, const struct replay *in, bool replacements,
                         emit *fn, void *user)
{
    const struct replay_trail **known = sort_trails(in);
    for (size_t i = 0; known && i < of->n_trails; i++) {
        const struct replay_trail *trail = &of->trails[i];
        if (trail->replacement == replacements &&
            !bsearch(&trail, known, in->n_trails, sizeof *known, compare_trails))
            fn(user, trail);
    }
    free(known);
    return known != NULL;
}

/* Returns the next difference of `other` that the replay with the recorded hints does not have. */
static const struct replay_difference *next_changed(const struct replay *base,
                                                    const struct replay *other, size_t *i)
{
    for (; *i < other->n_differences; ++*i) {
        const struct replay_difference *d = &other->differences[*i];
        bool known = false;
        for (size_t k = 0; k < base->n_differences && !known; k++)
            known = base->differences[k].ref == d->ref &&
                    str_eq(base->differences[k].graph, d->graph) &&
                    str_eq(base->differences[k].node, d->node) &&
                    str_eq(base->differences[k].replayed, d->replayed);
        if (!known)
            return &other->differences[(*i)++];
    }
    return NULL;
}

struct text_emit {
    const struct replay_report *report;
    struct buf *out;
    const char *sign;
    uint64_t n;
};

static void emit_text(void *user, const struct replay_trail *trail)
{
    struct text_emit *e = user;
    buf_printf(e->out, "  %s ", e->sign);
    if (trail->attempt != TRACE_NONE)
        buf_printf(e->out, "%.*s_%u  ", STR_ARG(e->report->trace->attempts[trail->attempt].compile),
                   e->report->trace->attempts[trail->attempt].number);
    buf_put(e->out, trail->text);
    buf_putc(e->out, '\n');
    e->n++;
}

void replay_hints_text(const struct replay_report *report, const struct replay *other,
                       const struct report_options *how, struct buf *out)
{
    const struct replay *base = report->replay;
    struct text_emit gone = { report, out, "-", 0 }, added = { report, out, "+", 0 };
    static const char *const titles[] = { "guards\n", "specializations and replacements\n" };
    bool any = other->n_branches > 0;
    replay_branches_text(report, other, out);
    for (int r = 0; r < 2; r++) {
        size_t at = out->n;
        gone.n = added.n = 0;
        buf_puts(out, titles[r]);
        if (!each_missing(base, other, r == 1, emit_text, &gone) ||
            !each_missing(other, base, r == 1, emit_text, &added))
            out->failed = true;
        if (gone.n + added.n == 0)
            out->n = at;
        any |= gone.n + added.n > 0;
    }
    size_t i = 0;
    uint32_t n = 0;
    const struct replay_difference *d;
    while ((d = next_changed(base, other, &i))) {
        if (n++ == 0)
            buf_puts(out, "results\n");
        if (how->limit && n > how->limit)
            continue;
        buf_puts(out, "  ");
        replay_graph_name(report, d->ref, out);
        buf_printf(out, " %.*s: %.*s\n    - %.*s\n    + %.*s\n", STR_ARG(d->node), STR_ARG(d->op),
                   STR_ARG(d->recorded), STR_ARG(d->replayed));
    }
    if (how->limit && n > how->limit)
        buf_printf(out, "  and %u more\n", n - how->limit);
    if (!any && n == 0)
        buf_puts(out, "nothing changes\n");
}

struct json_emit {
    const struct replay_report *report;
    struct json_writer *w;
};

static void emit_json(void *user, const struct replay_trail *trail)
{
    struct json_emit *e = user;
    json_open_object(e->w, NULL);
    if (trail->attempt != TRACE_NONE) {
        json_put_str(e->w, "compile", e->report->trace->attempts[trail->attempt].compile);
        json_put_u64(e->w, "attempt", e->report->trace->attempts[trail->attempt].number);
    }
    json_put_str(e->w, "expr", trail->text);
    json_close(e->w);
}

void replay_hints_json(const struct replay_report *report, const struct replay *other,
                       struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    struct json_emit e = { report, &w };
    const struct replay *base = report->replay;
    static const char *const titles[] = { "guards", "replacements" };
    json_open_object(&w, NULL);
    json_put_str(&w, "schema", STR("symtape.replay/1"));
    json_open_object(&w, "hints");
    struct rows branches = ROWS(other->branches, (uint32_t)other->n_branches);
    fields_json_rows(&w, "branches", &replay_branch_fields, report, &branches, 0);
    for (int r = 0; r < 2; r++) {
        json_open_object(&w, titles[r]);
        json_open_array(&w, "gone");
        out->failed |= !each_missing(base, other, r == 1, emit_json, &e);
        json_close(&w);
        json_open_array(&w, "new");
        out->failed |= !each_missing(other, base, r == 1, emit_json, &e);
        json_close(&w);
        json_close(&w);
    }
    json_open_array(&w, "results");
    size_t i = 0;
    const struct replay_difference *d;
    while ((d = next_changed(base, other, &i))) {
        json_open_object(&w, NULL);
        json_put_str(&w, "graph", report->list->refs[d->ref].name);
        json_put_str(&w, "node", d->node);
        json_put_str(&w, "op", d->op);
        json_put_str(&w, "recorded", d->recorded);
        json_put_str(&w, "replayed", d->replayed);
        json_close(&w);
    }
    json_close(&w);
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
}
