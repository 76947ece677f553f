/* Nodes that are computed in the same way: programs write x[mask.bool()] and y[mask.bool()] = ...,
 * and both masks have the same values. */
#include <stdlib.h>

#include "minify/rewrite/mask_graph.h"
#include "trace/base/number.h"

/* ---- Storages that calls write to ---- */

/* Returns the storage that a call writes to; UINT32_MAX: none. */
static uint32_t written_storage(const struct masker *m, node_id id)
{
    const struct arg *out = mask_arg(m, id, UINT32_MAX, "out");
    if (!node_writes(m->graph, &m->graph->nodes[id]))
        return UINT32_MAX;
    out = out ? out : mask_arg(m, id, 0, "self");
    return out && out->kind == ARG_NODE ? data_of(m->whole)->storages[out->u.node] : UINT32_MAX;
}

static void gather_written(struct masker *m)
{
    m->written = arena_array(&m->arena, uint32_t, (size_t)m->graph->n_nodes + 1);
    m->failed |= !m->written;
    for (node_id id = 0; m->written && id < m->graph->n_nodes && data_of(m->whole)->writes; id++) {
        uint32_t storage = written_storage(m, id);
        if (storage != UINT32_MAX)
            m->written[m->n_written++] = storage;
    }
    if (m->n_written)
        qsort(m->written, m->n_written, sizeof *m->written, compare_u32);
}

bool mask_is_written(const struct masker *m, node_id id)
{
    return m->n_written && bsearch(&data_of(m->whole)->storages[id], m->written, m->n_written,
                                   sizeof *m->written, compare_u32);
}

/* ---- Keys ---- */

struct same_key {
    const struct masker *m;
    struct buf text;
    bool unique; /* an argument may change, or has no key */
};

static void put_key_arg(struct same_key *k, const struct arg *arg)
{
    buf_printf(&k->text, "|%d", (int)arg->kind);
    buf_counted(&k->text, arg->key);
    switch (arg->kind) {
    case ARG_NODE:
        buf_varint(&k->text, k->m->nodes[arg->u.node].same);
        k->unique |= mask_is_written(k->m, arg->u.node);
        break;
    case ARG_NONE: break;
    case ARG_BOOL:
    case ARG_INT:
    case ARG_DTYPE: buf_zigzag(&k->text, arg->u.integer); break;
    case ARG_FLOAT:
    case ARG_DEVICE:
    case ARG_STRING: buf_counted(&k->text, arg->text); break;
    default: k->unique = true; break; /* masks have no other arguments as a rule */
    }
}

/* Returns whether equal arguments need not give equal results: of random numbers, and of memory
 * that nothing wrote. */
static bool is_arbitrary(struct str base)
{
    return str_is(base, "empty_like") || str_is(base, "scaled_dot_product_attention");
}

/* Writes what determines the values of a call; returns false if they need not be equal to those of
 * another such call. */
static bool put_key(struct same_key *k, node_id id)
{
    const struct node *node = &k->m->graph->nodes[id];
    const struct arg *args = node_args(k->m->graph, node);
    buf_clear(&k->text);
    k->unique = !node_is_call(node) || node_writes(k->m->graph, node) || !mask_tensor(k->m, id) ||
                !mask_has_rule(mask_base(node)) || is_arbitrary(mask_base(node));
    if (k->unique)
        return false;
    k->unique = mask_is_written(k->m, id);
    buf_printf(&k->text, "%d %u ", (int)node->op, (unsigned)node->meta);
    buf_counted(&k->text, node->target);
    for (uint32_t i = 0; i < node->n_args && !k->unique; i++)
        put_key_arg(k, &args[i]);
    return !k->unique;
}

void mask_find_same(struct masker *m)
{
    struct same_key key = { .m = m };
    struct intern keys = INTERN_INIT;
    node_id *first = arena_array(&m->arena, node_id, (size_t)m->graph->n_nodes + 1);
    gather_written(m);
    m->failed |= !first;
    for (node_id id = 0; id < m->graph->n_nodes; id++)
        m->nodes[id].same = id;
    for (node_id id = 0; id < m->graph->n_nodes && !m->failed; id++) {
        if (!put_key(&key, id))
            continue;
        size_t before = keys.texts.n;
        uint32_t number = key.text.failed ? INTERN_NONE : intern(&keys, buf_str(&key.text));
        m->failed |= number == INTERN_NONE;
        if (number != INTERN_NONE && keys.texts.n > before)
            first[number] = id;
        else if (number != INTERN_NONE)
            m->nodes[id].same = first[number];
    }
    m->failed |= key.text.failed;
    intern_release(&keys);
    buf_release(&key.text);
}
