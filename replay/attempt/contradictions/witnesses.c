#include "replay/attempt/contradictions/witnesses.h"

void witnesses_add(struct witnesses *w, struct witness witness)
{
    if (witness.shape.kind != SHAPE_NOTHING && w->n < MOST_WITNESSES)
        w->v[w->n++] = witness;
}

/* Returns whether a meta has the strides that a witness expects and does not ask for. */
static bool has_usual_strides(const struct witness *x, const struct shape *shape)
{
    if (!x->usual_stride || !shape->stride || x->shape.ndim != shape->ndim)
        return false;
    for (uint32_t d = 0; d < shape->ndim; d++)
        if (x->usual_stride[d] != shape->stride[d])
            return false;
    return true;
}

/* Returns the votes for a witness: 4 of each that agrees with it, and 1 for usual strides. */
static size_t count_votes(struct evidence *e, const struct witnesses *w, size_t i)
{
    size_t n = 0;
    for (size_t k = 0; k < w->n; k++)
        n += 4 * (size_t)shapes_agree(e->pool, &w->v[i].shape, &w->v[k].shape) +
             (size_t)has_usual_strides(&w->v[k], &w->v[i].shape);
    return n;
}

/* Returns how much a storage says for a description: 1 that it is right, -1 that it is not. */
static int storage_vote(const struct input_tensor *t)
{
    int64_t bytes;
    if (!t || !storage_needs(t, -1, 0, &bytes))
        return 0;
    return bytes == t->storage_bytes ? 1 : bytes > t->storage_bytes ? -1 : 0;
}

/* Returns the witness that most agree with, of those that agree with `other` (NULL: of all); its
 * storage decides about a description, then the order of the records. A list of sizes has no
 * strides, so it is none, and `strict` excludes outputs, whose strides are not compared. */
static size_t elect_among(struct evidence *e, const struct witnesses *w,
                          const struct witness *other, bool strict)
{
    size_t best = w->n, votes = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct witness *x = &w->v[i];
        size_t n = count_votes(e, w, i) + 2 * (size_t)(1 + storage_vote(x->described));
        bool fits = (x->node || x->described) && !(strict && x->usual_stride) &&
                    (!other || shapes_agree(e->pool, &x->shape, &other->shape));
        if (fits && n > votes) {
            best = i;
            votes = n;
        }
    }
    return best;
}

/* An output agrees with inputs of any strides, which may differ from each other. */
static size_t elect(struct evidence *e, const struct witnesses *w)
{
    size_t best = elect_among(e, w, NULL, false);
    if (best == w->n)
        return 0;
    size_t strict = w->v[best].usual_stride ? elect_among(e, w, &w->v[best], true) : w->n;
    return strict == w->n ? best : strict;
}

static void print_numbers(struct evidence *e, const sym_id *list, uint32_t n, struct buf *out)
{
    buf_putc(out, '[');
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(out, i ? ", " : "");
        if (list[i] == SYM_NONE)
            buf_putc(out, '?');
        else
            sym_print(e->pool, list[i], out);
    }
    buf_putc(out, ']');
}

/* Returns a witness's meta: as printed in a graph, or in numbers. */
static struct str witness_text(struct evidence *e, const struct witness *x)
{
    struct buf text = BUF_INIT;
    if (x->node) {
        buf_put(&text, x->graph->graph->pool->metas[x->node->meta].text);
    } else {
        if (x->described)
            buf_puts(&text, dtype_short_name(x->shape.dtype));
        print_numbers(e, x->shape.size, x->shape.ndim, &text);
        if (x->shape.stride)
            print_numbers(e, x->shape.stride, x->shape.ndim, &text);
        if (x->described)
            device_print(x->shape.device, &text);
    }
    struct str ret = arena_copy(&e->arena, buf_str(&text));
    e->failed |= text.failed || !ret.p;
    buf_release(&text);
    return ret;
}

static uint32_t record_of(const struct witness *x)
{
    return x->graph ? x->graph->record : x->described->record;
}

static void replace_list(struct evidence *e, const sym_id *from, uint32_t n, int64_t *to)
{
    for (uint32_t d = 0; from && d < n; d++)
        if (from[d] != SYM_NONE)
            sym_to_i64(e->pool, from[d], &to[d]); /* unless it has no value */
}

/* Gives the description the meta of the graphs; it is not used any more where that cannot be. */
static void replace_description(struct evidence *e, struct input_tensor *t, const struct shape *by)
{
    t->concrete = by->kind == SHAPE_TENSOR && by->ndim == t->ndim;
    if (!t->concrete)
        return;
    t->dtype = by->dtype;
    t->device = by->device.type == DEVICE_NONE ? t->device : by->device;
    replace_list(e, by->size, by->ndim, t->size);
    replace_list(e, by->stride, by->ndim, t->stride);
}

/* Returns a node that agrees with a witness, or the witness itself. */
static const struct witness *node_beside(struct evidence *e, const struct witnesses *w,
                                         const struct witness *right)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->v[i].node && shapes_agree(e->pool, &w->v[i].shape, &right->shape))
            return &w->v[i];
    return right;
}

static void blame(struct evidence *e, const struct witness *wrong, const struct witness *right)
{
    struct contradiction row = { .kind = wrong->described ? CONTRADICTION_DESCRIPTION
                                         : wrong->node    ? CONTRADICTION_PLACEHOLDER
                                                          : CONTRADICTION_SIZES,
                                 .record = record_of(wrong),
                                 .beside = record_of(right),
                                 .ref = wrong->graph ? wrong->graph->ref : TRACE_NONE,
                                 .recorded = witness_text(e, wrong),
                                 .expected = witness_text(e, right) };
    row.name = wrong->described ? wrong->described->source : STR("");
    if (wrong->node)
        row.name = wrong->node->name;
    else if (wrong->graph && right->node)
        row.name = right->node->name;
    evidence_add(e, row);
    if (wrong->described)
        replace_description(e, wrong->described, &right->shape);
    const struct graph *graph = right->node ? right->graph->graph : NULL;
    if (wrong->node)
        e->failed |= !contradictions_add_other(
            e->found, (struct other_input){ graph, wrong->node, right->node });
}

static bool can_be_blamed(const struct witness *x)
{
    return x->node ? !node_is_call(x->node) : x->described || x->graph;
}

void witnesses_vote(struct evidence *e, const struct witnesses *w)
{
    size_t right = w->n > 1 ? elect(e, w) : 0;
    for (size_t i = 0; i < w->n; i++)
        if (!shapes_agree(e->pool, &w->v[i].shape, &w->v[right].shape) && can_be_blamed(&w->v[i]))
            blame(e, &w->v[i], node_beside(e, w, &w->v[right]));
}
