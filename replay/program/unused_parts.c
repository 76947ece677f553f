/* What autograd's formula of cat() makes beside what is used of it. */
#include "replay/ops/model/stats.h"
#include "replay/program/traced.h"

/* A slice of a gradient along `dim`, as narrow() makes it. */
struct part {
    node_id gradient;
    struct tensor x;
    int64_t dim;
    sym_id start;
};

static bool read_part(struct ops *ops, const struct program *program, const struct step *step,
                      struct part *ret)
{
    if (!str_is(step->target, "torch.ops.aten.slice.Tensor") || step->n_args < 4 ||
        !step->n_patches || step->args[0].kind != VALUE_TENSOR ||
        program->patches[step->first_patch].at != &step->args[0] ||
        step->args[1].kind != VALUE_INT || step->args[2].kind != VALUE_INT ||
        !sym_to_i64(ops_pool(ops), step->args[1].u.sym, &ret->dim))
        return false;
    ret->gradient = program->patches[step->first_patch].from;
    ret->x = step->args[0].u.tensor;
    ret->start = step->args[2].u.sym;
    ret->dim += ret->dim < 0 ? ret->x.meta->ndim : 0;
    return ret->dim >= 0 && ret->dim < ret->x.meta->ndim;
}

static bool same_sizes(const struct tensor_meta *a, const struct tensor_meta *b)
{
    return a->ndim == b->ndim && memcmp(a->size, b->size, a->ndim * sizeof *a->size) == 0;
}

/* Returns the tensors that the cat() takes whose gradient a part is of, or an empty list. */
static struct value concatenated(struct ops *ops, const struct program *program,
                                 const struct step *before, const struct part *part)
{
    for (const struct step *step = before; step-- > program->steps;) {
        int64_t dim = 0;
        struct value result = program->first[step->node];
        if (!str_is(step->target, "torch.ops.aten.cat.default") || !step->n_args ||
            step->args[0].kind != VALUE_LIST || result.kind != VALUE_TENSOR ||
            !same_sizes(result.u.tensor.meta, part->x.meta) ||
            (step->n_args > 1 && (step->args[1].kind != VALUE_INT ||
                                  !sym_to_i64(ops_pool(ops), step->args[1].u.sym, &dim))))
            continue;
        if (dim + (dim < 0 ? (int64_t)part->x.meta->ndim : 0) == part->dim)
            return step->args[0];
    }
    return value_items(VALUE_LIST, NULL, 0);
}

/* Returns whether a step in [from, to) makes the part that begins at `start`, or any if it is
 * SYM_NONE. */
static bool is_made(struct ops *ops, const struct program *program, uint32_t from, uint32_t to,
                    const struct part *part, sym_id start)
{
    struct part other;
    for (uint32_t i = from; i < to; i++) {
        const struct step *step = &program->steps[i];
        if (!step->n_patches || program->patches[step->first_patch].from != part->gradient ||
            !str_is(step->target, "torch.ops.aten.slice.Tensor"))
            continue;
        if (start == SYM_NONE || (read_part(ops, program, step, &other) && other.start == start))
            return true;
    }
    return false;
}

static bool evaluate_part(struct traced *traced, struct ops *ops, const struct part *part,
                          sym_id start, sym_id end)
{
    struct sym_pool *pool = ops_pool(ops);
    struct value result, args[] = { value_tensor(part->x), value_int(sym_integer(pool, part->dim)),
                                    value_int(start), value_int(end) };
    ops_set_muted(ops, true);
    enum op_outcome outcome = ops_call(ops, STR("aten.slice.Tensor"),
                                       &(struct arguments){ .values = args, .n = 4 }, &result);
    ops_set_muted(ops, false);
    return outcome != OP_DONE || traced_evaluate(traced, ops, result);
}

bool traced_evaluate_unused(struct traced *traced, struct ops *ops, const struct program *program,
                            const struct step *step, struct value result)
{
    struct part part;
    if (!traced->backward || !read_part(ops, program, step, &part))
        return true;
    struct value items = concatenated(ops, program, step, &part);
    bool last = !is_made(ops, program, step->node + 1, program->n_steps, &part, SYM_NONE);
    bool after = false;
    sym_id start = SYM_ID_ZERO;
    for (uint32_t i = 0; i < items.n && items.u.items[i].kind == VALUE_TENSOR; i++) {
        const struct tensor_meta *meta = items.u.items[i].u.tensor.meta;
        if (meta->ndim != part.x.meta->ndim) /* an empty tensor of one dimension */
            continue;
        sym_id end = sym_add(ops_pool(ops), start, meta->size[part.dim]);
        if (start == part.start) {
            after = true;
            if (!traced_evaluate(traced, ops, result))
                return false;
        } else if ((after ? last : !is_made(ops, program, 0, step->node, &part, start)) &&
                   !evaluate_part(traced, ops, &part, start, end)) {
            return false;
        }
        start = end;
    }
    return true;
}
