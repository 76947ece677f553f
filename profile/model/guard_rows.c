/* Counts guards by user line and class, by expression, and by symbol. */
#include "profile/model/build.h"
#include "trace/events/user_line.h"

struct guard_grouper {
    struct profile_build *b;
    struct intern exprs;       /* expression -> number */
    struct intern eval_exprs;  /* expression of a guard proper -> row in b->guard_exprs */
    struct intern rows;        /* (expression, kind, class, file, line) -> row in b->guard_rows */
    struct intern per_line;    /* (expression, file, line) that were counted */
    struct intern per_attempt; /* (input, attempt, expression) */
    struct intern symbols;     /* symbol -> row in b->guard_symbols */
    bool failed;               /* memory ran out in a callback */
};

struct guard_row_place {
    uint32_t file, line;
    struct str code;
};

static bool guard_place(struct guard_grouper *g, const struct build_input *in,
                        const struct guard *guard, struct guard_row_place *ret)
{
    const struct trace *trace = in->trace;
    uint32_t recording = trace->records[guard->record].recording;
    stack_id frame_id = user_line(trace, recording, guard->user_stack);
    *ret = (struct guard_row_place){ PROFILE_NONE, 0, STR("") };
    if (frame_id == 0)
        return true;
    struct frame frame = stack_frame(trace, recording, frame_id);
    *ret = (struct guard_row_place){ build_name(g->b, frame.file), frame.line, frame.code };
    return ret->file != INTERN_NONE;
}

/* Adds a key and sets *fresh if it is new; returns false when memory ran out. */
static bool is_fresh(struct intern *seen, struct str key, bool *fresh)
{
    size_t before = seen->texts.n;
    uint32_t id = intern(seen, key);
    *fresh = id != INTERN_NONE && id == before;
    return id != INTERN_NONE;
}

static bool count_row(struct guard_grouper *g, const struct guard *guard,
                      const struct guard_row_place *place, uint32_t expr, bool kept)
{
    uint32_t row =
        intern(&g->rows, BUILD_KEY(expr, guard->kind, guard->asked_by, place->file, place->line));
    if (row == INTERN_NONE)
        return false;
    struct guard_row fresh = {
        .expr = guard->expr,
        .kind = guard->kind,
        .asked_by = guard->asked_by,
        .file = place->file,
        .line = place->line,
        .code = place->code,
    };
    if (row == g->b->guard_rows.n && !vec_push(&g->b->guard_rows, fresh))
        return false;
    g->b->guard_rows.v[row].count++;
    g->b->guard_rows.v[row].kept += kept;
    return true;
}

static bool count_expr(struct guard_grouper *g, const struct guard_row_place *place,
                       struct str text, uint32_t expr, bool kept)
{
    bool new_line;
    if (expr == g->b->guard_exprs.n && !vec_push(&g->b->guard_exprs, (struct guard_expr){ text }))
        return false;
    if (!is_fresh(&g->per_line, BUILD_KEY(expr, place->file, place->line), &new_line))
        return false;
    struct guard_expr *row = &g->b->guard_exprs.v[expr];
    row->count++;
    row->kept += kept;
    row->n_lines += new_line;
    return true;
}

static void count_symbol(void *user, struct str symbol)
{
    struct guard_grouper *g = user;
    uint32_t row = intern(&g->symbols, symbol);
    if (row == INTERN_NONE ||
        (row == g->b->guard_symbols.n &&
         !vec_push(&g->b->guard_symbols,
                   (struct guard_symbol){ arena_copy(&g->b->arena, symbol), 0 })) ||
        !g->b->guard_symbols.v[row].symbol.p) {
        g->failed = true;
        return;
    }
    g->b->guard_symbols.v[row].guards++;
}

/* Counts a guard that is neither suppressed nor deferred. */
static bool count_guard(struct guard_grouper *g, uint32_t input, const struct guard *guard,
                        const struct guard_row_place *place)
{
    struct profile_guards *all = &g->b->profile.guards;
    bool kept = build_kept(&g->b->inputs[input], guard->attempt), fresh;
    uint32_t expr = intern(&g->eval_exprs, guard->expr);
    if (expr == INTERN_NONE ||
        !is_fresh(&g->per_attempt, BUILD_KEY(input, guard->attempt, expr), &fresh) ||
        !count_expr(g, place, guard->expr, expr, kept))
        return false;
    all->by_class[guard->asked_by]++;
    all->kept += kept;
    all->longest = guard->expr.n > all->longest ? guard->expr.n : all->longest;
    all->duplicates += !fresh;
    guard_symbols(guard->expr, count_symbol, g);
    return !g->failed;
}

static bool group_guard(struct guard_grouper *g, uint32_t input, const struct guard *guard)
{
    const struct build_input *in = &g->b->inputs[input];
    struct str asked = g->b->profile.options.file;
    struct guard_row_place place;
    uint32_t expr = intern(&g->exprs, guard->expr);
    if (expr == INTERN_NONE || !guard_place(g, in, guard, &place))
        return false;
    if (asked.n > 0 &&
        (place.file == PROFILE_NONE ||
         str_find(build_text(g->b, place.file), asked) == build_text(g->b, place.file).n))
        return true;
    g->b->profile.guards.by_kind[guard->kind]++;
    return count_row(g, guard, &place, expr, build_kept(in, guard->attempt)) &&
           (guard->kind != GUARD_EVAL || count_guard(g, input, guard, &place));
}

static int rows_by_count(const void *a, const void *b)
{
    const struct guard_row *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    int order = str_cmp(x->expr, y->expr);
    if (order != 0)
        return order;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->kind != y->kind ? (int)x->kind - (int)y->kind : (int)x->asked_by - (int)y->asked_by;
}

static int rows_by_expr(const void *a, const void *b)
{
    const struct guard_row *x = a, *y = b;
    int order = str_cmp(x->expr, y->expr);
    return order ? order : rows_by_count(a, b);
}

static int exprs_by_count(const void *a, const void *b)
{
    const struct guard_expr *x = a, *y = b;
    return x->count != y->count ? (x->count > y->count ? -1 : 1) : str_cmp(x->expr, y->expr);
}

static int symbols_by_count(const void *a, const void *b)
{
    const struct guard_symbol *x = a, *y = b;
    return x->guards != y->guards ? (x->guards > y->guards ? -1 : 1)
                                  : str_cmp(x->symbol, y->symbol);
}

static void publish_guard_rows(struct profile_build *b)
{
    struct profile_guards *all = &b->profile.guards;
    if (b->guard_rows.n > 0)
        qsort(b->guard_rows.v, b->guard_rows.n, sizeof *b->guard_rows.v,
              b->profile.options.sort == PROFILE_BY_NAME ? rows_by_expr : rows_by_count);
    if (b->guard_exprs.n > 0)
        qsort(b->guard_exprs.v, b->guard_exprs.n, sizeof *b->guard_exprs.v, exprs_by_count);
    if (b->guard_symbols.n > 0)
        qsort(b->guard_symbols.v, b->guard_symbols.n, sizeof *b->guard_symbols.v, symbols_by_count);
    all->rows = b->guard_rows.v;
    all->n_rows = (uint32_t)b->guard_rows.n;
    all->exprs = b->guard_exprs.v;
    all->n_exprs = (uint32_t)b->guard_exprs.n;
    all->symbols = b->guard_symbols.v;
    all->n_symbols = (uint32_t)b->guard_symbols.n;
}

bool build_guards(struct profile_build *b, struct err *err)
{
    struct guard_grouper g = { .b = b };
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->profile.n_traces; i++) {
        const struct guard_list *guards = b->inputs[i].guards;
        for (uint32_t k = 0; ok && k < guards->n; k++)
            if (build_takes(b, &b->inputs[i], guards->guards[k].record))
                ok = group_guard(&g, i, &guards->guards[k]);
    }
    intern_release(&g.exprs);
    intern_release(&g.eval_exprs);
    intern_release(&g.rows);
    intern_release(&g.per_line);
    intern_release(&g.per_attempt);
    intern_release(&g.symbols);
    publish_guard_rows(b);
    return ok || err_nomem(err);
}
