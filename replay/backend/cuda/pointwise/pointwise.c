/* Pointwise operators: collects the calls of rows of replay/backend/pointwise/pointwise.def in
 * groups (fusion_group.h). */
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/kernels/strided.h"
#include "replay/backend/cuda/pointwise/fusion_group.h"

/* ---- Tensors as views of the result's space ---- */

/* The result's sizes without those of 1, selected by `kept`. */
struct space {
    uint32_t ndim, whole; /* kept dimensions, and all */
    uint32_t kept[TENSOR_MAX_DIM];
    int64_t size[TENSOR_MAX_DIM];
};

static bool operand_view(struct kernel *k, struct kernel_tensor x, const struct space *space,
                         struct point_view *view, int64_t *stride)
{
    struct memory *m = storage_at(k->call->storages, x.storage);
    int64_t size[TENSOR_MAX_DIM], reach = 1;
    uint32_t ndim = tensor_sizes(x, size);
    size_t element = dtype_size(x.meta->dtype);
    if (!point_dtype_name(x.meta->dtype) || ndim > space->whole)
        return false;
    if (!x.meta->addressable || !m || m->bytes < x.meta->reach)
        return kernel_fail(k, "a tensor whose strides are not numbers, or that has no memory"),
               false;
    for (uint32_t i = 0; i < space->ndim; i++) {
        uint32_t skip = space->whole - ndim, d = space->kept[i] - skip;
        stride[i] = 0;
        if (space->kept[i] < skip || size[d] == 1)
            continue;
        if (size[d] != space->size[i])
            return false;
        stride[i] = x.meta->stride[d];
        reach += (size[d] - 1) * stride[i];
    }
    *view = (struct point_view){ .dtype = x.meta->dtype };
    view->address = view->low = (uint64_t)(uintptr_t)m->p + (uint64_t)x.meta->offset * element;
    view->high = view->low + (uint64_t)reach * element;
    return true;
}

static bool space_of(struct kernel *k, struct kernel_tensor to, struct space *space, int64_t *n)
{
    int64_t size[TENSOR_MAX_DIM];
    *space = (struct space){ .whole = tensor_sizes(to, size) };
    *n = 1;
    for (uint32_t i = 0; i < space->whole; i++) {
        if (size[i] != 1) {
            space->kept[space->ndim] = i;
            space->size[space->ndim++] = size[i];
        }
        if (__builtin_mul_overflow(*n, size[i], n))
            return kernel_fail(k, "a tensor of more than 2^63 elements"), false;
    }
    return space->ndim <= POINT_DIM;
}

/* ---- The type of the computation ---- */

static bool is_wide_dtype(enum dtype dtype)
{
    return dtype == DTYPE_F64 || dtype == DTYPE_C128;
}

/* Returns PyTorch's type: that of the result, or, if it depends on the arguments (x < y), theirs;
 * arguments without dimensions count only if there are no others. */
static enum point_type compute_type(const struct point_call *call)
{
    enum dtype dtype = call->to.meta->dtype;
    bool wide = false, dims = false, complex_ = call->kind == DENSE_COMPLEX;
    enum point_type narrow_type = complex_ ? POINT_C64 : POINT_F32;
    enum point_type wide_type = complex_ ? POINT_C128 : POINT_F64;
    if (call->kind == DENSE_INT)
        return POINT_I64;
    if (dense_kind_of(dtype) != DENSE_INT)
        return is_wide_dtype(dtype) ? wide_type : narrow_type;
    for (uint32_t i = 0; i < call->n_values; i++) {
        const struct kernel_value *v = &call->values[i];
        if (v->kind != KERNEL_TENSOR || dense_kind_of(v->u.tensor.meta->dtype) == DENSE_INT)
            continue;
        bool has_dims = v->u.tensor.meta->ndim > 0;
        if (has_dims && !dims)
            wide = false;
        dims |= has_dims;
        if (has_dims == dims)
            wide |= is_wide_dtype(v->u.tensor.meta->dtype);
    }
    return wide ? wide_type : narrow_type;
}

static unsigned asks_of(struct points *points, const struct point_call *call, int row)
{
    const char *text = call->kind == DENSE_INT       ? call->row->integer
                       : call->kind == DENSE_COMPLEX ? call->row->complex_
                                                     : call->row->real;
    uint16_t *known = &points->asks[row][call->kind];
    if (!*known)
        *known = (uint16_t)point_asks(text);
    return *known;
}

/* ---- Numbers ---- */

static uint8_t add_number_slot(struct point_candidate *j, uint64_t bits)
{
    j->numbers[j->n_numbers] = bits;
    return (uint8_t)j->n_numbers++;
}

static uint64_t double_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint8_t add_complex(struct point_candidate *j, cdouble x)
{
    uint8_t slot = add_number_slot(j, double_bits(__real__ x));
    add_number_slot(j, double_bits(__imag__ x));
    return slot;
}

static void add_numbers(struct point_candidate *j, const struct point_call *call)
{
    const struct point_numbers *q = &call->numbers;
    struct point_node *node = &j->node;
    unsigned asks = node->asks;
    node->reals = node->integers = node->complexes = POINT_NO_SLOT;
    node->seed = node->rows = node->columns = POINT_NO_SLOT;
    node->n_numbers = (uint8_t)call->n_numbers;
    if (asks & POINT_ASKS_REALS)
        for (uint32_t i = 0; i < call->n_numbers; i++) {
            uint8_t slot = add_number_slot(j, double_bits(q->p[i]));
            node->reals = i ? node->reals : slot;
        }
    if (asks & POINT_ASKS_INTEGERS)
        for (uint32_t i = 0; i < call->n_numbers; i++) {
            uint8_t slot = add_number_slot(j, (uint64_t)q->n[i]);
            node->integers = i ? node->integers : slot;
        }
    if (asks & POINT_ASKS_COMPLEXES)
        for (uint32_t i = 0; i < call->n_numbers; i++) {
            uint8_t slot = add_complex(j, q->c[i]);
            node->complexes = i ? node->complexes : slot;
        }
    if (asks & POINT_ASKS_SEED)
        node->seed = add_number_slot(j, q->seed);
    if (asks & POINT_ASKS_ROWS)
        node->rows = add_number_slot(j, (uint64_t)q->rows);
    if (asks & POINT_ASKS_COLUMNS)
        node->columns = add_number_slot(j, (uint64_t)q->columns);
    j->placed = (asks & POINT_ASKS_PLACE) != 0;
}

/* ---- Joining ---- */

/* Adds a number as an operand. */
static uint8_t add_number_operand(struct point_candidate *j, struct kernel_value v)
{
    if (j->node.type == POINT_I64)
        return add_number_slot(j, (uint64_t)number_as_int(v, 0));
    if (!point_node_is_complex(&j->node))
        return add_number_slot(j, double_bits(number_as_real(v, 0)));
    cdouble x = v.kind == KERNEL_COMPLEX ? complex_of(v.u.complex.re, v.u.complex.im)
                                         : complex_of(number_as_real(v, 0), 0);
    return add_complex(j, x);
}

static bool add_call_operands(struct kernel *k, struct point_candidate *j,
                              const struct point_call *call, const struct space *space)
{
    for (uint32_t i = 0; i < call->n_values; i++) {
        struct kernel_value v = call->values[i];
        struct point_operand *x = &j->node.x[i];
        if (v.kind == KERNEL_NONE)
            continue;
        if (v.kind != KERNEL_TENSOR) {
            *x = (struct point_operand){ .kind = POINT_NUMBER, .i = add_number_operand(j, v) };
            continue;
        }
        const struct kernel_meta *meta = v.u.tensor.meta;
        *x = (struct point_operand){ POINT_STREAM, (uint8_t)j->n_views, meta->conj, meta->neg };
        if (!operand_view(k, v.u.tensor, space, &j->views[j->n_views], j->view_stride[j->n_views]))
            return false;
        j->n_views++;
    }
    return true;
}

/* Returns whether a tensor that is read overlaps another one that is written. PyTorch refuses that
 * unless only their ranges interleave. */
static bool reads_elsewhere(const struct point_candidate *j)
{
    for (uint32_t i = 0; i < j->n_views; i++) {
        const struct point_view *x = &j->views[i];
        if (x->low < j->to.high && j->to.low < x->high &&
            (x->address != j->to.address || x->dtype != j->to.dtype ||
             memcmp(j->view_stride[i], j->to_stride, j->ndim * sizeof *j->to_stride) != 0))
            return true;
    }
    return false;
}

/* Replaces the arguments that were read by name. */
static void take_values(struct point_call *call, const struct kernel_value *values)
{
    for (uint32_t i = 0; i < call->n_values; i++) {
        const unsigned bit = 1u << i;
        call->values[i] = values[i];
        call->numbers.none &= ~bit;
        call->numbers.none |= values[i].kind == KERNEL_NONE ? bit : 0;
    }
}

void cuda_point_row(struct kernel *k, int row, struct kernel_tensor to)
{
    cuda_point_values(k, row, to, NULL);
}

void cuda_point_values(struct kernel *k, int row, struct kernel_tensor to,
                       const struct kernel_value *values)
{
    struct point_call call;
    struct point_candidate j = { .node = { .row = (uint16_t)row, .graph_node = k->call->node } };
    struct space space;
    struct points *points = points_of(cuda_of(k));
    if (k->failed || !to.meta)
        return;
    if (!points) {
        err_nomem(k->err);
        k->failed = true;
        return;
    }
    point_call_of(k, row, to, &call);
    if (values)
        take_values(&call, values);
    j.node.asks = (uint16_t)asks_of(points, &call, row);
    if (!is_stored_real(to) || !(j.node.asks & POINT_TRANSLATES)) {
        cuda_decline(k);
        return;
    }
    j.node.type = (uint8_t)compute_type(&call);
    j.node.dtype = to.meta->dtype;
    j.node.none = call.numbers.none;
    if (!space_of(k, to, &space, &j.n)) {
        cuda_decline(k);
        return;
    }
    if (j.n == 0)
        return;
    j.ndim = space.ndim;
    memcpy(j.size, space.size, sizeof j.size);
    if (!add_call_operands(k, &j, &call, &space) ||
        !operand_view(k, to, &space, &j.to, j.to_stride) || reads_elsewhere(&j)) {
        cuda_decline(k);
        return;
    }
    add_numbers(&j, &call);
    if (to.meta->extent.is)
        j.live = cuda_live_of(k, to, j.n / to.meta->size[to.meta->extent.dim]);
    struct memory *m = storage_at(k->call->storages, to.storage);
    if (m->borrowed) {
        kernel_fail(k, "a weight of the archive would be written in place");
        return;
    }
    if (!point_join(points, &j, k->err))
        k->failed = true;
}

void cuda_point(struct kernel *k)
{
    cuda_point_row(k, k->row->param, result(k, 0));
}

/* _inductor_test.realize is a marker: what computes its argument is a kernel of its own, which
 * nothing after it joins, as in Inductor (_realize() in torch/_inductor/lowering.py). */
void cuda_realize(struct kernel *k)
{
    if (cuda_flush(cuda_of(k), k->err))
        cuda_point_row(k, POINT_realize, result(k, 0));
    else
        k->failed = true;
}

/* where(condition) is a list of coordinates. */
void cuda_where(struct kernel *k)
{
    if (has_arg(k, "self"))
        cuda_point_row(k, POINT_where, result(k, 0));
    else
        cuda_places(k);
}

void cuda_dropout(struct kernel *k)
{
    cuda_point_row(k, POINT_native_dropout, result(k, 0));
    cuda_point_row(k, POINT_native_dropout_mask, result(k, 1));
}

/* empty and similar operators: memory with any contents. */
void cuda_nothing(struct kernel *k)
{
    (void)k;
}

/* Zeroes memory, as the CPU does, so that runs are reproducible and unwritten memory is equal.
 * Memory that kernels allocate for themselves is written by them. */
void cuda_empty(struct kernel *k)
{
    struct cuda *cuda = cuda_of(k);
    struct kernel_tensor x = result(k, 0);
    struct memory *m = x.meta ? storage_at(k->call->storages, x.storage) : NULL;
    if (!m || !m->bytes || k->failed || k->call->caller->depth > 1)
        return;
    if (!cuda_batch_end(cuda, k->err) ||
        !cuda_check(cuda,
                    cuda->driver.fill_bytes((uint64_t)(uintptr_t)m->p, 0, m->bytes, cuda->stream),
                    k->err, "clearing %zu bytes", m->bytes))
        k->failed = true;
}
