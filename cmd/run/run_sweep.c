/* Runs a graph at many sizes. Neighboring sizes with the same outcome are reported as one region.
 */
#include <ctype.h>

#include "cmd/run/run_session.h"
#include "cmd/run/size_regions.h"
#include "trace/base/intern.h"

/* Sizes with the same outcome. Messages that differ only in numbers are the same. */
struct outcome_class {
    enum run_outcome kind;
    struct str text;      /* of the first of them */
    node_id node, origin; /* the first that differs; NODE_NONE */
    struct str output;
};

struct size_sweep {
    struct session *session;
    const struct graph *graph;
    struct intern keys; /* numbers of classes */
    vec_of(struct outcome_class)
    classes;
    uint32_t *outcomes; /* by point */
    size_t done;        /* points that were run */
    struct buf name;
    struct arena arena;
};

static const struct compared *bad_output(const struct comparison *c)
{
    for (size_t i = 0; i < c->outputs.n; i++) {
        enum match match = c->outputs.v[i].match;
        if (match == MATCH_DIFFERS || match == MATCH_FOLLOWS || match == MATCH_MISSING)
            return &c->outputs.v[i];
    }
    return NULL;
}

static struct outcome_class classify_run(const struct graph_run *g, struct buf *text)
{
    struct outcome_class ret = { .kind = graph_run_outcome(g), .node = NODE_NONE };
    const struct compared *output = bad_output(&g->comparison), *first;
    if (err_is_set(&g->err))
        buf_puts(text, g->err.text);
    if (ret.kind != RUN_DIFFERS)
        return ret;
    first = comparison_first(&g->comparison);
    ret.node = first ? first->node : NODE_NONE;
    ret.origin = first ? first->origin : NODE_NONE;
    if (output) {
        buf_put(text, output->name);
        ret.output = output->name;
    }
    if (first) {
        buf_puts(text, output ? ", first node " : "node ");
        run_print_node(g->graph, first->node, first->origin, text);
    }
    return ret;
}

/* Makes the key of an outcome. Numbers in messages become "#", so that "17 elements" and "18
 * elements" have the same key. */
static void make_key(const struct outcome_class *class, struct str text, struct buf *key)
{
    buf_printf(key, "%d", class->kind);
    for (size_t i = 0; i < text.n; i++) {
        bool digit = isdigit((unsigned char)text.p[i]);
        if (class->kind == RUN_REFUSED || class->kind == RUN_FAILED) {
            bool again = i && isdigit((unsigned char)text.p[i - 1]);
            if (digit && again)
                continue;
            buf_putc(key, digit ? '#' : text.p[i]);
        } else {
            buf_putc(key, text.p[i]);
        }
    }
}

static bool note_outcome(struct size_sweep *sweep, const struct graph_run *g, size_t point,
                         struct err *err)
{
    struct buf text = BUF_INIT, key = BUF_INIT;
    struct outcome_class class = classify_run(g, &text);
    make_key(&class, buf_str(&text), &key);
    uint32_t number = key.failed ? INTERN_NONE : intern(&sweep->keys, buf_str(&key));
    bool ok = number != INTERN_NONE && !text.failed;
    if (ok && number == sweep->classes.n) {
        class.text = arena_copy(&sweep->arena, buf_str(&text));
        class.output = arena_copy(&sweep->arena, class.output.p ? class.output : STR(""));
        ok = class.text.p && class.output.p && vec_push(&sweep->classes, class);
    }
    sweep->outcomes[point] = number;
    buf_release(&text);
    buf_release(&key);
    return ok || err_nomem(err);
}

static bool run_points(struct size_sweep *sweep, uint32_t ref, struct err *err)
{
    struct session *s = sweep->session;
    bool ok = true;
    for (size_t i = 0; ok && i < s->grid.n && !session_stopped(s); i++) {
        struct graph_run g;
        out_progress(s->cmd->out, "%zu of %zu sizes", i, s->grid.n);
        graph_run_execute(&g, s, ref, i);
        graph_run_count(&g);
        if (i == 0)
            buf_put(&sweep->name, buf_str(&g.name));
        sweep->graph = g.graph;
        if (g.misused)
            *err = g.err;
        ok = !g.misused && note_outcome(sweep, &g, i, err);
        sweep->done = i + 1;
        graph_run_release(&g);
    }
    out_progress_end(s->cmd->out);
    return ok;
}

/* ---- The report ---- */

static void print_region(struct size_sweep *sweep, const struct size_region *region,
                         struct buf *out)
{
    const struct outcome_class *class = &sweep->classes.v[region->outcome];
    buf_puts(out, "  ");
    size_region_print(&sweep->session->grid, region, out);
    buf_printf(out, ": %s%s",
               class->kind == RUN_AGREES && !sweep->session->args->compare
                   ? "runs"
                   : run_outcome_name(class->kind),
               class->text.n ? ": " : "");
    buf_put(out, class->text);
    if (region->n > 1)
        buf_printf(out, " (%zu sizes)", region->n);
    buf_putc(out, '\n');
}

static uint32_t rows_limit(const struct session *s, size_t n)
{
    uint64_t limit = s->args->limit.given ? s->args->limit.value : 20;
    return limit && limit < n ? (uint32_t)limit : (uint32_t)n;
}

/* Prints the regions that do not run or agree first. */
static void print_regions(struct size_sweep *sweep, const struct size_regions *regions)
{
    struct session *s = sweep->session;
    size_t shown = 0, limit = rows_limit(s, regions->list.n);
    buf_put(&s->text, buf_str(&sweep->name));
    buf_printf(&s->text, ": %zu sizes\n", sweep->done);
    for (int fine = 0; fine < 2; fine++)
        for (size_t i = 0; i < regions->list.n && shown < limit; i++) {
            const struct size_region *region = &regions->list.v[i];
            if ((sweep->classes.v[region->outcome].kind == RUN_AGREES) == (fine == 1)) {
                print_region(sweep, region, &s->text);
                shown++;
            }
        }
    if (shown < regions->list.n)
        buf_printf(&s->text, "  ... and %zu regions more; -n 0 shows all\n",
                   regions->list.n - shown);
}

static void json_bounds(struct json_writer *w, const struct size_grid *grid,
                        const struct size_region *region)
{
    json_open_array(w, "sizes");
    for (size_t i = 0; i < grid->n_symbols; i++) {
        int64_t low = size_grid_row(grid, region->first)[i];
        if (low == GRID_ANY)
            continue;
        json_open_object(w, NULL);
        json_put_str(w, "symbol", grid->symbols[i]);
        json_put_i64(w, "min", low);
        json_put_i64(w, "max", size_grid_row(grid, region->last)[i]);
        json_close(w);
    }
    json_close(w);
}

static void json_regions(struct size_sweep *sweep, uint32_t ref, const struct size_regions *regions)
{
    struct session *s = sweep->session;
    struct json_writer *w = &s->writer;
    size_t limit = rows_limit(s, regions->list.n);
    json_open_object(w, NULL);
    run_json_name(s, ref, &sweep->name);
    json_put_u64(w, "runs", sweep->done);
    json_put_u64(w, "n_regions", regions->list.n);
    json_open_array(w, "regions");
    for (size_t i = 0; i < limit; i++) {
        const struct size_region *region = &regions->list.v[i];
        const struct outcome_class *class = &sweep->classes.v[region->outcome];
        json_open_object(w, NULL);
        json_bounds(w, &s->grid, region);
        json_put_u64(w, "runs", region->n);
        json_put_cstr(w, "outcome", run_outcome_name(class->kind));
        json_put_str(w, "text", class->text);
        if (class->node != NODE_NONE && sweep->graph)
            run_json_node(w, sweep->graph, class->node, class->origin);
        json_close(w);
    }
    json_close(w);
    json_close(w);
}

static int sweep_exit_code(const struct size_sweep *sweep)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < sweep->classes.n; i++)
        if (sweep->classes.v[i].kind == RUN_FAILED)
            return EXIT_ENV;
        else if (sweep->classes.v[i].kind != RUN_AGREES)
            code = EXIT_DIFFERS;
    return sweep->done < sweep->session->grid.n ? EXIT_INTERRUPTED : code;
}

int run_sweep(struct session *s, uint32_t ref)
{
    struct size_sweep sweep = { .session = s };
    struct size_regions regions = { 0 };
    struct err err = { 0 };
    sweep.outcomes = arena_array(&sweep.arena, uint32_t, s->grid.n + 1);
    bool ok = (sweep.outcomes || err_nomem(&err)) && run_points(&sweep, ref, &err);
    size_t all = s->grid.n;
    s->grid.n = sweep.done;
    ok = ok && size_regions_find(&s->grid, sweep.outcomes, &regions, &err);
    if (ok && s->args->json)
        json_regions(&sweep, ref, &regions);
    else if (ok)
        print_regions(&sweep, &regions);
    s->grid.n = all;
    int code = ok ? sweep_exit_code(&sweep) : out_error(s->cmd->out, &err);
    size_regions_release(&regions);
    intern_release(&sweep.keys);
    vec_release(&sweep.classes);
    buf_release(&sweep.name);
    arena_release(&sweep.arena);
    return code;
}
