/* profile/model/graph_memory.h says what is estimated. Forward and backward graphs share names of
 * nodes: a value that the forward graph returns under the name of an input of the backward graph is
 * saved for it (torch/_functorch/partitioners.py, _extract_fwd_bwd_modules). */
#include "profile/model/lines/line_table.h"
#include "replay/ops/dispatch/ops.h"
#include "trace/graph/expr_value.h"

enum { LIVE_NODES = 20 }; /* the largest nodes of each graph are stored */

#define UNKNOWN (-1)

struct memory_estimator {
    struct profile_build *b;
    struct line_table *lines;
    const struct build_input *in;
    struct intern ops; /* the names of operators */
    vec_of(signed char)
    aliases; /* by name: 1 if it returns memory of its arguments, 0 if not, -1 not known yet */
    struct intern symbols; /* of the current attempt */
    vec_of(int64_t)
    hints;             /* by symbol */
    uint32_t hints_of; /* the attempt, or TRACE_NONE */
    struct buf name;
    struct err *err;
};

/* The estimate of one graph. Arrays are indexed by node. */
struct memory_estimate {
    const struct graph *graph;
    uint32_t *owner; /* the node that owns its memory: itself, or the base of a view; NODE_NONE */
    int64_t *bytes;  /* for owners; 0 for others */
    uint32_t *last;  /* for owners: the last node that uses it */
    struct graph_memory row;
};

/* ---- Sizes ---- */

static bool recorded_hint(void *user, struct str name, int64_t *ret)
{
    struct memory_estimator *e = user;
    uint32_t symbol = intern_find(&e->symbols, name);
    if (symbol == INTERN_NONE)
        return false;
    *ret = e->hints.v[symbol];
    return true;
}

static bool read_hints(struct memory_estimator *e, uint32_t attempt)
{
    if (e->hints_of == attempt)
        return true;
    intern_release(&e->symbols);
    e->symbols = INTERN_INIT;
    e->hints.n = 0;
    e->hints_of = attempt;
    for (uint32_t i = 0; i < e->in->symbols->n_symbols; i++) {
        const struct symbol *symbol = &e->in->symbols->symbols[i];
        int64_t hint;
        if (symbol->attempt != attempt || !str_to_i64(symbol->value, &hint))
            continue;
        uint32_t id = intern(&e->symbols, symbol->name);
        if (id == INTERN_NONE || (id == e->hints.n && !vec_push(&e->hints, hint)))
            return false;
    }
    return true;
}

/* Returns the bytes from the first element to the last; without strides as if contiguous; -1 if
 * they are not known. */
static int64_t meta_bytes(struct memory_estimator *e, const struct graph *graph,
                          const struct meta *meta)
{
    int64_t elements = 1, size, stride, step;
    for (uint32_t i = 0; i < meta->n_sizes; i++) {
        if (!expr_value(&graph->pool->exprs, meta->sizes[i], recorded_hint, e, &size) || size < 0)
            return UNKNOWN;
        if (size == 0)
            return 0;
        if (!meta->has_strides) {
            if (__builtin_mul_overflow(elements, size, &elements))
                return UNKNOWN;
            continue;
        }
        if (!expr_value(&graph->pool->exprs, meta->strides[i], recorded_hint, e, &stride) ||
            stride < 0 || __builtin_mul_overflow(size - 1, stride, &step) ||
            __builtin_add_overflow(elements, step, &elements))
            return UNKNOWN;
    }
    if (__builtin_mul_overflow(elements, (int64_t)dtype_size(meta->dtype), &size))
        return UNKNOWN;
    return size;
}

/* ---- Whose memory ---- */

/* Returns whether the operator returns memory of its arguments, -1 when memory ran out. */
static int is_alias(struct memory_estimator *e, const struct node *node)
{
    buf_clear(&e->name);
    node_op_name(node, &e->name);
    uint32_t id = e->name.failed ? INTERN_NONE : intern(&e->ops, buf_str(&e->name));
    if (id == INTERN_NONE)
        return -1;
    if (id == e->aliases.n &&
        !vec_push(&e->aliases, (signed char)op_returns_alias(buf_str(&e->name))))
        return -1;
    return e->aliases.v[id];
}

static void use_arg(struct memory_estimate *s, const struct arg *arg, uint32_t at, unsigned depth)
{
    if (arg->kind == ARG_NODE && arg->u.node < at && s->owner[arg->u.node] != NODE_NONE)
        s->last[s->owner[arg->u.node]] = at;
    bool nested = arg->kind == ARG_LIST || arg->kind == ARG_TUPLE || arg->kind == ARG_DICT ||
                  arg->kind == ARG_CALL;
    for (uint32_t i = 0; nested && depth < 8 && i < arg->u.items.n; i++)
        use_arg(s, &s->graph->args[arg->u.items.first + i], at, depth + 1);
}

static uint32_t first_owner(const struct memory_estimate *s, const struct node *node, uint32_t at)
{
    const struct arg *arg = node_args(s->graph, node);
    return arg && arg->kind == ARG_NODE && arg->u.node < at ? s->owner[arg->u.node] : NODE_NONE;
}

/* Sets the owner of a node's memory. A getitem of a list of views is a view, of other results a
 * tensor. A call without a meta (a tuple) owns nothing, but passes on the owner of what it is a
 * view of. */
static bool set_owner(struct memory_estimator *e, struct memory_estimate *s, uint32_t at)
{
    const struct node *node = &s->graph->nodes[at];
    const struct meta *meta = node->meta == META_NONE ? NULL : &s->graph->pool->metas[node->meta];
    bool tensor = meta && meta->kind == META_TENSOR;
    s->owner[at] = NODE_NONE;
    if (node->op == NODE_OUTPUT)
        return true;
    if (node_is_call(node)) {
        int alias = node->form == FORM_GETITEM ? 1 : is_alias(e, node);
        if (alias < 0)
            return false;
        uint32_t base = alias ? first_owner(s, node, at) : NODE_NONE;
        if (base != NODE_NONE) {
            s->owner[at] = base;
            return true;
        }
    } else if (node->op == NODE_ALIAS) {
        s->owner[at] = first_owner(s, node, at);
        return true;
    }
    if (!tensor)
        return true;
    int64_t bytes = meta_bytes(e, s->graph, meta);
    s->owner[at] = at;
    s->last[at] = at;
    s->bytes[at] = bytes == UNKNOWN ? 0 : bytes;
    s->row.unknown += bytes == UNKNOWN;
    return true;
}

static bool find_owners(struct memory_estimator *e, struct memory_estimate *s)
{
    for (uint32_t i = 0; i < s->graph->n_nodes; i++) {
        const struct node *node = &s->graph->nodes[i];
        for (uint32_t k = 0; k < node->n_args; k++)
            use_arg(s, &s->graph->args[node->first_arg + k], i, 0);
        if (!set_owner(e, s, i))
            return false;
        if (s->owner[i] != NODE_NONE && s->owner[i] != i && s->last[s->owner[i]] < i)
            s->last[s->owner[i]] = i;
    }
    return true;
}

/* ---- The peak ---- */

static bool is_input(const struct graph *graph, uint32_t node)
{
    enum node_op op = graph->nodes[node].op;
    return op == NODE_PLACEHOLDER || op == NODE_GET_ATTR;
}

static void add_saturated(uint64_t *sum, int64_t bytes)
{
    if (__builtin_add_overflow(*sum, (uint64_t)bytes, sum))
        *sum = UINT64_MAX;
}

static bool owns(const struct memory_estimate *s, uint32_t node)
{
    return s->owner[node] == node;
}

/* Returns the node at which the sum of allocated minus freed bytes is greatest; `freed` is scratch,
 * by node, all 0. */
static uint32_t find_memory_peak(struct memory_estimate *s, uint64_t *freed)
{
    uint64_t live = 0;
    uint32_t peak = NODE_NONE;
    for (uint32_t i = 0; i < s->graph->n_nodes; i++) {
        if (owns(s, i) && is_input(s->graph, i)) {
            add_saturated(&s->row.input_bytes, s->bytes[i]);
        } else if (owns(s, i)) {
            add_saturated(&live, s->bytes[i]);
            add_saturated(&freed[s->last[i]], s->bytes[i]);
        }
        if (live > s->row.peak_bytes) {
            s->row.peak_bytes = live;
            peak = i;
        }
        live = freed[i] < live ? live - freed[i] : 0;
    }
    for (uint32_t i = 0; i < s->graph->n_nodes; i++)
        if (owns(s, i) && !is_input(s->graph, i) && s->last[i] + 1 == s->graph->n_nodes)
            add_saturated(&s->row.output_bytes, s->bytes[i]);
    return peak;
}

static int compare_memory_rows(const void *a, const void *b)
{
    const struct memory_node *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return str_cmp(x->name, y->name);
}

static bool add_node_bytes(struct memory_estimator *e, const struct memory_estimate *s, uint32_t at)
{
    const struct node *node = &s->graph->nodes[at];
    struct memory_node row = { .graph = (uint32_t)e->b->graph_memory.n,
                               .name = node->name,
                               .bytes = (uint64_t)s->bytes[at],
                               .file = STR(""),
                               .code = STR("") };
    buf_clear(&e->name);
    node_op_name(node, &e->name);
    row.op = e->name.failed ? (struct str){ 0 } : arena_copy(&e->b->arena, buf_str(&e->name));
    if (node->location != LOCATION_NONE) {
        const struct location *at_line = line_table_location(s->graph, node->location);
        row.file = at_line->file;
        row.line = at_line->line;
        row.code = at_line->code;
    }
    return row.op.p && vec_push(&e->b->memory_nodes, row);
}

static bool add_live(struct memory_estimator *e, const struct memory_estimate *s, uint32_t peak)
{
    size_t first = e->b->memory_nodes.n;
    for (uint32_t i = 0; i <= peak && peak != NODE_NONE; i++)
        if (owns(s, i) && !is_input(s->graph, i) && s->bytes[i] > 0 && s->last[i] >= peak &&
            !add_node_bytes(e, s, i))
            return false;
    struct memory_node *rows = vec_from(&e->b->memory_nodes, first);
    if (e->b->memory_nodes.n > first)
        qsort(rows, e->b->memory_nodes.n - first, sizeof *rows, compare_memory_rows);
    if (e->b->memory_nodes.n > first + LIVE_NODES)
        e->b->memory_nodes.n = first + LIVE_NODES;
    return true;
}

/* ---- Saved for backward ---- */

static bool saved_line(struct memory_estimator *e, const struct memory_estimate *s, uint32_t owner,
                       uint64_t bytes)
{
    const struct node *node = &s->graph->nodes[owner];
    uint32_t row;
    if (node->location == LOCATION_NONE)
        return true;
    const struct location *at = line_table_location(s->graph, node->location);
    if (at->file.n == 0)
        return true;
    if (!line_table_place(e->lines, at->file, at->line, at->function, at->code, &row))
        return false;
    if (row != LINE_NOBODY)
        add_saturated(&e->b->lines.v[row].cost.saved_bytes, (int64_t)bytes);
    return true;
}

static bool save_for_backward(struct memory_estimator *e, struct memory_estimate *s, uint32_t node,
                              bool *seen)
{
    uint32_t owner = s->owner[node];
    if (owner == NODE_NONE || seen[owner])
        return true;
    seen[owner] = true;
    s->row.saved++;
    if (is_input(s->graph, owner)) {
        add_saturated(&s->row.saved_input_bytes, s->bytes[owner]);
        return true;
    }
    add_saturated(&s->row.saved_bytes, s->bytes[owner]);
    return saved_line(e, s, owner, (uint64_t)s->bytes[owner]);
}

static bool find_saved_by(struct memory_estimator *e, struct memory_estimate *s,
                          const struct graph *backward, bool *seen)
{
    struct intern names = INTERN_INIT;
    bool ok = true;
    for (uint32_t i = 0; ok && i < backward->n_nodes; i++)
        if (backward->nodes[i].op == NODE_PLACEHOLDER)
            ok = intern(&names, backward->nodes[i].name) != INTERN_NONE;
    const struct node *output = &s->graph->nodes[s->graph->n_nodes - 1];
    for (uint32_t i = 0; ok && output->op == NODE_OUTPUT && i < output->n_args; i++) {
        const struct arg *arg = &s->graph->args[output->first_arg + i];
        if (arg->kind == ARG_NODE && arg->u.node < s->graph->n_nodes &&
            intern_find(&names, s->graph->nodes[arg->u.node].name) != INTERN_NONE)
            ok = save_for_backward(e, s, arg->u.node, seen);
    }
    intern_release(&names);
    return ok;
}

/* Returns the backward graph of the same attempt, or PROFILE_NONE. */
static uint32_t backward_graph_of(const struct build_input *in, const struct graph_ref *forward)
{
    for (uint32_t i = 0; i < in->graphs->n; i++)
        if (in->graphs->refs[i].is_event && in->graphs->refs[i].kind == GRAPH_BACKWARD &&
            in->graphs->refs[i].attempt == forward->attempt &&
            in->graphs->refs[i].index == forward->index)
            return i;
    return PROFILE_NONE;
}

static bool find_saved(struct memory_estimator *e, struct memory_estimate *s,
                       const struct graph_ref *ref)
{
    struct err unreadable = { 0 };
    uint32_t backward = ref->kind == GRAPH_FORWARD ? backward_graph_of(e->in, ref) : PROFILE_NONE;
    if (backward == PROFILE_NONE)
        return true;
    const struct graph *graph = trace_graph(e->in->trace, backward, &unreadable);
    if (!graph)
        return unreadable.kind != ERR_ENV;
    bool *seen = calloc((size_t)s->graph->n_nodes + 1, sizeof *seen);
    bool ok = seen && find_saved_by(e, s, graph, seen);
    free(seen);
    return ok;
}

/* ---- The steps ---- */

static bool estimate_graph(struct memory_estimator *e, const struct graph *graph,
                           const struct graph_ref *ref)
{
    size_t n = (size_t)graph->n_nodes + 1;
    struct memory_estimate s = { .graph = graph,
                                 .owner = calloc(n, sizeof *s.owner),
                                 .bytes = calloc(n, sizeof *s.bytes),
                                 .last = calloc(n, sizeof *s.last) };
    uint64_t *freed = calloc(n, sizeof *freed);
    bool ok =
        s.owner && s.bytes && s.last && freed && read_hints(e, ref->attempt) && find_owners(e, &s);
    if (ok) {
        uint32_t peak = find_memory_peak(&s, freed);
        s.row.recording = e->in->recording_of[e->in->trace->records[ref->record].recording];
        s.row.compile = build_compile(e->in, ref->attempt);
        s.row.attempt = ref->attempt;
        s.row.level = ref->kind;
        s.row.peak_node = peak == NODE_NONE ? STR("") : graph->nodes[peak].name;
        ok =
            find_saved(e, &s, ref) && add_live(e, &s, peak) && vec_push(&e->b->graph_memory, s.row);
    }
    free(s.owner);
    free(s.bytes);
    free(s.last);
    free(freed);
    return ok;
}

static bool estimate_input_memory(struct memory_estimator *e)
{
    e->hints_of = TRACE_NONE - 1;
    for (uint32_t i = 0; i < e->in->graphs->n; i++) {
        const struct graph_ref *ref = &e->in->graphs->refs[i];
        struct err unreadable = { 0 };
        bool level = ref->kind == GRAPH_FORWARD || ref->kind == GRAPH_BACKWARD ||
                     ref->kind == GRAPH_INFERENCE || ref->kind == GRAPH_EXPORTED;
        if (!level || (ref->kind != GRAPH_EXPORTED && !ref->is_event) ||
            !build_kept(e->in, ref->attempt) || !build_takes(e->b, e->in, ref->record))
            continue;
        const struct graph *graph = trace_graph(e->in->trace, i, &unreadable);
        if (!graph && unreadable.kind == ERR_ENV)
            return err_set(e->err, ERR_ENV, "%s", unreadable.text);
        if (graph && graph->n_nodes > 0 && !estimate_graph(e, graph, ref))
            return false;
    }
    return true;
}

bool lines_memory(struct profile_build *b, struct line_table *lines, struct err *err)
{
    struct memory_estimator e = { .b = b, .lines = lines, .err = err };
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->profile.n_traces && !b->profile.options.no_graphs; i++) {
        e.in = &b->inputs[i];
        ok = estimate_input_memory(&e);
    }
    b->profile.graph_memory = b->graph_memory.v;
    b->profile.n_graph_memory = (uint32_t)b->graph_memory.n;
    b->profile.memory_nodes = b->memory_nodes.v;
    b->profile.n_memory_nodes = (uint32_t)b->memory_nodes.n;
    intern_release(&e.ops);
    intern_release(&e.symbols);
    vec_release(&e.aliases);
    vec_release(&e.hints);
    buf_release(&e.name);
    return ok || err_nomem(err);
}
