#include "replay/backend/pointwise/pointwise_ops.h"

#include <float.h>
#include <string.h>

const struct point_row point_rows[POINTS] = {
#define POINT(base, kinds, tensors, numbers, real, integer, complex_) \
    { #base, kinds, tensors, numbers, #real, #integer, #complex_ },
#include "replay/backend/pointwise/pointwise.def"
#undef POINT
};

/* Reads the next of several names separated by blanks; false after the last one. */
static bool next_listed_name(const char **names, char *name, size_t size)
{
    size_t n = strcspn(*names, " ");
    if (n == 0 || n >= size)
        return false;
    memcpy(name, *names, n);
    name[n] = '\0';
    *names += n + strspn(*names + n, " ");
    return true;
}

/* Returns the number for a word: gelu's "tanh", rounding modes. */
static double number_of_word(struct str word)
{
    return str_is(word, "tanh") || str_is(word, "trunc") ? 1 : str_is(word, "floor") ? 2 : 0;
}

/* Returns the kind of the numbers, which determines the result if there are no tensors. */
static enum dense_kind read_call_numbers(const struct kernel *k, struct point_call *call)
{
    struct point_numbers *q = &call->numbers;
    const char *names = call->row->numbers;
    enum dense_kind kind = DENSE_INT;
    char name[64];
    for (uint32_t i = 0; i < POINT_MAX_NUMBERS && next_listed_name(&names, name, sizeof name);
         i++) {
        struct kernel_value v = value_arg(k, name);
        bool one = !strcmp(name, "alpha") || !strcmp(name, "value") || !strcmp(name, "step");
        q->p[i] = v.kind == KERNEL_STRING ? number_of_word(v.u.text) : real_arg(k, name, one);
        q->n[i] = int_arg(k, name, one);
        q->c[i] = complex_arg(k, name, one);
        q->none |= v.kind != KERNEL_NONE ? 0 : 16u << i;
        kind = v.kind == KERNEL_FLOAT ? DENSE_REAL : kind;
        call->n_numbers = i + 1;
    }
    return kind;
}

static enum dense_kind number_kind(struct kernel_value v)
{
    if (v.kind == KERNEL_TENSOR)
        return dense_kind_of(v.u.tensor.meta->dtype);
    return v.kind == KERNEL_COMPLEX ? DENSE_COMPLEX
           : v.kind == KERNEL_FLOAT ? DENSE_REAL
                                    : DENSE_INT;
}

static bool row_has_kind(const struct point_row *row, char kind)
{
    return strchr(row->kinds, kind) != NULL;
}

/* Returns the kind that the call computes in: the widest of its values, or the one that the row
 * has. Conditions and masks do not count. */
static enum dense_kind compute_kind(const struct point_call *call, enum dense_kind kind)
{
    const struct point_row *row = call->row;
    bool third_chooses = !strcmp(row->base, "where") || !strcmp(row->base, "masked_fill");
    bool to_int = call->to.meta && dense_kind_of(call->to.meta->dtype) == DENSE_INT;
    if (!call->n_values && to_int && row_has_kind(row, 'i'))
        return DENSE_INT; /* arange converts its numbers to the result's dtype first */
    kind = call->n_values ? DENSE_INT : kind;
    for (uint32_t i = 0; i < call->n_values; i++) {
        enum dense_kind one = number_kind(call->values[i]);
        if (call->values[i].kind != KERNEL_NONE && !(third_chooses && i == 2) && one > kind)
            kind = one;
    }
    if (kind == DENSE_INT && !row_has_kind(row, 'i'))
        kind = row_has_kind(row, 'r') ? DENSE_REAL : DENSE_COMPLEX;
    if (kind == DENSE_REAL && !row_has_kind(row, 'r'))
        kind = row_has_kind(row, 'c') ? DENSE_COMPLEX : DENSE_INT;
    /* an integer tensor whose result is real by promotion; x + 0.5 is real already */
    if (kind == DENSE_INT && call->to.meta && dense_kind_of(call->to.meta->dtype) == DENSE_REAL &&
        row_has_kind(row, 'r'))
        kind = DENSE_REAL;
    return kind;
}

static double greatest_of_dtype(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F32: return (double)FLT_MAX;
    case DTYPE_F16: return 65504;
    case DTYPE_BF16: return 0x1.fep127;
    default: return DBL_MAX;
    }
}

void point_call_of(struct kernel *k, int row, struct kernel_tensor to, struct point_call *ret)
{
    int64_t size[TENSOR_MAX_DIM];
    char name[64];
    uint32_t ndim = tensor_sizes(to, size);
    *ret = (struct point_call){ .row = &point_rows[row], .to = to };
    struct point_numbers *q = &ret->numbers;
    const char *names = ret->row->tensors;
    while (ret->n_values < POINT_MAX_TENSORS && next_listed_name(&names, name, sizeof name)) {
        struct kernel_value v = value_arg(k, name);
        q->none |= v.kind == KERNEL_NONE ? 1u << ret->n_values : 0;
        ret->values[ret->n_values++] = v;
    }
    enum dtype dtype = to.meta ? to.meta->dtype : DTYPE_NONE;
    q->bits = dtype == DTYPE_B8 ? 1 : 8 * (int)dtype_size(dtype);
    q->most = greatest_of_dtype(dtype);
    q->rows = ndim > 1 ? size[ndim - 2] : 1;
    q->columns = ndim ? size[ndim - 1] : 1;
    q->seed = k->call->seed;
    ret->kind = compute_kind(ret, read_call_numbers(k, ret));
}
