#include "minify/bisect/bisect_between.h"

/* A difference and when it was recorded. */
struct found_difference {
    struct bisect_difference what;
    uint32_t record, order;
};

static void set_difference_line(const struct outline *outline, uint32_t line,
                                struct bisect_difference *d)
{
    if (line == OUTLINE_NONE)
        return;
    const struct outline_line *at = &outline->lines.v[line];
    d->file = outline_text(outline, at->file);
    d->function = outline_text(outline, at->function);
    d->code = outline_text(outline, at->code);
    d->line = at->line;
}

static enum between_side side_of(uint32_t a, uint32_t b)
{
    return b == ALIGN_NONE ? BETWEEN_ONLY_A : a == ALIGN_NONE ? BETWEEN_ONLY_B : BETWEEN_CHANGED;
}

/* Returns whether a pair differs in more than the line that caused it. */
static bool pair_differs(const struct align_pair *pair)
{
    return pair->a == ALIGN_NONE || pair->b == ALIGN_NONE ||
           (pair->change & ALIGN_DIFFERS & ~(uint32_t)ALIGN_LINE) != 0;
}

static bool is_earlier_difference(uint32_t record, uint32_t order,
                                  const struct found_difference *best)
{
    return best->what.side == BETWEEN_NONE || record < best->record ||
           (record == best->record && order < best->order);
}

static void compare_event_pair(const struct align *align, const struct align_pair *pair,
                               struct found_difference *best)
{
    const struct outline_event *a = pair->a == ALIGN_NONE ? NULL : &align->a->events.v[pair->a];
    const struct outline_event *b = pair->b == ALIGN_NONE ? NULL : &align->b->events.v[pair->b];
    const struct outline *of = a ? align->a : align->b;
    const struct outline_event *event = a ? a : b;
    if (!is_earlier_difference(event->record, 0, best))
        return;
    struct bisect_difference *d = &best->what;
    d->side = side_of(pair->a, pair->b);
    d->kind = outline_event_kind_name((enum outline_event_kind)event->kind);
    d->a = a ? outline_text(align->a, a->shown ? a->shown : a->text) : STR("");
    d->b = b ? outline_text(align->b, b->shown ? b->shown : b->text) : STR("");
    d->op = d->graph = d->file = d->function = d->code = STR("");
    d->line = 0;
    if (a && b && str_eq(d->a, d->b)) { /* the details differ */
        d->op = d->a;
        d->a = outline_text(align->a, a->detail);
        d->b = outline_text(align->b, b->detail);
    }
    set_difference_line(of, event->line, d);
    best->record = event->record;
    best->order = 0;
}

/* Returns the kind of difference between two nodes, the simplest first. */
static const char *node_kind(const struct align_pair *pair)
{
    if (side_of(pair->a, pair->b) != BETWEEN_CHANGED)
        return "operator";
    return pair->change & ALIGN_META ? "size" : pair->change & ALIGN_ARGS ? "arguments" : "inputs";
}

static struct str node_text(const struct outline *outline, uint32_t node, const char *kind)
{
    if (node == ALIGN_NONE)
        return STR("");
    const struct outline_form *form = outline_form_of(outline, node);
    return outline_text(outline, strcmp(kind, "size") == 0        ? form->shown
                                 : strcmp(kind, "arguments") == 0 ? form->args
                                                                  : form->op);
}

static void compare_node_pair(const struct align *align, const struct align_graph *graph,
                              const struct align_pair *pair, struct found_difference *best)
{
    const struct outline *of = pair->a == ALIGN_NONE ? align->b : align->a;
    uint32_t node = pair->a == ALIGN_NONE ? pair->b : pair->a;
    const struct outline_graph *in =
        pair->a == ALIGN_NONE ? &align->b->graphs.v[graph->b] : &align->a->graphs.v[graph->a];
    uint32_t order = node - in->first_node + 1;
    if (!is_earlier_difference(in->record, order, best))
        return;
    struct bisect_difference *d = &best->what;
    d->side = side_of(pair->a, pair->b);
    d->kind = node_kind(pair);
    d->a = node_text(align->a, pair->a, d->kind);
    d->b = node_text(align->b, pair->b, d->kind);
    d->op = node_text(of, node, "operator");
    d->graph = outline_text(of, in->name);
    d->file = d->function = d->code = STR("");
    d->line = 0;
    set_difference_line(of, outline_form_of(of, node)->line, d);
    best->record = in->record;
    best->order = order;
}

static void compare_attempts(const struct align *align, const struct align_attempt *attempt,
                             struct found_difference *best)
{
    struct bisect_difference *d = &best->what;
    for (uint32_t i = 0; i < attempt->n_events; i++) {
        const struct align_pair *pair = &align->events.v[attempt->first_event + i];
        d->events++;
        if (!pair_differs(pair))
            continue;
        d->differences++;
        compare_event_pair(align, pair, best);
    }
    for (uint32_t g = 0; g < attempt->n_graphs; g++) {
        const struct align_graph *graph = &align->graphs.v[attempt->first_graph + g];
        for (uint32_t i = 0; i < graph->n_nodes; i++) {
            const struct align_pair *pair = &align->nodes.v[graph->first_node + i];
            d->nodes++;
            if (!pair_differs(pair))
                continue;
            d->differences++;
            compare_node_pair(align, graph, pair, best);
        }
    }
}

static struct str difference_compile_id(const struct align *align,
                                        const struct align_compile *compile)
{
    const struct outline *of = compile->a == ALIGN_NONE ? align->b : align->a;
    uint32_t index = compile->a == ALIGN_NONE ? compile->b : compile->a;
    return outline_text(of, of->compiles.v[index].id);
}

/* Reports a compile or an attempt that the other side does not have. */
static void set_lone_difference(const struct align *align, const struct align_compile *compile,
                                uint32_t a, uint32_t b, const char *kind,
                                struct bisect_difference *d)
{
    const struct outline *of = compile->a == ALIGN_NONE ? align->b : align->a;
    uint32_t index = compile->a == ALIGN_NONE ? compile->b : compile->a;
    d->side = side_of(a, b);
    d->kind = kind;
    d->compile = difference_compile_id(align, compile);
    *(a == ALIGN_NONE ? &d->b : &d->a) = outline_text(of, of->compiles.v[index].function);
    set_difference_line(of, of->compiles.v[index].line, d);
}

void bisect_between(const struct align *align, struct bisect_difference *ret)
{
    struct bisect_difference first = { .kind = "" };
    uint32_t events = 0, nodes = 0, differences = 0;
    for (size_t i = 0; i < align->attempts.n; i++) {
        const struct align_attempt *attempt = &align->attempts.v[i];
        const struct align_compile *compile = &align->compiles.v[attempt->compile];
        bool alone = attempt->a == ALIGN_NONE || attempt->b == ALIGN_NONE;
        struct found_difference best = { .what = { .kind = "" } };
        if (alone) {
            best.what.differences = 1;
            set_lone_difference(align, compile, attempt->a, attempt->b,
                                compile->a == ALIGN_NONE || compile->b == ALIGN_NONE ? "compile"
                                                                                     : "attempt",
                                &best.what);
        } else {
            compare_attempts(align, attempt, &best);
            best.what.compile = difference_compile_id(align, compile);
        }
        events += best.what.events;
        nodes += best.what.nodes;
        differences += best.what.differences;
        if (first.side == BETWEEN_NONE && best.what.side != BETWEEN_NONE)
            first = best.what;
    }
    *ret = first;
    ret->events = events;
    ret->nodes = nodes;
    ret->differences = differences;
}
