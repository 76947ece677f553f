#include "replay/backend/pad/padded_run.h"

#include <string.h>

/* What the run without padding had. */
struct plain_run {
    struct array *inputs; /* n_inputs, by number */
    uint32_t n_inputs, next;
    const struct graph *graph;
    struct arena arena;
};

bool array_resize(const struct array *given, const int64_t *size, struct arena *arena,
                  struct array *ret, struct err *err)
{
    const struct array old = *given, *x = &old;
    int64_t stride[TENSOR_MAX_DIM], at[TENSOR_MAX_DIM] = { 0 }, n = 1, elements = 1;
    const size_t bytes = dtype_size(x->dtype);
    *ret = *x;
    for (uint32_t d = x->ndim; d-- > 0;) {
        stride[d] = n;
        ret->size[d] = size[d];
        if (size[d] < 0 || (x->size[d] == 0 && size[d] > 0))
            return err_set(err, ERR_USAGE, "dimension %u has no row to repeat", d);
        if (__builtin_mul_overflow(elements, size[d], &elements))
            return err_nomem(err);
        n *= x->size[d];
    }
    if (__builtin_mul_overflow((size_t)elements, bytes, &ret->bytes) || ret->bytes == SIZE_MAX)
        return err_nomem(err);
    char *to = arena_alloc(arena, ret->bytes + 1, 16);
    ret->p = to;
    for (int64_t i = 0; to && i < elements; i++) {
        int64_t from = 0;
        for (uint32_t d = 0; d < x->ndim; d++)
            from += stride[d] * (at[d] < x->size[d] ? at[d] : x->size[d] - 1);
        memcpy(to + (size_t)i * bytes, (const char *)x->p + (size_t)from * bytes, bytes);
        for (uint32_t d = x->ndim; d-- > 0 && ++at[d] == size[d];)
            at[d] = 0;
    }
    return to || err_nomem(err);
}

/* ---- Inputs ---- */

static uint32_t count_inputs(const struct graph *graph)
{
    uint32_t n = 0;
    for (node_id id = 0; id < graph->n_nodes; id++)
        n += graph->nodes[id].op == NODE_PLACEHOLDER;
    return n;
}

/* Copies the values of each input before later nodes change them. */
static bool keep_input(void *user, struct run *run, const struct step *step,
                       const struct value *value, struct err *err)
{
    struct plain_run *p = user;
    uint32_t i = p->next;
    p->next += step->kind == STEP_INPUT;
    if (step->kind != STEP_INPUT || value->kind != VALUE_TENSOR)
        return true;
    return i >= p->n_inputs || run_array(run, value->u.tensor, &p->arena, &p->inputs[i], err);
}

/* The sizes of the inputs with padding, from a run on the null backend. */
struct padded_sizes {
    struct plain_run *plain;
    struct array *inputs; /* without values */
    uint32_t next;
};

static bool keep_sizes(void *user, struct run *run, const struct step *step,
                       const struct value *value, struct err *err)
{
    struct padded_sizes *p = user;
    uint32_t i = p->next;
    p->next += step->kind == STEP_INPUT;
    if (step->kind != STEP_INPUT || value->kind != VALUE_TENSOR || i >= p->plain->n_inputs)
        return true;
    const struct tensor_meta *meta = value->u.tensor.meta;
    p->inputs[i].ndim = meta->ndim;
    for (uint32_t d = 0; d < meta->ndim; d++)
        if (!sym_to_i64(ops_pool(run->ops), meta->size[d], &p->inputs[i].size[d]))
            return err_set(err, ERR_USAGE, "input %u has a size that is no number", i);
    return true;
}

/* Replaces the inputs by those of the padded sizes. */
static bool pad_inputs(struct plain_run *p, const struct run_options *options,
                       const struct run_size *padded, struct err *err)
{
    const struct backend_kind *kind = backend_find(STR("null"));
    struct run_options counting = *options;
    struct padded_sizes sizes = { p, arena_array(&p->arena, struct array, p->n_inputs + 1), 0 };
    counting.backend = kind->open(err);
    counting.sizes = padded;
    counting.input = NULL;
    counting.node = keep_sizes;
    counting.node_user = &sizes;
    struct run *run = sizes.inputs && counting.backend ? run_new(p->graph, &counting, err) : NULL;
    bool ok = run && run_execute(run, err);
    run_free(run);
    kind->close(counting.backend);
    for (uint32_t i = 0; ok && i < p->n_inputs; i++) {
        const struct array x = p->inputs[i];
        if (x.p && x.ndim == sizes.inputs[i].ndim &&
            !array_resize(&x, sizes.inputs[i].size, &p->arena, &p->inputs[i], err)) {
            err_at(err, "input %u", i);
            ok = false;
        }
    }
    return ok || (!err_is_set(err) && err_nomem(err));
}

static bool give_input(void *user, uint32_t i, const struct node *node, struct array *ret,
                       struct err *err)
{
    const struct plain_run *p = user;
    (void)node, (void)err;
    ret->p = NULL;
    if (i < p->n_inputs && p->inputs[i].p)
        *ret = p->inputs[i];
    return true;
}

/* ---- Outputs ---- */

static bool compare_output(struct run *plain, struct run *padded, uint32_t i, struct arena *arena,
                           struct padded_outputs *ret, struct err *err)
{
    struct array expected, got, first;
    if (plain->outputs[i].kind != VALUE_TENSOR || padded->outputs[i].kind != VALUE_TENSOR)
        return true;
    if (!run_array(plain, plain->outputs[i].u.tensor, arena, &expected, err) ||
        !run_array(padded, padded->outputs[i].u.tensor, arena, &got, err))
        return false;
    if (expected.ndim != got.ndim)
        return err_set(err, ERR_USAGE, "output %u has another number of dimensions", i);
    for (uint32_t d = 0; d < got.ndim; d++)
        if (got.size[d] < expected.size[d])
            return err_set(err, ERR_USAGE, "output %u is smaller with padding", i);
    if (!array_resize(&got, expected.size, arena, &first, err))
        return false;
    struct difference d = compare_arrays(&expected, &first, tolerance_of(expected.dtype));
    bool differs = !d.comparable || d.bad || d.nans || d.infs;
    if (differs && !ret->differing)
        ret->first = i;
    ret->tensors++;
    ret->differing += differs;
    ret->most = d.max_absolute > ret->most ? d.max_absolute : ret->most;
    return true;
}

static bool compare_outputs(struct run *plain, struct run *padded, struct padded_outputs *ret,
                            struct err *err)
{
    bool ok = plain->n_outputs == padded->n_outputs ||
              err_set(err, ERR_USAGE, "with padding there are other outputs");
    for (uint32_t i = 0; ok && i < plain->n_outputs; i++) {
        struct arena arena = ARENA_INIT;
        ok = compare_output(plain, padded, i, &arena, ret, err);
        arena_release(&arena);
    }
    return ok;
}

bool padded_run_compare(const struct graph *graph, const struct run_options *options,
                        const struct run_size *padded, struct padded_outputs *ret, struct err *err)
{
    struct plain_run p = { .graph = graph, .n_inputs = count_inputs(graph) };
    struct run_options plain = *options, more = *options;
    struct run *first = NULL, *second = NULL;
    *ret = (struct padded_outputs){ 0 };
    p.inputs = arena_array(&p.arena, struct array, p.n_inputs + 1);
    if (p.inputs)
        memset(p.inputs, 0, (p.n_inputs + 1) * sizeof *p.inputs);
    else
        err_nomem(err);
    plain.node = keep_input;
    plain.node_user = &p;
    more.sizes = padded;
    more.input = give_input;
    more.user = &p;
    bool ok = p.inputs && (first = run_new(graph, &plain, err)) != NULL &&
              run_execute(first, err) && pad_inputs(&p, &more, padded, err) &&
              (second = run_new(graph, &more, err)) != NULL && run_execute(second, err) &&
              compare_outputs(first, second, ret, err);
    run_free(second);
    run_free(first);
    arena_release(&p.arena);
    return ok;
}
