/* Compares graphs: their inputs and outputs, their nodes by user line, and operators by level. */
#include <stdlib.h>

#include "profile/compare/compare_build.h"

static const struct change_place NOWHERE = { { "", 0 }, { "", 0 }, { "", 0 }, 0 };

static struct change_row graph_change_row(enum change_kind kind, enum change change,
                                          struct str level, struct str compile)
{
    return (struct change_row){
        .kind = kind,
        .change = change,
        .level = level,
        .what = STR(""),
        .was = STR(""),
        .now = STR(""),
        .more = STR(""),
        .compile = compile,
        .before_ns = -1,
        .after_ns = -1,
        .place = NOWHERE,
        .old_place = NOWHERE,
    };
}

/* Returns the level of a pair of graphs: "forward", "backward/cond_true_0", or "inference, forward"
 * if their kinds differ. */
static struct str graph_level_text(struct compare_build *b, const struct outline_graph *x,
                                   const struct outline_graph *y)
{
    const struct outline_graph *g = y ? y : x;
    const struct outline *o = y ? b->b : b->a;
    const char *kind = graph_kind_name((enum graph_kind)g->kind);
    buf_clear(&b->text);
    if (x && y && x->kind != y->kind)
        buf_printf(&b->text, "%s, now ", graph_kind_name((enum graph_kind)x->kind));
    buf_puts(&b->text, kind);
    buf_put(&b->text, outline_text(o, g->path));
    return compare_keep(b, &b->text);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static bool has_op(const struct outline *o, const struct outline_form *form, const char *op)
{
    return !form->is_call && str_is(outline_text(o, form->op), op);
}

/* Returns whether a node is an input with a name, or a result of an exported program. */
static bool is_leaf(const struct outline *o, const struct outline_form *form)
{
    return form->args && (has_op(o, form, "placeholder") || has_op(o, form, "result"));
}

/* Returns the detail of a node that a report shows beside its operator: an input's name, for
 * example. */
static struct str node_detail(const struct outline *o, const struct outline_form *form)
{
    return outline_text(o, is_leaf(o, form) ? form->args : form->op);
}

static bool add_lone_node(struct compare_build *b, uint32_t node, bool is_new, struct str level,
                          struct str compile, uint32_t attempt)
{
    const struct outline *o = is_new ? b->b : b->a;
    const struct outline_form *form = outline_form_of(o, node);
    struct change_row row =
        graph_change_row(CHANGE_NODES, is_new ? CHANGE_NEW : CHANGE_GONE, level, compile);
    if (has_op(o, form, "output"))
        return true;
    row.what = node_detail(o, form);
    row.more = outline_text(o, form->shown);
    row.place = compare_place(o, form->line);
    *(is_new ? &row.after : &row.before) = 1;
    return compare_add(b, &row, attempt);
}

/* Sets what changed in a node's meta. Where the printed metas are equal, their symbols have other
 * sources, and the metas are shown with these. */
static void put_meta_change(const struct compare_build *b, const struct outline_form *x,
                            const struct outline_form *y, struct change_row *row)
{
    row->was = outline_text(b->a, x->shown);
    row->now = outline_text(b->b, y->shown);
    if (str_eq(row->was, row->now)) {
        row->was = outline_text(b->a, x->meta);
        row->now = outline_text(b->b, y->meta);
    }
}

/* Sets how an input or result with another name or path changed: where its meta did, too, that is
 * told with the name. */
static bool put_leaf_change(struct compare_build *b, const struct outline_form *x,
                            const struct outline_form *y, struct change_row *row)
{
    struct str *texts[] = { &row->was, &row->now };
    const struct outline *sides[] = { b->a, b->b };
    const struct outline_form *forms[] = { x, y };
    put_meta_change(b, x, y, row);
    bool same = str_eq(outline_text(b->a, x->shown), outline_text(b->b, y->shown));
    for (int i = 0; i < 2; i++) {
        buf_clear(&b->text);
        buf_put(&b->text, outline_text(sides[i], forms[i]->args));
        if (!same) {
            buf_putc(&b->text, ' ');
            buf_put(&b->text, *texts[i]);
        }
        *texts[i] = compare_keep(b, &b->text);
    }
    return row->was.p && row->now.p;
}

static bool add_changed_node(struct compare_build *b, const struct align_pair *pair,
                             struct str level, struct str compile, uint32_t attempt)
{
    const struct outline_form *x = outline_form_of(b->a, pair->a);
    const struct outline_form *y = outline_form_of(b->b, pair->b);
    struct change_row row = graph_change_row(CHANGE_NODES, CHANGE_CHANGED, level, compile);
    if (has_op(b->b, y, "output") && !(pair->change & ALIGN_INPUTS))
        return true; /* the number of outputs is compared with the graph's inputs and outputs */
    row.what = node_detail(b->b, y);
    row.place = compare_place(b->b, y->line);
    row.before = row.after = 1;
    if (pair->change & ALIGN_LINE)
        row.old_place = compare_place(b->a, x->line);
    if ((pair->change & ALIGN_ARGS) && is_leaf(b->a, x) && is_leaf(b->b, y)) {
        if (!put_leaf_change(b, x, y, &row))
            return false;
    } else if (pair->change & ALIGN_META) {
        put_meta_change(b, x, y, &row);
    } else if (pair->change & ALIGN_ARGS) {
        row.was = outline_text(b->a, x->args);
        row.now = outline_text(b->b, y->args);
    } else if (pair->change & ALIGN_INPUTS) {
        row.more = STR("uses different results");
    }
    return compare_add(b, &row, attempt);
}

/* ---- shapes --------------------------------------------------------------------------------- */

static bool put_change(struct buf *out, const char *what, uint32_t was, uint32_t now)
{
    if (was == now)
        return false;
    buf_printf(out, "%s%s %u, now %u", out->n ? "; " : "", what, was, now);
    return true;
}

/* Counts the nodes of a graph; the results of a program are one node of it. */
static uint32_t count_nodes(const struct outline *o, const struct outline_graph *g)
{
    uint32_t n_results = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        n_results += has_op(o, outline_form_of(o, g->first_node + i), "result");
    return g->n_nodes - n_results + (n_results > 0);
}

static bool add_shape(struct compare_build *b, const struct outline_graph *x,
                      const struct outline_graph *y, struct str level, struct str compile,
                      uint32_t attempt)
{
    struct change_row row = graph_change_row(CHANGE_GRAPHS, CHANGE_CHANGED, level, compile);
    row.what = STR("nodes");
    row.before = count_nodes(b->a, x);
    row.after = count_nodes(b->b, y);
    buf_clear(&b->text);
    bool differs = row.before != row.after;
    differs |= put_change(&b->text, "inputs", x->n_inputs, y->n_inputs);
    differs |= put_change(&b->text, "calls", x->n_calls, y->n_calls);
    differs |= put_change(&b->text, "outputs", x->n_outputs, y->n_outputs);
    differs |= x->kind != y->kind;
    row.more = compare_keep(b, &b->text);
    return row.more.p && (!differs || compare_add(b, &row, attempt));
}

static bool add_lone_graph(struct compare_build *b, const struct outline_graph *g, bool is_new,
                           struct str level, struct str compile, uint32_t attempt)
{
    struct change_row row =
        graph_change_row(CHANGE_GRAPHS, is_new ? CHANGE_NEW : CHANGE_GONE, level, compile);
    row.what = STR("nodes");
    *(is_new ? &row.after : &row.before) = count_nodes(is_new ? b->b : b->a, g);
    buf_clear(&b->text);
    buf_printf(&b->text, "%u inputs, %u calls, %u outputs", g->n_inputs, g->n_calls, g->n_outputs);
    row.more = compare_keep(b, &b->text);
    return row.more.p && compare_add(b, &row, attempt);
}

static bool add_graph_changes(struct compare_build *b, const struct align_graph *pair)
{
    const struct align_attempt *attempt = &b->align->attempts.v[pair->attempt];
    const struct outline_graph *x = pair->a == ALIGN_NONE ? NULL : &b->a->graphs.v[pair->a];
    const struct outline_graph *y = pair->b == ALIGN_NONE ? NULL : &b->b->graphs.v[pair->b];
    struct str level = graph_level_text(b, x, y);
    struct str before = compare_attempt_name(b, b->a, attempt->a);
    struct str after = compare_attempt_name(b, b->b, attempt->b);
    if (!level.p || !before.p || !after.p)
        return false;
    if (!x || !y)
        return add_lone_graph(b, x ? x : y, !x, level, x ? before : after, pair->attempt);
    bool ok = add_shape(b, x, y, level, after, pair->attempt);
    for (uint32_t i = 0; i < pair->n_nodes && ok && pair->n_differences > 0; i++) {
        const struct align_pair *node = &b->align->nodes.v[pair->first_node + i];
        if (node->b == ALIGN_NONE)
            ok = add_lone_node(b, node->a, false, level, before, pair->attempt);
        else if (node->a == ALIGN_NONE)
            ok = add_lone_node(b, node->b, true, level, after, pair->attempt);
        else if (node->change & ALIGN_DIFFERS)
            ok = add_changed_node(b, node, level, after, pair->attempt);
    }
    return ok;
}

/* ---- operators ------------------------------------------------------------------------------ */

struct op_count {
    uint64_t before, after;
    uint32_t level;
};

/* The calls of last attempts by level and operator, for both sides. */
struct op_counts {
    struct compare_build *b;
    struct intern keys; /* the level and the operator's name */
    vec_of(struct op_count)
    counts; /* by key */
    bool
        as_forward; /* inference graphs of one side are compared with forward graphs of the other */
};

static bool count_changed_op(struct op_counts *c, uint32_t level, struct str op, bool after)
{
    struct buf *key = &c->b->key;
    buf_clear(key);
    buf_le32(key, level);
    buf_put(key, op);
    uint32_t id = key->failed ? INTERN_NONE : intern(&c->keys, buf_str(key));
    if (id == INTERN_NONE)
        return false;
    if (id == c->counts.n && !vec_push(&c->counts, (struct op_count){ .level = level }))
        return false;
    (*(after ? &c->counts.v[id].after : &c->counts.v[id].before))++;
    return true;
}

static bool count_side(struct op_counts *c, const struct outline *o, bool after)
{
    bool ok = true;
    for (size_t i = 0; i < o->graphs.n && ok; i++) {
        const struct outline_graph *g = &o->graphs.v[i];
        const struct outline_attempt *a = &o->attempts.v[g->attempt];
        const struct outline_compile *of = &o->compiles.v[a->compile];
        uint32_t level = c->as_forward && g->kind == GRAPH_INFERENCE ? GRAPH_FORWARD : g->kind;
        if (g->attempt != of->first_attempt + of->n_attempts - 1)
            continue;
        for (uint32_t k = 0; k < g->n_nodes && ok; k++) {
            const struct outline_form *form = outline_form_of(o, g->first_node + k);
            if (form->is_call)
                ok = count_changed_op(c, level, outline_text(o, form->op), after);
        }
    }
    return ok;
}

static bool add_operator_changes(struct op_counts *c)
{
    for (uint32_t i = 0; i < c->counts.n; i++) {
        const struct op_count *count = &c->counts.v[i];
        if (count->before == count->after)
            continue;
        enum change change = count->before == 0  ? CHANGE_NEW
                             : count->after == 0 ? CHANGE_GONE
                                                 : CHANGE_CHANGED;
        struct str level = str_of(c->as_forward && count->level == GRAPH_FORWARD
                                      ? "forward or inference"
                                      : graph_kind_name((enum graph_kind)count->level));
        struct change_row row = graph_change_row(CHANGE_OPERATORS, change, level, STR(""));
        row.what = arena_copy(&c->b->arena, str_from(intern_text(&c->keys, i), 4));
        row.before = count->before;
        row.after = count->after;
        if (!row.what.p || !compare_add(c->b, &row, 0))
            return false;
    }
    return true;
}

static bool compare_operators(struct compare_build *b)
{
    struct op_counts c = { .b = b };
    for (size_t i = 0; i < b->align->graphs.n; i++) {
        const struct align_graph *pair = &b->align->graphs.v[i];
        if (pair->a == ALIGN_NONE || pair->b == ALIGN_NONE)
            continue;
        uint32_t was = b->a->graphs.v[pair->a].kind, now = b->b->graphs.v[pair->b].kind;
        c.as_forward |= was != now && (was == GRAPH_INFERENCE || now == GRAPH_INFERENCE);
    }
    bool ok = count_side(&c, b->a, false) && count_side(&c, b->b, true) && add_operator_changes(&c);
    intern_release(&c.keys);
    vec_release(&c.counts);
    return ok;
}

bool compare_graphs(struct compare_build *b)
{
    bool ok = true;
    for (size_t i = 0; i < b->align->graphs.n && ok; i++)
        ok = add_graph_changes(b, &b->align->graphs.v[i]);
    return ok && compare_operators(b);
}
