#include "replay/program/dtensor.h"

/* ---- Meshes and placements ---- */

bool device_mesh_parse(struct str text, struct device_mesh *ret)
{
    const struct str head = STR("DeviceMesh((");
    struct device_mesh mesh = { 0 };
    size_t at = str_find(text, head);
    if (at == text.n)
        return false;
    text = str_from(text, at + head.n);
    text = str_first(text, str_find_char(text, ')'));
    while (text.n) {
        size_t end = str_find_char(text, ',');
        struct str item = str_trim(str_first(text, end));
        size_t name = str_find_char(item, '=');
        uint64_t size;
        text = str_from(text, end < text.n ? end + 1 : end);
        if (item.n == 0)
            continue;
        if (mesh.n == MESH_MAX_DIM ||
            !str_to_u64(name < item.n ? str_from(item, name + 1) : item, &size) || size == 0 ||
            size > INT32_MAX)
            return false;
        mesh.size[mesh.n++] = (int64_t)size;
    }
    if (mesh.n)
        *ret = mesh;
    return mesh.n > 0;
}

/* The dimension over which each dimension of the mesh shards; -1: none, as all ranks have its
 * whole. */
struct placements {
    uint32_t n;
    int shard[MESH_MAX_DIM];
};

/* Reads "S(0)RP(sum)", as annotations have it (DTensorSpec.format_shard_order_str of
 * torch/distributed/tensor/_dtensor_spec.py), in which the order of shards of one dimension may
 * follow, "S(1)[1]S(1)[0]". False: there is a placement of another kind. */
static bool read_placements(struct str text, struct placements *ret)
{
    *ret = (struct placements){ 0 };
    while (text.n) {
        char kind = text.p[0];
        size_t close = str_find_char(text, ')');
        bool has_argument = text.n > 1 && text.p[1] == '(';
        uint64_t dim = 0;
        if (ret->n == MESH_MAX_DIM || (has_argument && close == text.n))
            return false;
        struct str argument = has_argument ? str_from(str_first(text, close), 2) : STR("");
        if (kind == 'S' && (!str_to_u64(argument, &dim) || dim >= TENSOR_MAX_DIM))
            return false;
        if (kind != 'S' && kind != 'R' && kind != 'P')
            return false;
        ret->shard[ret->n++] = kind == 'S' ? (int)dim : -1;
        text = str_from(text, has_argument ? close + 1 : 1);
        if (text.n && text.p[0] == '[')
            text = str_from(text, str_find_char(text, ']') + 1);
    }
    return ret->n > 0;
}

static bool placements_of(const struct graph *graph, uint32_t node, struct placements *ret)
{
    uint32_t meta = node < graph->n_nodes ? graph->nodes[node].meta : META_NONE;
    return meta != META_NONE && str_is(graph->pool->metas[meta].wrapper, "DTensor") &&
           read_placements(graph->pool->metas[meta].placement, ret);
}

/* ---- Sizes ---- */

struct shape {
    struct ops *ops;
    uint32_t ndim;
    sym_id size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
};

static bool divide(struct shape *s, sym_id *e, sym_id by)
{
    struct sym_pool *pool = ops_pool(s->ops);
    sym_id part = sym_floordiv(pool, *e, by);
    bool exact = part != SYM_NONE && sym_mul(pool, part, by) == *e;
    *e = exact ? part : *e;
    return exact;
}

/* Makes the shape of a shard that of the whole (compute_global_tensor_info of
 * torch/distributed/tensor/_utils.py), or the other way around. */
static bool scale(struct shape *s, uint32_t dim, int64_t ranks, bool up)
{
    struct sym_pool *pool = ops_pool(s->ops);
    sym_id by = sym_integer(pool, ranks), own = s->stride[dim];
    if (up)
        s->size[dim] = sym_mul(pool, s->size[dim], by);
    else if (!divide(s, &s->size[dim], by))
        return false;
    for (uint32_t i = 0; i < s->ndim; i++) {
        bool outer = false;
        if (i == dim)
            continue;
        if (!env_guard_bool(ops_env(s->ops),
                            up ? sym_ge(pool, s->stride[i], own) : sym_gt(pool, s->stride[i], own),
                            &outer))
            return false;
        if (outer && up)
            s->stride[i] = sym_mul(pool, s->stride[i], by);
        else if (outer && !divide(s, &s->stride[i], by))
            return false;
    }
    return true;
}

/* Returns whether a graph has one mesh as its input. */
static bool has_one_mesh(const struct graph *graph)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        n += node->op == NODE_PLACEHOLDER && node->meta != META_NONE &&
             str_ends(graph->pool->metas[node->meta].text, STR(".DeviceMesh"));
    }
    return n == 1;
}

/* Finds the size of a mesh in the recorded sizes of a global tensor. */
static void learn_mesh(struct device_mesh *mesh, const struct shape *local,
                       const struct placements *p, const struct program *program,
                       const struct expected *global)
{
    struct sym_pool *pool = ops_pool(local->ops);
    uint32_t shards[TENSOR_MAX_DIM] = { 0 };
    if (mesh->n || mesh->several || global->kind != EXPECT_TENSOR || global->ndim != local->ndim ||
        !has_one_mesh(program->graph))
        return;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->shard[i] >= 0)
            shards[p->shard[i]]++;
    for (uint32_t i = 0; i < p->n; i++) {
        int64_t ranks = 0;
        uint32_t dim = p->shard[i] < 0 ? local->ndim : (uint32_t)p->shard[i];
        sym_id ratio = dim < local->ndim && shards[dim] == 1
                           ? sym_div(pool, global->size[dim], local->size[dim])
                           : SYM_NONE;
        if (ratio == SYM_NONE || !sym_to_i64(pool, ratio, &ranks) || ranks < 0)
            ranks = 0;
        mesh->size[i] = ranks;
    }
    mesh->n = p->n;
}

static bool scale_all(struct shape *s, const struct device_mesh *mesh, const struct placements *p,
                      bool up)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->shard[i] < 0)
            continue;
        if (i >= mesh->n || mesh->size[i] == 0 || (uint32_t)p->shard[i] >= s->ndim ||
            !scale(s, (uint32_t)p->shard[i], mesh->size[i], up))
            return false;
    }
    return true;
}

/* Takes sizes or strides that are passed to from_local(). */
static bool take_given(const struct step *step, const char *name, uint32_t ndim, sym_id *to)
{
    const struct value *given = NULL;
    for (uint32_t i = 0; i < step->n_keywords; i++)
        if (str_is(step->keywords[i].name, name))
            given = &step->keywords[i].value;
    if (!given || !value_is_sequence(*given) || given->n != ndim)
        return false;
    for (uint32_t i = 0; i < ndim; i++) {
        if (given->u.items[i].kind != VALUE_INT)
            return false;
        to[i] = given->u.items[i].u.sym;
    }
    return true;
}

/* ---- Calls ---- */

enum dtensor_call { FROM_LOCAL, REDISTRIBUTE, TO_LOCAL };

static const struct {
    enum node_op op;
    const char *target;
    enum dtensor_call call;
} calls[] = {
    { NODE_CALL_FUNCTION, "torch.distributed.tensor._api.from_local", FROM_LOCAL },
    { NODE_CALL_METHOD, "full_tensor", REDISTRIBUTE }, /* the global tensor on each rank */
    { NODE_CALL_METHOD, "redistribute", REDISTRIBUTE },
    { NODE_CALL_METHOD, "to_local", TO_LOCAL },
};
enum { CALLS = sizeof calls / sizeof *calls };

static size_t find_call(enum node_op op, struct str target)
{
    size_t i = 0;
    while (i < CALLS && (calls[i].op != op || !str_is(target, calls[i].target)))
        i++;
    return i;
}

bool dtensor_is_call(const struct node *node)
{
    return find_call(node->op, node->target) < CALLS;
}

/* Returns the node whose value is the first argument. */
static node_id self_node(const struct program *p, const struct step *step)
{
    for (uint32_t i = 0; i < step->n_patches; i++)
        if (p->patches[step->first_patch + i].at == step->args)
            return p->patches[step->first_patch + i].from;
    return NODE_NONE;
}

enum op_outcome dtensor_call(struct ops *ops, struct device_mesh *mesh, const struct program *p,
                             const struct step *step, struct value *ret)
{
    const struct node *node = &p->graph->nodes[step->node];
    size_t call = find_call(node->op, node->target);
    if (call == CALLS || step->n_args == 0 || step->args[0].kind != VALUE_TENSOR)
        return OP_UNSUPPORTED;
    struct tensor_meta meta = *step->args[0].u.tensor.meta;
    struct shape s = { .ops = ops, .ndim = meta.ndim };
    struct placements placements;
    bool up = calls[call].call == FROM_LOCAL, ok = calls[call].call == REDISTRIBUTE;
    for (uint32_t i = 0; i < meta.ndim; i++) {
        s.size[i] = meta.size[i];
        s.stride[i] = meta.stride[i];
    }
    if (up)
        ok = take_given(step, "shape", s.ndim, s.size) &&
             take_given(step, "stride", s.ndim, s.stride);
    if (!ok && !placements_of(p->graph, up ? step->node : self_node(p, step), &placements))
        return OP_UNSUPPORTED;
    if (!ok && up)
        learn_mesh(mesh, &s, &placements, p, step->expected);
    if (!ok && !scale_all(&s, mesh, &placements, up))
        return env_raised(ops_env(ops)).kind == ENV_RAISED_MEMORY ? OP_FAILED : OP_UNSUPPORTED;
    meta.size = s.size;
    meta.stride = s.stride;
    *ret = value_tensor(ops_new_tensor(ops, &meta));
    return ret->kind == VALUE_TENSOR ? OP_DONE : OP_FAILED;
}
