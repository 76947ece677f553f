#include "profile/model/graph_storages.h"

#include "replay/ops/dispatch/ops.h"
#include "trace/graph/expr_value.h"

#define UNKNOWN (-1)

void storage_finder_start(struct storage_finder *finder, const struct build_input *in)
{
    finder->in = in;
    finder->hints_of = TRACE_NONE;
}

void storage_finder_release(struct storage_finder *finder)
{
    intern_release(&finder->ops);
    intern_release(&finder->symbols);
    vec_release(&finder->aliases);
    vec_release(&finder->hints);
    buf_release(&finder->name);
}

/* ---- Sizes ---- */

static bool recorded_hint(void *user, struct str name, int64_t *ret)
{
    struct storage_finder *finder = user;
    uint32_t symbol = intern_find(&finder->symbols, name);
    if (symbol == INTERN_NONE)
        return false;
    *ret = finder->hints.v[symbol];
    return true;
}

static bool read_hints(struct storage_finder *finder, uint32_t attempt)
{
    const struct symbol_table *recorded = finder->in->symbols;
    if (finder->hints_of == attempt && attempt != TRACE_NONE)
        return true;
    intern_release(&finder->symbols);
    finder->symbols = INTERN_INIT;
    finder->hints.n = 0;
    finder->hints_of = attempt;
    for (uint32_t i = 0; i < recorded->n_symbols; i++) {
        const struct symbol *symbol = &recorded->symbols[i];
        int64_t hint;
        if (symbol->attempt != attempt || !str_to_i64(symbol->value, &hint))
            continue;
        uint32_t id = intern(&finder->symbols, symbol->name);
        if (id == INTERN_NONE || (id == finder->hints.n && !vec_push(&finder->hints, hint)))
            return false;
    }
    return true;
}

/* Returns the bytes from the first element to the last; without strides as if contiguous; UNKNOWN
 * if they are not known. */
static int64_t meta_bytes(struct storage_finder *finder, const struct graph *graph,
                          const struct meta *meta)
{
    const struct expr_pool *exprs = &graph->pool->exprs;
    int64_t elements = 1, size, stride, step;
    for (uint32_t i = 0; i < meta->n_sizes; i++) {
        if (!expr_value(exprs, meta->sizes[i], recorded_hint, finder, &size) || size < 0)
            return UNKNOWN;
        if (size == 0)
            return 0;
        if (!meta->has_strides) {
            if (__builtin_mul_overflow(elements, size, &elements))
                return UNKNOWN;
            continue;
        }
        if (!expr_value(exprs, meta->strides[i], recorded_hint, finder, &stride) || stride < 0 ||
            __builtin_mul_overflow(size - 1, stride, &step) ||
            __builtin_add_overflow(elements, step, &elements))
            return UNKNOWN;
    }
    if (__builtin_mul_overflow(elements, (int64_t)dtype_size(meta->dtype), &size))
        return UNKNOWN;
    return size;
}

/* ---- Owners ---- */

/* _unsafe_view() returns memory of its argument, which its schema does not declare
 * (aten/src/ATen/native/TensorShape.cpp). */
static bool shares_storage(struct str op)
{
    return str_is(op, "aten._unsafe_view.default") || op_returns_alias(op);
}

/* Returns whether the operator returns memory of its arguments, -1 when memory ran out. */
static int is_alias(struct storage_finder *finder, const struct node *node)
{
    buf_clear(&finder->name);
    node_op_name(node, &finder->name);
    struct str name = buf_str(&finder->name);
    uint32_t id = finder->name.failed ? INTERN_NONE : intern(&finder->ops, name);
    if (id == INTERN_NONE)
        return -1;
    if (id == finder->aliases.n && !vec_push(&finder->aliases, (signed char)shares_storage(name)))
        return -1;
    return finder->aliases.v[id];
}

static void use_arg(struct graph_storages *s, const struct arg *arg, uint32_t at, unsigned depth)
{
    if (arg->kind == ARG_NODE && arg->u.node < at && s->owner[arg->u.node] != NODE_NONE)
        s->last[s->owner[arg->u.node]] = at;
    bool nested = arg->kind == ARG_LIST || arg->kind == ARG_TUPLE || arg->kind == ARG_DICT ||
                  arg->kind == ARG_CALL;
    for (uint32_t i = 0; nested && depth < 8 && i < arg->u.items.n; i++)
        use_arg(s, &s->graph->args[arg->u.items.first + i], at, depth + 1);
}

/* Returns the node that is the first argument, or NODE_NONE. */
static uint32_t first_arg(const struct graph_storages *s, const struct node *node, uint32_t at)
{
    const struct arg *arg = node_args(s->graph, node);
    return arg && arg->kind == ARG_NODE && arg->u.node < at ? arg->u.node : NODE_NONE;
}

/* Sets *ret to the base that the node is a view of, or to NODE_NONE. A getitem of a list of views
 * is a view, of other results a tensor. */
static bool find_base(struct storage_finder *finder, const struct graph_storages *s, uint32_t at,
                      uint32_t *ret)
{
    const struct node *node = &s->graph->nodes[at];
    int alias = node->op == NODE_ALIAS || node->form == FORM_GETITEM;
    if (!alias && node_is_call(node))
        alias = is_alias(finder, node);
    uint32_t arg = alias > 0 ? first_arg(s, node, at) : NODE_NONE;
    *ret = arg == NODE_NONE ? NODE_NONE : s->owner[arg];
    return alias >= 0;
}

static void own(struct storage_finder *finder, struct graph_storages *s, uint32_t at,
                const struct meta *meta)
{
    const struct node *node = &s->graph->nodes[at];
    int64_t bytes = meta_bytes(finder, s->graph, meta);
    uint32_t tuple = node->form == FORM_GETITEM ? first_arg(s, node, at) : NODE_NONE;
    s->owner[at] = at;
    s->first[at] = tuple == NODE_NONE ? at : tuple;
    s->last[at] = at;
    s->bytes[at] = bytes == UNKNOWN ? 0 : bytes;
    s->unknown += bytes == UNKNOWN;
}

/* A call without a meta (a tuple) owns nothing, but passes on the owner of what it is a view of. */
static bool set_owner(struct storage_finder *finder, struct graph_storages *s, uint32_t at)
{
    const struct node *node = &s->graph->nodes[at];
    const struct meta *meta = node->meta == META_NONE ? NULL : &s->graph->pool->metas[node->meta];
    s->owner[at] = NODE_NONE;
    if (node->op == NODE_OUTPUT)
        return true;
    if (!find_base(finder, s, at, &s->owner[at]))
        return false;
    if (s->owner[at] == NODE_NONE && node->op != NODE_ALIAS && meta && meta->kind == META_TENSOR)
        own(finder, s, at, meta);
    return true;
}

/* ---- Inputs that a forward graph saved ---- */

/* The inputs of a backward graph by the storages of the forward graph. */
struct saved_inputs {
    const struct graph_storages *forward;
    struct intern names; /* of the forward graph's nodes */
    vec_of(uint32_t)
    nodes;           /* by name */
    uint32_t *first; /* by node of the forward graph: the first input with its storage */
};

static bool index_forward(const struct graph_storages *forward, struct saved_inputs *ret)
{
    uint32_t n = forward ? forward->graph->n_nodes : 0;
    ret->forward = forward;
    ret->first = malloc(((size_t)n + 1) * sizeof *ret->first);
    for (uint32_t i = 0; ret->first && i < n; i++) {
        uint32_t id = intern(&ret->names, forward->graph->nodes[i].name);
        if (id == INTERN_NONE || (id == ret->nodes.n && !vec_push(&ret->nodes, i)))
            return false;
        ret->first[i] = NODE_NONE;
    }
    return ret->first != NULL;
}

static void saved_inputs_release(struct saved_inputs *saved)
{
    intern_release(&saved->names);
    vec_release(&saved->nodes);
    free(saved->first);
}

/* An input that is a view of a saved tensor keeps the whole storage alive. */
static void share_saved(struct graph_storages *s, struct saved_inputs *saved, uint32_t at)
{
    uint32_t name =
        s->owner[at] == at ? intern_find(&saved->names, s->graph->nodes[at].name) : INTERN_NONE;
    uint32_t owner = name == INTERN_NONE ? NODE_NONE : saved->forward->owner[saved->nodes.v[name]];
    if (owner == NODE_NONE)
        return;
    s->released[at] = !storage_is_input(saved->forward->graph, owner);
    if (saved->first[owner] == NODE_NONE) {
        saved->first[owner] = at;
        if (saved->forward->bytes[owner] > s->bytes[at])
            s->bytes[at] = saved->forward->bytes[owner];
    } else {
        s->owner[at] = saved->first[owner];
        s->bytes[at] = 0;
    }
}

/* Sums the storages that the forward graph returns and that are no inputs of the backward graph. */
static void sum_kept(struct graph_storages *s, struct saved_inputs *saved)
{
    const struct graph *forward = saved->forward ? saved->forward->graph : NULL;
    uint32_t end = forward ? forward->n_nodes : 0;
    const struct node *output = end ? &forward->nodes[end - 1] : NULL;
    for (uint32_t i = 0; output && output->op == NODE_OUTPUT && i < output->n_args; i++) {
        const struct arg *arg = &forward->args[output->first_arg + i];
        uint32_t owner = arg->kind == ARG_NODE && arg->u.node < end
                             ? saved->forward->owner[arg->u.node]
                             : NODE_NONE;
        if (owner == NODE_NONE || saved->first[owner] != NODE_NONE)
            continue;
        saved->first[owner] = owner; /* counted */
        if (__builtin_add_overflow(s->kept_bytes, saved->forward->bytes[owner], &s->kept_bytes))
            s->kept_bytes = INT64_MAX;
    }
}

/* ---- All nodes ---- */

static bool find_owners(struct storage_finder *finder, struct graph_storages *s,
                        struct saved_inputs *saved)
{
    for (uint32_t i = 0; i < s->graph->n_nodes; i++) {
        const struct node *node = &s->graph->nodes[i];
        for (uint32_t k = 0; k < node->n_args; k++)
            use_arg(s, &s->graph->args[node->first_arg + k], i, 0);
        if (!set_owner(finder, s, i))
            return false;
        if (storage_is_input(s->graph, i))
            share_saved(s, saved, i);
        if (s->owner[i] != NODE_NONE && s->owner[i] != i && s->last[s->owner[i]] < i)
            s->last[s->owner[i]] = i;
    }
    sum_kept(s, saved);
    return true;
}

bool graph_storages_find(struct storage_finder *finder, const struct graph *graph, uint32_t attempt,
                         const struct graph_storages *forward, struct graph_storages *ret)
{
    size_t n = (size_t)graph->n_nodes + 1;
    struct saved_inputs saved = { 0 };
    *ret = (struct graph_storages){ .graph = graph,
                                    .owner = calloc(n, sizeof *ret->owner),
                                    .bytes = calloc(n, sizeof *ret->bytes),
                                    .first = calloc(n, sizeof *ret->first),
                                    .last = calloc(n, sizeof *ret->last),
                                    .released = calloc(n, sizeof *ret->released) };
    bool ok = ret->owner && ret->bytes && ret->first && ret->last && ret->released &&
              index_forward(forward, &saved) && read_hints(finder, attempt) &&
              find_owners(finder, ret, &saved);
    saved_inputs_release(&saved);
    if (!ok)
        graph_storages_release(ret);
    return ok;
}

void graph_storages_release(struct graph_storages *storages)
{
    free(storages->owner);
    free(storages->bytes);
    free(storages->first);
    free(storages->last);
    free(storages->released);
    *storages = (struct graph_storages){ 0 };
}

bool storage_is_input(const struct graph *graph, uint32_t node)
{
    enum node_op op = graph->nodes[node].op;
    return op == NODE_PLACEHOLDER || op == NODE_GET_ATTR;
}

bool storage_owns(const struct graph_storages *storages, uint32_t node)
{
    return storages->owner[node] == node;
}
