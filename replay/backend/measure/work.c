#include "replay/backend/measure/work.h"

#include "replay/backend/call/kernel.h"

/* ---- Bytes ---- */

enum { WORK_NESTING = 4 };

/* Adds the bytes of a value; an expanded tensor is read once. */
static void add_value_bytes(const struct kernel_value *v, uint64_t *bytes, unsigned depth)
{
    const struct kernel_meta *meta = v->kind == KERNEL_TENSOR ? v->u.tensor.meta : NULL;
    if (meta && meta->addressable && meta->countable)
        *bytes += meta->bytes < meta->reach ? meta->bytes : meta->reach;
    for (uint32_t i = 0; value_has_items(*v) && depth < WORK_NESTING && i < v->n; i++)
        add_value_bytes(&v->u.items[i], bytes, depth + 1);
}

/* ---- Floating point operations ---- */

enum flops_formula {
    FLOPS_NONE,
    FLOPS_PRODUCT, /* each element of the result sums over the argument's last dimension */
    FLOPS_BATCHES, /* and over its first one */
    FLOPS_CONVOLUTION,
    FLOPS_CONVOLUTION_BACKWARD,
    FLOPS_ATTENTION,
    FLOPS_ATTENTION_BACKWARD,
};

struct flops_row {
    const char *base;
    enum flops_formula formula;
    const char *arg;
};
static const struct flops_row rows[] = {
#define FLOPS(base, formula, arg) { base, formula, arg },
#include "replay/backend/measure/flops.def"
#undef FLOPS
};

static const struct flops_row *flops_row(struct str base)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(base, rows[i].base))
            return &rows[i];
    return NULL;
}

/* Returns the product of the sizes from dimension `first` on, as a float, which cannot overflow. */
static double element_product(struct kernel_tensor x, uint32_t first)
{
    int64_t size[TENSOR_MAX_DIM];
    double n = 1;
    uint32_t ndim = x.meta ? tensor_sizes(x, size) : 0;
    for (uint32_t i = first; i < ndim; i++)
        n *= (double)size[i];
    return x.meta ? n : 0;
}

static double tensor_size(struct kernel_tensor x, int32_t dim)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = x.meta ? tensor_sizes(x, size) : 0;
    if (dim < 0)
        dim += (int32_t)ndim;
    return dim >= 0 && (uint32_t)dim < ndim ? (double)size[dim] : 1;
}

/* Like conv_flop: each element of the output, or of the input of a transposed convolution, is
 * multiplied with a filter. */
static double convolution_flops(struct kernel *k, struct kernel_tensor weight, bool transposed)
{
    struct kernel_tensor input = tensor_arg(k, "input");
    return 2 * element_product(transposed ? input : result(k, 0), 0) * element_product(weight, 1);
}

/* Counts one convolution for each requested gradient. */
static double convolution_backward_flops(struct kernel *k, struct kernel_tensor weight,
                                         bool transposed)
{
    const struct kernel_value *mask;
    struct kernel_tensor input = tensor_arg(k, "input"), grad = tensor_arg(k, "grad_output");
    double one = 2 * element_product(transposed ? input : grad, 0) * element_product(weight, 1),
           all = 0;
    uint32_t n = list_arg(k, "output_mask", &mask);
    for (uint32_t i = 0; i < n && i < 2; i++)
        all += mask[i].kind == KERNEL_BOOL && mask[i].u.number.integer ? one : 0;
    return all;
}

/* Like sdpa_flop_count: the matmuls of query and key, and of weights and value; backward has
 * five. */
static double attention_flops(struct kernel *k, struct kernel_tensor query, bool backward)
{
    struct kernel_tensor key = tensor_arg(k, "key"), value = tensor_arg(k, "value");
    double scores = element_product(query, 0) * tensor_size(key, -2); /* b h l s e */
    double sums =
        tensor_size(query, -1) ? scores / tensor_size(query, -1) * tensor_size(value, -1) : 0;
    return backward ? 2 * (3 * scores + 2 * sums) : 2 * (scores + sums);
}

static double flops_of(struct kernel *k)
{
    const struct flops_row *row = flops_row(k->call->op->base);
    if (!row)
        return 0;
    struct kernel_tensor x = tensor_arg(k, row->arg);
    bool transposed = bool_arg(k, "transposed", false);
    switch (row->formula) {
    case FLOPS_PRODUCT: return 2 * element_product(result(k, 0), 0) * tensor_size(x, -1);
    case FLOPS_BATCHES:
        return 2 * element_product(result(k, 0), 0) * tensor_size(x, -1) * tensor_size(x, 0);
    case FLOPS_CONVOLUTION: return convolution_flops(k, x, transposed);
    case FLOPS_CONVOLUTION_BACKWARD: return convolution_backward_flops(k, x, transposed);
    case FLOPS_ATTENTION:
    case FLOPS_ATTENTION_BACKWARD:
        return attention_flops(k, x, row->formula == FLOPS_ATTENTION_BACKWARD);
    default: return 0;
    }
}

static const struct kernel_meta *first_meta(const struct kernel_value *v)
{
    while (value_has_items(*v) && v->n)
        v = &v->u.items[0];
    return v->kind == KERNEL_TENSOR ? v->u.tensor.meta : NULL;
}

bool call_work(const struct backend_call *call, struct call_work *ret)
{
    struct err ignored = { 0 };
    struct kernel k = { .call = call, .err = &ignored };
    const struct kernel_meta *first = first_meta(&call->result);
    *ret = (struct call_work){ .dtype = first ? first->dtype : DTYPE_F32 };
    if (!kernel_computes(&k))
        return false;
    for (uint32_t i = 0; i < call->op->n_args; i++)
        add_value_bytes(&call->args[i], &ret->bytes, 0);
    add_value_bytes(&call->result, &ret->bytes, 0);
    double flops = flops_of(&k);
    ret->flops = flops > 0 && flops < 9e18 && !k.failed ? (uint64_t)flops : 0;
    arena_release(&k.arena);
    return true;
}
