#include "profile/model/cost_model/cost_lines.h"

#include "profile/model/build.h"

/* What a line has of what the time grows with. */
struct line_amounts {
    double calls, sizes, guards, dispatches;
};

static struct line_amounts amounts_of(const struct profile_line *line)
{
    return (struct line_amounts){ .calls = (double)profile_line_nodes(line),
                                  .sizes = (double)line->cost.symbolic_tensors,
                                  .guards = (double)line->guards,
                                  .dispatches = (double)line->cost.dispatches };
}

static double share(double ns, double amount, double all)
{
    return all > 0 ? ns * amount / all : 0;
}

/* The first compile and inputs of graphs are no line's. */
static double explain(const struct cost_shares *traced, struct line_amounts of,
                      struct line_amounts all)
{
    const double *ns = traced->term_ns;
    return share(traced->dispatch_ns, of.dispatches, all.dispatches) +
           share(ns[COST_TERM_UNIT] + ns[COST_TERM_JOINT], of.calls, all.calls) +
           share(ns[COST_TERM_SIZE], of.sizes, all.sizes) +
           share(ns[COST_TERM_GUARD] + ns[COST_TERM_LONG], of.guards, all.guards);
}

static int64_t size_of(const struct cost_line *row)
{
    return row->unexplained_ns < 0 ? -row->unexplained_ns : row->unexplained_ns;
}

static int by_size(const void *a, const void *b)
{
    const struct cost_line *x = a, *y = b;
    int order = build_descending(size_of(x), size_of(y));
    return order ? order : build_descending(y->line, x->line);
}

static struct line_amounts sum_of(const struct profile_lines *lines)
{
    struct line_amounts ret = { 0 };
    for (uint32_t i = 0; i < lines->n_lines; i++) {
        struct line_amounts of = amounts_of(&lines->lines[i]);
        ret.calls += of.calls;
        ret.sizes += of.sizes;
        ret.guards += of.guards;
        ret.dispatches += of.dispatches;
    }
    return ret;
}

/* Returns the median of how much longer lines took than units make of them, each by its weight.
 * `samples` has room for all lines. */
static double median_factor(const struct profile_lines *lines, const struct cost_shares *traced,
                            struct line_amounts all, struct cost_sample *samples)
{
    for (uint32_t i = 0; i < lines->n_lines; i++)
        samples[i] = (struct cost_sample){
            .amount = { [COST_TERM_UNIT] = explain(traced, amounts_of(&lines->lines[i]), all) },
            .ns = (double)lines->lines[i].ns,
        };
    struct cost_unit unit = cost_fit_ratio(samples, lines->n_lines);
    return unit.n ? unit.ns : 1;
}

bool find_unexplained_lines(struct profile_build *b, const struct cost_shares *traced,
                            struct err *err)
{
    const struct profile_lines *lines = &b->profile.lines;
    struct cost_model *model = &b->profile.cost_model;
    if (model->fitted || lines->basis != LINES_ESTIMATED || !lines->n_lines)
        return true;
    struct cost_line *rows = arena_array(&b->arena, struct cost_line, lines->n_lines);
    struct cost_sample *samples = calloc(lines->n_lines, sizeof *samples);
    if (!rows || !samples) {
        free(samples);
        return err_nomem(err);
    }
    struct line_amounts all = sum_of(lines);
    double longer = median_factor(lines, traced, all, samples);
    for (uint32_t i = 0; i < lines->n_lines; i++) {
        const struct profile_line *line = &lines->lines[i];
        int64_t expected = cost_whole_ns(longer * explain(traced, amounts_of(line), all));
        rows[i] = (struct cost_line){ i, line->ns, expected, line->ns - expected };
    }
    free(samples);
    qsort(rows, lines->n_lines, sizeof *rows, by_size);
    model->lines = rows;
    model->n_lines = lines->n_lines;
    return true;
}
