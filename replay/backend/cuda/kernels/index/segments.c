/* segment_reduce: segments by offsets, or by lengths, whose sums are the ends of segments. */
#include <math.h>
#include <stdio.h>

#include "replay/backend/cuda/device/index/segments.h"
#include "replay/backend/cuda/kernels/strided.h"

static bool how_of(struct str name, uint32_t *how, double *start)
{
    static const struct {
        const char *name;
        double start;
    } rows[] = {
        [SEGMENTS_SUM] = { "sum", 0 },
        [SEGMENTS_MEAN] = { "mean", 0 },
        [SEGMENTS_PROD] = { "prod", 1 },
        [SEGMENTS_MAX] = { "max", -(double)INFINITY },
        [SEGMENTS_MIN] = { "min", (double)INFINITY },
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(name, rows[i].name)) {
            *how = i;
            *start = rows[i].start;
            return true;
        }
    return false;
}

void cuda_segment_reduce(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "data"), to = result(k, 0);
    bool lengths = has_arg(k, "lengths");
    struct kernel_tensor bounds = tensor_arg(k, lengths ? "lengths" : "offsets");
    struct segments_args a = { .outer = 1, .inner = 1, .ends = lengths };
    int64_t size[TENSOR_MAX_DIM], n[TENSOR_MAX_DIM];
    char defines[96];
    if (k->failed || !to.meta || !x.meta)
        return;
    uint32_t ndim = tensor_sizes(x, size), dim = wrapped_dim(int_arg(k, "axis", 0), ndim);
    uint32_t b = tensor_sizes(bounds, n);
    if (!bounds.meta || b == 0 || ndim == 0 || to.meta->dtype != x.meta->dtype ||
        !is_stored_real(x) || !cuda_type(x.meta->dtype) ||
        dense_kind_of(x.meta->dtype) != DENSE_REAL ||
        (bounds.meta->dtype != DTYPE_I64 && bounds.meta->dtype != DTYPE_I32) ||
        !how_of(text_arg(k, "reduce"), &a.how, &a.initial) || !cuda_is_contiguous(k, to)) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    for (uint32_t d = 0; d < ndim; d++)
        *(d < dim ? &a.outer : d == dim ? &a.n : &a.inner) *= d == dim ? 1 : size[d];
    a.n = size[dim];
    a.segments = n[b - 1] - !lengths;
    a.per_outer = b > 1 ? n[b - 1] : 0;
    a.has_initial = has_arg(k, "initial");
    a.initial = real_arg(k, "initial", a.initial);
    if (a.outer * a.inner == 0 || a.segments <= 0)
        return;
    if (lengths) {
        struct kernel_value args[] = { value_of_tensor(bounds), value_of_int(b - 1) };
        bounds = run_tensor(k, "aten.cumsum.default", args, 2);
    }
    a.from = cuda_contiguous(k, x);
    a.bounds = bounds.meta ? cuda_contiguous(k, bounds) : 0;
    a.to = cuda_address(k, to);
    a.error = cuda_error_word(k);
    snprintf(defines, sizeof defines, "#define T %s\n#define X %s\n#define ACC f64\n",
             cuda_type(x.meta->dtype), bounds.meta ? cuda_type(bounds.meta->dtype) : "i64");
    cuda_launch(
        k, cuda_function(k, "segments", "segments", defines),
        (struct cuda_grid){ cuda_blocks(k, a.outer * a.segments * a.inner, 256), 1, 1, 256, 0 }, &a,
        sizeof a);
}
