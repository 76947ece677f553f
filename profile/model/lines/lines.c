#include "profile/model/lines/line_table.h"

struct sort_line {
    struct profile_line line;
    struct str file;
};

static int compare_lines_by_place(const void *a, const void *b)
{
    const struct sort_line *x = a, *y = b;
    int order = str_cmp(x->file, y->file);
    return order ? order : build_descending(y->line.line, x->line.line);
}

static int by_nodes(const void *a, const void *b)
{
    const struct sort_line *x = a, *y = b;
    int order = build_descending((int64_t)profile_line_nodes(&x->line),
                                 (int64_t)profile_line_nodes(&y->line));
    return order ? order : compare_lines_by_place(a, b);
}

static int by_guards(const void *a, const void *b)
{
    const struct sort_line *x = a, *y = b;
    int order = build_descending((int64_t)x->line.guards, (int64_t)y->line.guards);
    return order ? order : by_nodes(a, b);
}

static int by_symbols(const void *a, const void *b)
{
    const struct sort_line *x = a, *y = b;
    int order = build_descending((int64_t)x->line.symbols, (int64_t)y->line.symbols);
    return order ? order : by_guards(a, b);
}

static uint64_t line_dispatches(const struct line_cost *cost)
{
    return cost->real_dispatches ? cost->real_dispatches : cost->dispatches;
}

static int by_dispatches(const void *a, const void *b)
{
    const struct sort_line *x = a, *y = b;
    int order = build_descending((int64_t)line_dispatches(&x->line.cost),
                                 (int64_t)line_dispatches(&y->line.cost));
    return order ? order : by_guards(a, b);
}

static int by_exprs(const void *a, const void *b)
{
    const struct sort_line *x = a, *y = b;
    int order = build_descending((int64_t)x->line.cost.exprs, (int64_t)y->line.cost.exprs);
    return order ? order : by_guards(a, b);
}

static int compare_lines_by_time(const void *a, const void *b)
{
    const struct sort_line *x = a, *y = b;
    int order = build_descending(x->line.ns, y->line.ns);
    order = order ? order : build_descending(x->line.estimated_ns, y->line.estimated_ns);
    return order ? order : by_guards(a, b);
}

static int (*order_of(enum profile_sort sort))(const void *, const void *)
{
    switch (sort) {
    case PROFILE_BY_CALLS: return by_nodes;
    case PROFILE_BY_GUARDS: return by_guards;
    case PROFILE_BY_SYMBOLS: return by_symbols;
    case PROFILE_BY_NAME: return compare_lines_by_place;
    case PROFILE_BY_DISPATCHES: return by_dispatches;
    case PROFILE_BY_EXPRS: return by_exprs;
    default: return compare_lines_by_time;
    }
}

static bool sort_lines(struct profile_build *b, struct profile_line *lines, size_t n)
{
    struct sort_line *rows = calloc(n + 1, sizeof *rows);
    if (!rows)
        return false;
    for (uint32_t i = 0; i < n; i++)
        rows[i] = (struct sort_line){ lines[i], build_text(b, lines[i].file) };
    qsort(rows, n, sizeof *rows, order_of(b->profile.options.sort));
    for (uint32_t i = 0; i < n; i++)
        lines[i] = rows[i].line;
    free(rows);
    return true;
}

/* Bounds a line's share of all lines, to which the unplaced time belongs, too. */
static void bound_line(const struct profile_lines *all, struct profile_line *line)
{
    double total = (double)all->total_ns, lines = total + (double)all->unplaced_ns;
    if (line->high_ns > all->total_ns)
        line->high_ns = all->total_ns;
    if (all->unplaced_ns > 0)
        line->low_ns = (int64_t)((double)line->low_ns * (total / lines));
}

/* Sets the time of each line: a recorded time if there is any, else the estimate. */
static void choose_basis(struct profile_build *b)
{
    struct profile_lines *all = &b->profile.lines;
    all->basis = b->profile.costs.self_ns > 0 ? LINES_MEASURED : LINES_ESTIMATED;
    for (size_t i = 0; i < b->lines.n; i++) {
        struct profile_line *line = &b->lines.v[i];
        if (all->basis == LINES_MEASURED)
            line->ns = line->low_ns = line->high_ns = line->cost.self_ns;
        else
            line->ns = line->estimated_ns;
        build_add_ns(&all->total_ns, line->ns);
    }
    for (size_t i = 0; all->basis == LINES_ESTIMATED && i < b->lines.n; i++)
        bound_line(all, &b->lines.v[i]);
}

bool build_lines(struct profile_build *b, struct err *err)
{
    struct line_table table = { .b = b };
    struct profile_lines *all = &b->profile.lines;
    bool ok = operators_count(b, &table, err) && line_times_estimate(b, &table, err) &&
              line_costs(b, &table, err) && lines_memory(b, &table, err);
    line_table_release(&table);
    choose_basis(b);
    if (ok && (!sort_lines(b, b->lines.v, b->lines.n) ||
               !sort_lines(b, b->library_lines.v, b->library_lines.n)))
        ok = err_nomem(err);
    all->lines = b->lines.v;
    all->n_lines = (uint32_t)b->lines.n;
    all->library_lines = b->library_lines.v;
    all->n_library_lines = (uint32_t)b->library_lines.n;
    return ok;
}

const struct profile_line *profile_slowest_line(const struct profile *profile)
{
    enum { WIDEST = 50 }; /* points between the bounds of what is worth a headline */
    const struct profile_lines *all = &profile->lines;
    const struct profile_line *top = NULL;
    int64_t second = 0; /* what the next line took */
    for (uint32_t i = 0; i < all->n_lines; i++)
        if (!top || all->lines[i].ns > top->ns)
            top = &all->lines[i];
    for (uint32_t i = 0; i < all->n_lines; i++)
        if (&all->lines[i] != top && all->lines[i].ns > second)
            second = all->lines[i].ns;
    bool known =
        top &&
        (all->basis == LINES_MEASURED ||
         (top->low_ns >= second && (top->high_ns - top->low_ns) / WIDEST <= all->total_ns / 100));
    return known && top->low_ns > 0 && top->low_ns >= all->total_ns / 10 ? top : NULL;
}
