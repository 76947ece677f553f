#include "profile/calls/cudagraphs/wrap_graph.h"

#include "replay/ops/dispatch/ops.h"

/* Operators are taken in the order that makes the fewest partitions: those of level 0 wait for none
 * that cannot be recorded, those of level 1 for one of level 0, and so on. */
struct limit_finder {
    const struct graph *graph;
    const bool *keeps;
    const struct wrap_settings *settings;
    struct graph_limits *ret;
    uint32_t *levels; /* by node; NO_LEVEL: nothing runs for it */
    bool *unsafe;     /* by node */
    bool *used;       /* by level: an operator of it can be recorded */
    bool *makes;      /* by node: its value or a size of it is an unbacked symbol */
    uint32_t *base;   /* by node: the input that it is a view of, or NODE_NONE */
    struct str gpu;   /* the first */
    struct buf name;
};

#define NO_LEVEL UINT32_MAX

static const struct meta *meta_of(const struct limit_finder *f, uint32_t node)
{
    uint32_t meta = f->graph->nodes[node].meta;
    return meta == META_NONE ? NULL : &f->graph->pool->metas[meta];
}

static bool is_on_cpu(const struct limit_finder *f, const struct meta *meta)
{
    return meta && meta->kind == META_TENSOR && str_is(meta->device, "cpu") && !f->settings->on_gpu;
}

static void blame(struct limit_finder *f, enum skip_reason reason, uint32_t node)
{
    if (f->ret->skip != SKIP_NONE)
        return;
    f->ret->skip = reason;
    f->ret->node = node;
}

static struct str operator_name(struct limit_finder *f, const struct node *node)
{
    buf_clear(&f->name);
    node_op_name(node, &f->name);
    return buf_str(&f->name);
}

static bool is_forbidden(struct str name)
{
    static const char *const NAMES[] = {
#define UNSAFE(name) name,
#include "profile/calls/cudagraphs/unsafe_operators.def"
#undef UNSAFE
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (str_starts(name, str_of(NAMES[i])) &&
            (name.n == strlen(NAMES[i]) || name.p[strlen(NAMES[i])] == '.'))
            return true;
    return false;
}

/* ---- Inputs that are written to ---- */

/* Returns the node that is the first argument, or NODE_NONE. */
static uint32_t first_node(const struct limit_finder *f, uint32_t at)
{
    const struct arg *arg = node_args(f->graph, &f->graph->nodes[at]);
    return arg && arg->kind == ARG_NODE && arg->u.node < at ? arg->u.node : NODE_NONE;
}

static void find_base(struct limit_finder *f, uint32_t at, struct str op)
{
    const struct node *node = &f->graph->nodes[at];
    bool alias = node->op == NODE_ALIAS || (node_is_call(node) && op_returns_alias(op));
    uint32_t first = alias ? first_node(f, at) : NODE_NONE;
    f->base[at] = node->op == NODE_PLACEHOLDER ? at : first == NODE_NONE ? first : f->base[first];
}

/* An operator whose name ends with "_" writes to its first argument; "__" are Python's methods. */
static bool writes_first(struct str target)
{
    struct str base = target_base_name(target);
    return str_ends(base, STR("_")) && !str_ends(base, STR("__"));
}

static void find_mutation(struct limit_finder *f, uint32_t at)
{
    const struct node *node = &f->graph->nodes[at];
    uint32_t first = writes_first(node->target) ? first_node(f, at) : NODE_NONE;
    uint32_t input = first == NODE_NONE ? NODE_NONE : f->base[first];
    if (input == NODE_NONE)
        return;
    if (str_is(target_base_name(node->target), "set_") && first == input)
        blame(f, SKIP_STORAGE, at);
    if (f->keeps[input] || f->ret->mutates)
        return;
    f->ret->mutates = true;
    if (f->ret->skip == SKIP_NONE)
        f->ret->node = at;
}

/* ---- Partitions ---- */

static bool has_unbacked(const struct expr_pool *exprs, expr_id id)
{
    const struct expr *e = expr_at(exprs, id);
    uint64_t number;
    return e->kind == EXPR_SYMBOL && str_starts(e->text, STR("u")) &&
           str_to_u64(str_from(e->text, 1), &number);
}

/* Whether a node's value or a size of it is an unbacked symbol. A size that is an expression of
 * them has been made before. */
static bool has_new_symbol(const struct limit_finder *f, uint32_t at)
{
    const struct meta *meta = meta_of(f, at);
    if (!meta || meta->kind == META_OTHER)
        return false;
    for (uint32_t i = 0; i < meta->n_sizes; i++)
        if (has_unbacked(&f->graph->pool->exprs, meta->sizes[i]))
            return true;
    return false;
}

/* What the arguments of a node are: on the CPU, on a GPU, of an unbacked symbol; and the level of
 * the last that runs before it. */
struct arg_walk {
    struct limit_finder *f;
    uint32_t at;
    bool unsafe, cpu, symbol;
    uint32_t level;
};

static void walk_arg(struct arg_walk *walk, const struct arg *arg, unsigned depth)
{
    const struct graph *graph = walk->f->graph;
    if (arg->kind == ARG_NODE && arg->u.node < walk->at) {
        const struct meta *meta = meta_of(walk->f, arg->u.node);
        uint32_t level = walk->f->levels[arg->u.node];
        walk->cpu |= is_on_cpu(walk->f, meta);
        walk->symbol |= walk->f->makes[arg->u.node];
        if (level != NO_LEVEL) {
            level += walk->f->unsafe[arg->u.node] && !walk->unsafe;
            walk->level = level > walk->level ? level : walk->level;
        }
    }
    bool nested = arg->kind == ARG_LIST || arg->kind == ARG_TUPLE || arg->kind == ARG_DICT;
    for (uint32_t i = 0; nested && depth < 8 && i < arg->u.items.n; i++)
        walk_arg(walk, &graph->args[arg->u.items.first + i], depth + 1);
}

static void walk_args(struct arg_walk *walk)
{
    const struct node *node = &walk->f->graph->nodes[walk->at];
    for (uint32_t i = 0; i < node->n_args; i++)
        walk_arg(walk, &walk->f->graph->args[node->first_arg + i], 0);
}

/* Returns whether an operator cannot be recorded; *reason says why if nothing is partitioned. */
static bool is_unsafe(struct limit_finder *f, uint32_t at, struct str op, const struct arg_walk *in,
                      enum skip_reason *reason)
{
    bool cpu = is_on_cpu(f, meta_of(f, at));
    *reason = SKIP_OPERATOR;
    if (is_forbidden(op) || (f->makes[at] && !in->symbol))
        return true;
    *reason = SKIP_CPU;
    return cpu || in->cpu; /* computed on the CPU, or copied from there */
}

static void find_level(struct limit_finder *f, uint32_t at, struct str op)
{
    const struct node *node = &f->graph->nodes[at];
    enum skip_reason reason;
    struct arg_walk look = { .f = f, .at = at, .unsafe = true };
    walk_args(&look);
    bool alias = f->base[at] != NODE_NONE || node->form == FORM_GETITEM || node->op == NODE_ALIAS ||
                 op_returns_alias(op);
    const struct meta *meta = meta_of(f, at);
    bool scalar = meta && meta->kind == META_SYM;
    f->unsafe[at] =
        node_is_call(node) && !(alias && !look.cpu) && is_unsafe(f, at, op, &look, &reason);
    if (f->unsafe[at] && !f->settings->partitions)
        blame(f, reason, at);
    struct arg_walk walk = { .f = f, .at = at, .unsafe = f->unsafe[at] };
    walk_args(&walk);
    f->levels[at] = walk.level;
    bool runs = node_is_call(node) && !alias && !(scalar && !f->unsafe[at]);
    if (runs && !f->unsafe[at] && !f->used[walk.level]) {
        f->used[walk.level] = true;
        f->ret->n_partitions++;
    }
}

/* ---- Devices ---- */

static void find_device(struct limit_finder *f, uint32_t at)
{
    const struct meta *meta = meta_of(f, at);
    if (!meta || meta->kind != META_TENSOR || !meta->device.n || str_is(meta->device, "meta"))
        return;
    if (is_on_cpu(f, meta)) {
        if (!f->settings->partitions)
            blame(f, SKIP_CPU, at);
        return;
    }
    if (!f->gpu.n)
        f->gpu = meta->device;
    else if (!str_eq(f->gpu, meta->device) && !f->settings->on_gpu)
        blame(f, SKIP_DEVICES, at);
}

static void find_input(struct limit_finder *f, uint32_t at)
{
    const struct meta *meta = meta_of(f, at);
    if (f->graph->nodes[at].op == NODE_PLACEHOLDER && meta && meta->kind == META_OTHER &&
        str_is(meta->text, "None"))
        blame(f, SKIP_INPUT, at);
}

static bool has_symbols(const struct expr_pool *exprs, const struct meta *meta)
{
    for (uint32_t i = 0; i < meta->n_sizes; i++)
        if (expr_at(exprs, meta->sizes[i])->kind != EXPR_INT)
            return true;
    return false;
}

static void find_dynamic(struct limit_finder *f, uint32_t at)
{
    const struct meta *meta = meta_of(f, at);
    if (f->settings->skip_dynamic && meta && meta->kind != META_OTHER &&
        has_symbols(&f->graph->pool->exprs, meta))
        blame(f, SKIP_DYNAMIC, at);
}

static void find_all(struct limit_finder *f)
{
    for (uint32_t i = 0; i < f->graph->n_nodes; i++) {
        const struct node *node = &f->graph->nodes[i];
        struct str op = node_is_call(node) ? operator_name(f, node) : STR("");
        f->makes[i] = has_new_symbol(f, i);
        find_base(f, i, op);
        find_input(f, i);
        find_device(f, i);
        find_dynamic(f, i);
        if (node->op == NODE_OUTPUT || node->op == NODE_PLACEHOLDER)
            f->levels[i] = NO_LEVEL;
        else
            find_level(f, i, op);
        if (node_is_call(node))
            find_mutation(f, i);
    }
    if (!f->gpu.n)
        f->ret->skip = SKIP_NO_GPU, f->ret->node = NODE_NONE;
    else if (f->ret->n_partitions == 0)
        blame(f, SKIP_OPERATOR, NODE_NONE);
}

bool graph_limits_find(const struct graph *graph, const bool *keeps,
                       const struct wrap_settings *settings, struct graph_limits *ret)
{
    size_t n = (size_t)graph->n_nodes + 1;
    struct limit_finder f = { .graph = graph,
                              .keeps = keeps,
                              .settings = settings,
                              .ret = ret,
                              .levels = calloc(n, sizeof *f.levels),
                              .unsafe = calloc(n, sizeof *f.unsafe),
                              .used = calloc(n, sizeof *f.used), /* a level has an operator */
                              .makes = calloc(n, sizeof *f.makes),
                              .base = calloc(n, sizeof *f.base) };
    *ret = (struct graph_limits){ .node = NODE_NONE };
    bool ok = f.levels && f.unsafe && f.used && f.makes && f.base;
    if (ok)
        find_all(&f);
    ok = ok && !f.name.failed;
    if (ok && !settings->partitions && ret->n_partitions > 1)
        ret->n_partitions = 1;
    buf_release(&f.name);
    free(f.levels);
    free(f.unsafe);
    free(f.used);
    free(f.makes);
    free(f.base);
    return ok;
}
