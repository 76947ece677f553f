/* Reads and writes at indices. An error contains the index that is out of bounds, and nothing is
 * written then. */
#include <string.h>

#include "replay/backend/call/combine.h"
#include "replay/backend/cpu/kernel.h"

/* Converts an index to [0, n); negative ones count from the end. False: the kernel has failed. */
static bool in_bounds(struct kernel *k, int64_t *index, int64_t n)
{
    int64_t i = *index < 0 ? *index + n : *index;
    if (i < 0 || i >= n) {
        kernel_fail(k, "index %lld is out of bounds for dimension with size %lld",
                    (long long)*index, (long long)n);
        return false;
    }
    *index = i;
    return true;
}

static void add_element(struct dense *to, int64_t i, const struct dense *from, int64_t j)
{
    if (to->kind == DENSE_COMPLEX)
        to->u.c[i] += from->u.c[j];
    else if (to->kind == DENSE_REAL)
        to->u.r[i] += from->u.r[j];
    else
        to->u.i[i] = (int64_t)((uint64_t)to->u.i[i] + (uint64_t)from->u.i[j]);
}

/* ---- Along one dimension ---- */

/* index_select, embedding (PARAM 1: rows of the weight). */
void kernel_index_select(struct kernel *k)
{
    bool embedding = k->row->param == 1;
    struct dense x = load_tensor(k, tensor_arg(k, embedding ? "weight" : "self"));
    struct dense index = load_as(k, tensor_arg(k, embedding ? "indices" : "index"), DENSE_INT);
    uint32_t dim = embedding ? 0 : wrapped_dim(int_arg(k, "dim", 0), x.ndim);
    struct around a = around_dim(&x, dim);
    struct kernel_tensor to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size);
    struct dense out = dense_new(k, x.kind, size, ndim);
    size_t bytes = (size_t)a.inner * dense_size(x.kind);
    for (int64_t o = 0; o < a.outer && !k->failed; o++)
        for (int64_t i = 0; i < index.n; i++) {
            int64_t from = index.u.i[i];
            if (!in_bounds(k, &from, a.n))
                return;
            memcpy((char *)out.u.p + (size_t)(o * index.n + i) * bytes,
                   (char *)x.u.p + (size_t)(o * a.n + from) * bytes, bytes);
        }
    store_tensor(k, to, out);
}

/* embedding_dense_backward: adds rows of the gradient to the rows that were read. */
void kernel_embedding_backward(struct kernel *k)
{
    struct dense g = load_as(k, tensor_arg(k, "grad_output"), DENSE_REAL);
    struct dense index = load_as(k, tensor_arg(k, "indices"), DENSE_INT);
    struct kernel_tensor to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM], padding = int_arg(k, "padding_idx", -1);
    uint32_t ndim = tensor_sizes(to, size);
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    int64_t inner = index.n ? g.n / index.n : 0;
    bool scale = bool_arg(k, "scale_grad_by_freq", false);
    int64_t *count = workspace(k, size[0], sizeof *count);
    for (int64_t i = 0; i < index.n && !k->failed; i++) {
        if (index.u.i[i] < 0 || index.u.i[i] >= size[0]) {
            kernel_fail(k, "index %lld is out of bounds for dimension with size %lld",
                        (long long)index.u.i[i], (long long)size[0]);
            return;
        }
        count[index.u.i[i]]++;
    }
    for (int64_t i = 0; i < index.n && !k->failed; i++)
        for (int64_t j = 0; j < inner && index.u.i[i] != padding; j++)
            out.u.r[index.u.i[i] * inner + j] +=
                g.u.r[i * inner + j] / (scale ? (double)count[index.u.i[i]] : 1);
    store_tensor(k, to, out);
}

/* gather: out[..i..] = x[..index[i]..]; index may be smaller than x in other dimensions. */
void kernel_gather(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct dense index = load_as(k, tensor_arg(k, "index"), DENSE_INT);
    uint32_t dim = wrapped_dim(int_arg(k, "dim", 0), x.ndim);
    struct dense out = dense_new(k, x.kind, index.size, index.ndim);
    for (int64_t i = 0; i < index.n && !k->failed; i++) {
        int64_t place = 0, rest = i, step = 1;
        for (uint32_t d = index.ndim; d-- > 0; rest /= index.size[d]) {
            int64_t at = d == dim ? index.u.i[i] : rest % index.size[d];
            if (x.ndim && !in_bounds(k, &at, x.size[d]))
                return;
            place += x.ndim ? at * step : 0;
            step *= x.ndim ? x.size[d] : 1;
        }
        copy_element(&out, i, &x, place);
    }
    store_tensor(k, result(k, 0), out);
}

static void combine_element(enum combine how, struct dense *to, int64_t i, const struct dense *from,
                            int64_t j, bool first)
{
    if (how == COMBINE_SET || first) {
        copy_element(to, i, from, j);
    } else if (how == COMBINE_ADD || how == COMBINE_MEAN) {
        add_element(to, i, from, j);
    } else if (to->kind == DENSE_REAL) {
        double a = to->u.r[i], b = from->u.r[j];
        to->u.r[i] = how == COMBINE_MULTIPLY                ? a * b
                     : a != a || b != b                     ? a + b
                     : (how == COMBINE_MAX ? a > b : a < b) ? a
                                                            : b;
    } else if (to->kind == DENSE_INT) {
        int64_t a = to->u.i[i], b = from->u.i[j];
        to->u.i[i] = how == COMBINE_MULTIPLY                ? (int64_t)((uint64_t)a * (uint64_t)b)
                     : (how == COMBINE_MAX ? a > b : a < b) ? a
                                                            : b;
    } else {
        to->u.c[i] *= from->u.c[j];
    }
}

static void divide_by_counts(struct kernel *k, struct dense *x, const int64_t *count)
{
    for (int64_t i = 0; i < x->n && !k->failed; i++) {
        if (count[i] < 2)
            continue;
        if (x->kind == DENSE_REAL)
            x->u.r[i] /= (double)count[i];
        else if (x->kind == DENSE_INT)
            x->u.i[i] = x->u.i[i] / count[i] - (x->u.i[i] % count[i] < 0);
    }
}

/* scatter (src or value), scatter_add (PARAM 1), scatter_reduce (PARAM 2). */
void kernel_scatter(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct dense index = load_as(k, tensor_arg(k, "index"), DENSE_INT);
    struct kernel_value from = value_arg(k, has_arg(k, "src") ? "src" : "value");
    bool number = from.kind != KERNEL_TENSOR;
    struct dense src = load_value(k, from, x.kind);
    uint32_t dim = wrapped_dim(int_arg(k, "dim", 0), x.ndim);
    enum combine how = k->row->param == 1 ? COMBINE_ADD : combine_named(text_arg(k, "reduce"));
    bool include = bool_arg(k, "include_self", true);
    int64_t *count = workspace(k, x.n, sizeof *count);
    for (int64_t i = 0; i < x.n && !k->failed && include; i++)
        count[i] = 1;
    for (int64_t i = 0; i < index.n && !k->failed; i++) {
        int64_t place = 0, of_src = 0, rest = i, step = 1, src_step = 1;
        for (uint32_t d = index.ndim; d-- > 0; rest /= index.size[d]) {
            int64_t here = rest % index.size[d], at = d == dim ? index.u.i[i] : here;
            if (x.ndim && !in_bounds(k, &at, x.size[d]))
                return;
            place += at * step;
            step *= x.ndim ? x.size[d] : 1;
            of_src += here * src_step;
            src_step *= number || !src.ndim ? 1 : src.size[d];
        }
        combine_element(how, &x, place, &src, number ? 0 : of_src, count[place] == 0);
        count[place]++;
    }
    if (how == COMBINE_MEAN)
        divide_by_counts(k, &x, count);
    store_tensor(k, result(k, 0), x);
}

/* index_add, index_copy, index_fill, index_reduce along a dimension. PARAM: 0 add, 1 copy, 2 fill,
 * 3 reduce. */
void kernel_index_rows(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct dense index = load_as(k, tensor_arg(k, "index"), DENSE_INT);
    struct kernel_value from = value_arg(k, has_arg(k, "source") ? "source" : "value");
    struct dense src = load_value(k, from, x.kind);
    struct around a = around_dim(&x, wrapped_dim(int_arg(k, "dim", 0), x.ndim));
    bool fill = k->row->param == 2, include = bool_arg(k, "include_self", true);
    enum combine how = k->row->param == 0   ? COMBINE_ADD
                       : k->row->param == 3 ? combine_named(text_arg(k, "reduce"))
                                            : COMBINE_SET;
    int64_t *count = workspace(k, x.n, sizeof *count);
    cdouble alpha = complex_arg(k, "alpha", 1);
    for (int64_t i = 0; i < src.n && !k->failed && k->row->param == 0 && alpha != 1; i++) {
        if (src.kind == DENSE_REAL)
            src.u.r[i] *= creal(alpha);
        else if (src.kind == DENSE_INT)
            src.u.i[i] *= (int64_t)creal(alpha);
        else
            src.u.c[i] *= alpha;
    }
    for (int64_t i = 0; i < x.n && !k->failed && include; i++)
        count[i] = 1;
    for (int64_t o = 0; o < a.outer && !k->failed; o++)
        for (int64_t i = 0; i < index.n; i++) {
            int64_t row = index.u.i[i];
            if (!in_bounds(k, &row, a.n))
                return;
            for (int64_t j = 0; j < a.inner; j++) {
                int64_t place = (o * a.n + row) * a.inner + j;
                combine_element(how, &x, place, &src, fill ? 0 : (o * index.n + i) * a.inner + j,
                                count[place] == 0);
                count[place]++;
            }
        }
    if (how == COMBINE_MEAN)
        divide_by_counts(k, &x, count);
    store_tensor(k, result(k, 0), x);
}

/* take and put: x is treated as one-dimensional. */
void kernel_take(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct dense index = load_as(k, tensor_arg(k, "index"), DENSE_INT);
    struct dense out = dense_new(k, x.kind, index.size, index.ndim);
    for (int64_t i = 0; i < index.n && !k->failed; i++)
        if (in_bounds(k, &index.u.i[i], x.n))
            copy_element(&out, i, &x, index.u.i[i]);
    store_tensor(k, result(k, 0), out);
}

void kernel_put(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct dense index = load_as(k, tensor_arg(k, "index"), DENSE_INT);
    struct dense src = load_as(k, tensor_arg(k, "source"), x.kind);
    bool add = bool_arg(k, "accumulate", false);
    for (int64_t i = 0; i < index.n && !k->failed; i++)
        if (in_bounds(k, &index.u.i[i], x.n))
            combine_element(add ? COMBINE_ADD : COMBINE_SET, &x, index.u.i[i], &src, i, false);
    store_tensor(k, result(k, 0), x);
}

/* ---- x[i, :, j]: index and index_put ---- */

enum { INDEX_MAX = TENSOR_MAX_DIM };

struct index_list {
    uint32_t n_dims;                   /* the dimensions of x that have been matched */
    bool by[INDEX_MAX];                /* whether the dimension has an index */
    struct dense index[INDEX_MAX];     /* broadcast to `common` */
    int64_t common[TENSOR_MAX_DIM], n; /* elements of an index */
    uint32_t common_dims;
    uint32_t at; /* the position of the indices' dimensions in the result */
};

/* Converts a mask to the indices of its true elements, one array for each of its dimensions. */
static bool add_mask(struct kernel *k, struct index_list *x, struct dense mask)
{
    int64_t n = 0;
    for (int64_t i = 0; i < mask.n; i++)
        n += mask.u.i[i] != 0;
    for (uint32_t d = 0; d < mask.ndim && x->n_dims < INDEX_MAX; d++) {
        struct dense index = dense_new(k, DENSE_INT, &n, 1);
        int64_t step = 1, at = 0;
        for (uint32_t e = d + 1; e < mask.ndim; e++)
            step *= mask.size[e];
        for (int64_t i = 0; i < mask.n && !k->failed; i++)
            if (mask.u.i[i])
                index.u.i[at++] = i / step % mask.size[d];
        x->by[x->n_dims] = true;
        x->index[x->n_dims++] = index;
    }
    return !k->failed;
}

static bool gather_indices(struct kernel *k, struct index_list *x)
{
    const struct kernel_value *items;
    uint32_t n = list_arg(k, "indices", &items);
    memset(x, 0, sizeof *x);
    for (uint32_t i = 0; i < n && x->n_dims < INDEX_MAX && !k->failed; i++) {
        if (items[i].kind != KERNEL_TENSOR) {
            x->n_dims++;
            continue;
        }
        struct kernel_tensor t = items[i].u.tensor;
        struct dense index = load_as(k, t, DENSE_INT);
        if (t.meta->dtype == DTYPE_B8 || t.meta->dtype == DTYPE_U8) {
            add_mask(k, x, index);
            continue;
        }
        x->by[x->n_dims] = true;
        x->index[x->n_dims++] = index;
    }
    return !k->failed;
}

static void broadcast_index_list(struct kernel *k, struct index_list *x)
{
    for (uint32_t i = 0; i < x->n_dims; i++)
        if (x->by[i] && x->index[i].ndim > x->common_dims)
            x->common_dims = x->index[i].ndim;
    x->n = 1;
    for (uint32_t d = 0; d < x->common_dims; d++) {
        x->common[d] = 1;
        for (uint32_t i = 0; i < x->n_dims; i++) {
            int64_t from = (int64_t)d + x->index[i].ndim - x->common_dims;
            if (x->by[i] && from >= 0 && x->index[i].size[from] != 1)
                x->common[d] = x->index[i].size[from];
        }
        x->n *= x->common[d];
    }
    for (uint32_t i = 0; i < x->n_dims; i++)
        if (x->by[i])
            x->index[i] = dense_broadcast(k, x->index[i], x->common, x->common_dims);
}

/* Returns the position of the indices' dimensions in the result: adjacent indices keep their
 * position, others come first. */
static uint32_t place_of_indices(const struct index_list *x)
{
    uint32_t first = 0, last = 0;
    bool any = false, gap = false;
    for (uint32_t i = 0; i < x->n_dims; i++) {
        if (!x->by[i])
            continue;
        gap |= any && i != last + 1;
        first = any ? first : i;
        last = i;
        any = true;
    }
    return gap ? 0 : first;
}

/* Returns the position in x of each element of x[indices], in order, and the result's sizes in
 * size. clamp: for _unsafe_masked_index, whose mask excludes indices out of bounds. */
static int64_t *places_of(struct kernel *k, const struct dense *self, int64_t *size, uint32_t *ndim,
                          int64_t *n, bool clamp)
{
    struct index_list x;
    uint32_t rest[TENSOR_MAX_DIM], n_rest = 0;
    if (!gather_indices(k, &x) || x.n_dims > self->ndim)
        return kernel_fail(k, "too many indices"), NULL;
    broadcast_index_list(k, &x);
    uint32_t at = place_of_indices(&x);
    for (uint32_t d = 0; d < self->ndim; d++)
        if (d >= x.n_dims || !x.by[d])
            rest[n_rest++] = d;
    *ndim = 0;
    *n = 1;
    for (uint32_t i = 0; i <= n_rest; i++) {
        for (uint32_t d = 0; i == at && d < x.common_dims; d++)
            size[(*ndim)++] = x.common[d];
        if (i < n_rest)
            size[(*ndim)++] = self->size[rest[i]];
    }
    for (uint32_t i = 0; i < *ndim; i++)
        *n *= size[i];
    int64_t *places = workspace(k, *n, sizeof *places), step[TENSOR_MAX_DIM], s = 1;
    for (uint32_t d = self->ndim; d-- > 0; s *= self->size[d])
        step[d] = s;
    for (int64_t i = 0; i < *n && !k->failed; i++) {
        int64_t left = i, index = 0, index_step = 1;
        for (uint32_t d = *ndim; d-- > 0; left /= size[d]) {
            int64_t here = left % size[d];
            bool of_index = d >= at && d < at + x.common_dims;
            if (of_index) {
                index += here * index_step;
                index_step *= size[d];
            } else {
                places[i] += here * step[rest[d < at ? d : d - x.common_dims]];
            }
        }
        for (uint32_t d = 0; d < x.n_dims; d++) {
            if (!x.by[d])
                continue;
            int64_t value = x.index[d].u.i[index], last = self->size[d] - 1;
            if (clamp)
                value = value < 0 ? 0 : value > last ? last : value;
            if (!in_bounds(k, &value, self->size[d]))
                return NULL;
            places[i] += value * step[d];
        }
    }
    return places;
}

void kernel_index(struct kernel *k)
{
    int64_t size[2 * TENSOR_MAX_DIM], n;
    uint32_t ndim;
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    int64_t *places = places_of(k, &x, size, &ndim, &n, false);
    if (k->failed)
        return;
    struct dense out = dense_new(k, x.kind, size, ndim);
    for (int64_t i = 0; i < out.n; i++)
        copy_element(&out, i, &x, places[i]);
    store_tensor(k, result(k, 0), out);
}

void kernel_index_put(struct kernel *k)
{
    int64_t size[2 * TENSOR_MAX_DIM], n;
    uint32_t ndim;
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    int64_t *places = places_of(k, &x, size, &ndim, &n, false);
    if (k->failed)
        return;
    struct dense values = load_as(k, tensor_arg(k, "values"), x.kind);
    values = dense_broadcast(k, values, size, ndim);
    bool add = bool_arg(k, "accumulate", false);
    for (int64_t i = 0; i < n && !k->failed; i++)
        combine_element(add ? COMBINE_ADD : COMBINE_SET, &x, places[i], &values, i, false);
    store_tensor(k, result(k, 0), x);
}

static struct dense mask_for(struct kernel *k, const int64_t *size, uint32_t ndim)
{
    return dense_broadcast(k, load_as(k, tensor_arg(k, "mask"), DENSE_INT), size, ndim);
}

/* _unsafe_masked_index: x[indices] if the mask is true, else `fill`. */
void kernel_masked_index(struct kernel *k)
{
    int64_t size[2 * TENSOR_MAX_DIM], n;
    uint32_t ndim;
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    int64_t *places = places_of(k, &x, size, &ndim, &n, true);
    if (k->failed)
        return;
    struct dense mask = mask_for(k, size, ndim);
    struct dense fill = load_value(k, value_arg(k, "fill"), x.kind);
    struct dense out = dense_new(k, x.kind, size, ndim);
    for (int64_t i = 0; i < out.n && !k->failed; i++) {
        bool yes = mask.u.i[i] != 0;
        copy_element(&out, i, yes ? &x : &fill, yes ? places[i] : 0);
    }
    store_tensor(k, result(k, 0), out);
}

/* Its gradient: adds the values if the mask is true. */
void kernel_masked_index_put(struct kernel *k)
{
    int64_t size[2 * TENSOR_MAX_DIM], n;
    uint32_t ndim;
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    int64_t *places = places_of(k, &x, size, &ndim, &n, true);
    if (k->failed)
        return;
    struct dense mask = mask_for(k, size, ndim);
    struct dense values =
        dense_broadcast(k, load_as(k, tensor_arg(k, "values"), x.kind), size, ndim);
    for (int64_t i = 0; i < n && !k->failed; i++)
        if (mask.u.i[i])
            add_element(&x, places[i], &values, i);
    store_tensor(k, result(k, 0), x);
}

/* ---- nonzero and masks ---- */

void kernel_nonzero(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct kernel_tensor to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM], row = 0;
    uint32_t ndim = tensor_sizes(to, size);
    struct dense out = dense_new(k, DENSE_INT, size, ndim);
    int64_t fill = int_arg(k, "fill_value", -1);
    for (int64_t i = 0; i < out.n; i++)
        out.u.i[i] = fill;
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        bool yes = x.kind == DENSE_COMPLEX ? x.u.c[i] != 0
                   : x.kind == DENSE_REAL  ? x.u.r[i] != 0
                                           : x.u.i[i] != 0;
        int64_t rest = i;
        for (uint32_t d = x.ndim; yes && row < size[0] && d-- > 0; rest /= x.size[d])
            out.u.i[row * size[1] + d] = rest % x.size[d];
        row += yes;
    }
    store_tensor(k, to, out);
}

/* Computes the sizes that two tensors broadcast to. */
static uint32_t both_sizes(const struct dense *a, const struct dense *b, int64_t *size)
{
    uint32_t ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    for (uint32_t i = 0; i < ndim; i++) {
        int64_t x = i + a->ndim >= ndim ? a->size[i + a->ndim - ndim] : 1;
        int64_t y = i + b->ndim >= ndim ? b->size[i + b->ndim - ndim] : 1;
        size[i] = x == 1 ? y : x;
    }
    return ndim;
}

void kernel_masked_select(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct dense mask = load_as(k, tensor_arg(k, "mask"), DENSE_INT);
    int64_t size[TENSOR_MAX_DIM], at = 0, n = 0;
    uint32_t ndim = both_sizes(&x, &mask, size);
    x = dense_broadcast(k, x, size, ndim);
    mask = dense_broadcast(k, mask, size, ndim);
    for (int64_t i = 0; i < mask.n && !k->failed; i++)
        n += mask.u.i[i] != 0;
    struct dense out = dense_new(k, x.kind, &n, 1);
    for (int64_t i = 0; i < mask.n && !k->failed; i++)
        if (mask.u.i[i])
            copy_element(&out, at++, &x, i);
    store_tensor(k, result(k, 0), out);
}

void kernel_masked_scatter(struct kernel *k)
{
    struct kernel_tensor to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM], at = 0;
    uint32_t ndim = tensor_sizes(to, size);
    struct dense x = dense_broadcast(k, load_tensor(k, tensor_arg(k, "self")), size, ndim);
    struct dense src = load_as(k, tensor_arg(k, "source"), x.kind);
    struct dense mask = mask_for(k, size, ndim);
    struct dense out = dense_new(k, x.kind, size, ndim);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        if (mask.u.i[i] && at >= src.n) {
            kernel_fail(k, "masked_scatter: expected self and source to have same number of "
                           "elements");
            return;
        }
        if (mask.u.i[i])
            copy_element(&out, i, &src, at++);
        else
            copy_element(&out, i, &x, i);
    }
    store_tensor(k, to, out);
}
