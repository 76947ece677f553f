/* The symbols of a tensor (_create_symbolic_sizes_strides_storage_offset). */
#include <stdlib.h>

#include "replay/shape/env/env_inside.h"

enum { MAX_DIMS = 64 };

struct symbol_tensor {
    struct shape_env *env;
    const struct tensor_request *request;
    sym_id *size, *stride;
    struct buf source;
    bool is_static; /* every size is static */
};

static enum dim_dynamic size_dynamic(const struct tensor_request *r, uint32_t i)
{
    return r->dynamic ? r->dynamic[i] : DIM_DUCK;
}

static sym_id create_dim_symbol(struct symbol_tensor *t, const char *property, int64_t i,
                                int64_t value, enum dim_dynamic dynamic,
                                struct dim_constraint constraint, bool zero_one)
{
    buf_clear(&t->source);
    buf_put(&t->source, t->request->source);
    if (i >= 0)
        buf_printf(&t->source, ".%s()[%lld]", property, (long long)i);
    else
        buf_printf(&t->source, ".%s()", property);
    if (t->source.failed)
        return env_no_memory(t->env), SYM_NONE;
    return env_create_symbol(t->env,
                             &(struct symbol_request){ .value = sym_integer(t->env->pool, value),
                                                       .source = buf_str(&t->source),
                                                       .dynamic = dynamic,
                                                       .constraint = constraint,
                                                       .positive = true,
                                                       .do_not_specialize_zero_one = !zero_one,
                                                       .size_like = !zero_one,
                                                       .stateful = t->request->stateful });
}

static bool create_sizes(struct symbol_tensor *t)
{
    const struct tensor_request *r = t->request;
    bool oblivious = t->env->settings.backed_size_oblivious;
    for (uint32_t i = 0; i < r->ndim; i++) {
        struct dim_constraint constraint = { .kind = CONSTRAINT_NONE };
        if (r->constraints)
            constraint = r->constraints[i];
        t->size[i] =
            create_dim_symbol(t, "size", i, r->size[i], size_dynamic(r, i), constraint, !oblivious);
        if (t->size[i] == SYM_NONE)
            return false;
    }
    return true;
}

/* Sorts strides: the smallest first, of equal ones the innermost. */
static void order_strides(const struct tensor_request *r, uint32_t *order)
{
    for (uint32_t i = 0; i < r->ndim; i++) {
        uint32_t at = i;
        for (; at > 0 && r->stride[order[at - 1]] >= r->stride[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

struct stride_candidate {
    int64_t value;
    sym_id expr;
};

static sym_id find_candidate(const struct stride_candidate *v, uint32_t n, int64_t value)
{
    for (uint32_t i = n; i > 0; i--)
        if (v[i - 1].value == value)
            return v[i - 1].expr;
    return SYM_NONE;
}

static int64_t multiply_strides(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

static sym_id create_stride(struct symbol_tensor *t, uint32_t i, const struct stride_candidate *v,
                            uint32_t n)
{
    const struct tensor_request *r = t->request;
    int64_t value = r->stride[i];
    bool contiguous = i + 1 < r->ndim &&
                      value == multiply_strides(r->size[i + 1], r->stride[i + 1]) && value >= 0;
    if ((value == 0 || value == 1) && !contiguous)
        return sym_integer(t->env->pool, value);
    enum dim_dynamic dynamic = r->dynamic_stride ? r->dynamic_stride[i] : DIM_INFER_STRIDE;
    if (dynamic == DIM_INFER_STRIDE) {
        sym_id found = find_candidate(v, n, value);
        if (found != SYM_NONE)
            return found;
        dynamic = t->is_static ? DIM_STATIC : DIM_DUCK;
    }
    return create_dim_symbol(t, "stride", i, value, dynamic,
                             (struct dim_constraint){ .kind = CONSTRAINT_NONE }, true);
}

static bool create_strides(struct symbol_tensor *t)
{
    const struct tensor_request *r = t->request;
    struct stride_candidate candidates[MAX_DIMS];
    uint32_t order[MAX_DIMS];
    order_strides(r, order);
    for (uint32_t n = 0; n < r->ndim; n++) {
        uint32_t i = order[n];
        t->stride[i] = create_stride(t, i, candidates, n);
        sym_id next = sym_mul(t->env->pool, t->size[i], t->stride[i]);
        if (next == SYM_NONE)
            return env_ok(t->env), false;
        candidates[n] =
            (struct stride_candidate){ multiply_strides(r->size[i], r->stride[i]), next };
    }
    return true;
}

bool env_create_tensor(struct shape_env *env, const struct tensor_request *request, sym_id *size,
                       sym_id *stride, sym_id *offset)
{
    if (request->ndim > MAX_DIMS)
        return env_raise(env, ENV_RAISED_OTHER, "RuntimeError",
                         "a tensor of more than %d dimensions", MAX_DIMS);
    struct symbol_tensor t = { .env = env,
                               .request = request,
                               .size = size,
                               .stride = stride,
                               .source = BUF_INIT,
                               .is_static = true };
    for (uint32_t i = 0; i < request->ndim; i++)
        t.is_static &= size_dynamic(request, i) == DIM_STATIC;
    bool ok = create_sizes(&t) && create_strides(&t);
    if (ok) {
        *offset = create_dim_symbol(&t, "storage_offset", -1, request->offset,
                                    t.is_static ? DIM_STATIC : DIM_DUCK,
                                    (struct dim_constraint){ .kind = CONSTRAINT_NONE }, true);
        ok = *offset != SYM_NONE;
    }
    buf_release(&t.source);
    return ok && env_ok(env);
}
